"""The languages that PERIN knows, and which language a text is in."""

from __future__ import annotations

from collections import Counter
from functools import cache

import regex

from perin.errors import UsageError

LANGUAGES = {"ces": "cs", "deu": "de", "eng": "en", "zho": "zh"}
"""Code to the two-letter code that most libraries use."""

SCRIPTS = {"ces": ("Latin",), "deu": ("Latin",), "eng": ("Latin",), "zho": ("Han", "Bopomofo", "Latin")}
"""Unicode's names of the scripts that texts of a language are written in."""


def word_set(words: str) -> frozenset[str]:
    """The words of a string, for tables that are easier to read without quotes."""
    return frozenset(words.split())


@cache
def checked(language: str) -> str:
    """The three-letter code of a known language, which may be given by its two-letter code.

    >>> checked("eng"), checked("de")
    ('eng', 'deu')
    """
    for long, short in LANGUAGES.items():
        if language in (long, short):
            return long
    raise UsageError(f"unknown language {language!r}; known are: {', '.join(LANGUAGES)}")


# Which language a text is in, where that is plain to see: by its script, else by its most frequent words.  More
# languages are known here than can be parsed, so that text in another language is not taken for one of those.


_FUNCTION_WORDS = {
    "ces": word_set(
        """
        a ale ani aby až bez by byl byla bylo byly být co do ho i jak jako je jeho jejich jen ještě již jsem jsme jsou k
        kde když která které který má mezi může na nebo není než o od po pod podle pro proto při s se si tak také to
        tomu ten ve v však z za ze že
        """
    ),
    "dan": word_set(
        """
        af at blev de den der det du efter en er et for fra har hvor ikke jeg kan men og også på som til var vi
        """
    ),
    "deu": word_set(
        """
        aber als am an auch auf aus bei bin bis das dass dem den der des die durch ein eine einem einen einer eines er
        es für haben hat hatte ich ihr im in ist ja kann kein mit nach nicht noch nur oder sein sich sie sind so über um
        und uns vom von vor war waren was wenn werden wie will wir wird wurde zu zum zur
        """
    ),
    "eng": word_set(
        """
        about after all an and are as at be been but by can could did do does for from had has have he her his how i if
        in into is it its me my no not of on or our out she so some that the their them then there they this to up was
        we were what when which who will with would you your
        """
    ),
    "fra": word_set(
        """
        au aux avec ce cette dans de des du elle en est et été il ils je la le les leur mais ne nous on ont ou où par
        pas plus pour qu que qui sa se ses son sont sur un une vous à
        """
    ),
    "ita": word_set(
        """
        alla anche che chi con da dal dei del della delle di e è era gli ha ho i il in io la le lo ma mi nel nella non
        per più si sono su suo sua un una uno
        """
    ),
    "nld": word_set(
        """
        aan als bij dat de deze die dit door een en er had heeft het hij hun ik in is je kan maar met naar niet nog of
        om ook op te tot uit van voor was wat we werd ze zich zijn zo
        """
    ),
    "pol": word_set(
        """
        ale ani być był była było były co czy dla do i ich ja jak jest jego już lub ma może na nie o od oraz po przez
        przy się są tak to tylko w we z za ze że który która które
        """
    ),
    "por": word_set(
        """
        a ao as com como da das de do dos e ela ele em era foi mais mas na nas no não o os ou para pela por que se
        seu sua são um uma é
        """
    ),
    "slk": word_set(
        """
        a aj ako ale alebo bol bola bolo boli by čo do ho ich je jeho keď ktorá ktoré ktorý len na nie o od po pre
        pri sa si som sú tak to v vo z za zo že
        """
    ),
    "spa": word_set(
        """
        al como con de del el ella en era es esta este fue ha la las le lo los más me mi muy no nos o para pero por que
        se ser si sin sobre su sus también un una y ya
        """
    ),
    "swe": word_set(
        """
        att av de den det du efter en ett för från har han hon i inte jag kan med men och om på som till var vi är
        """
    ),
}
_AT_HOME = {
    letter: code
    for code, letters in {"ces": "ěřů", "deu": "ßäöü", "pol": "łąęńśźż", "slk": "ľĺŕô"}.items()
    for letter in letters
}
"""Letters to the one of the languages that has them; a word with such a letter counts like a frequent word."""
_USED_BY = {
    word: tuple(code for code, words in _FUNCTION_WORDS.items() if word in words)
    for word in frozenset().union(*_FUNCTION_WORDS.values())
}
"""Frequent words to the languages that use them."""
_SCRIPTS = {
    "jpn": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "kor": regex.compile(r"\p{Hangul}"),
    "zho": regex.compile(r"\p{Han}"),
    "rus": regex.compile(r"\p{Cyrillic}"),
    "ell": regex.compile(r"\p{Greek}"),
    "ara": regex.compile(r"\p{Arabic}"),
    "heb": regex.compile(r"\p{Hebrew}"),
    "hin": regex.compile(r"\p{Devanagari}"),
}
"""By language, of those that are written so the one with the most readers."""
_LETTER = regex.compile(r"\p{L}")
_WORD = regex.compile(r"\p{L}+")

_LEAST = 2
"""Frequent words that a text must have before anything is said of it."""
_CLEAR = 2
"""How many times as many frequent words the language must have as any other."""


def identify(text: str) -> str | None:
    """The ISO 639-3 code of the language of a text, None if that is not clear.

    >>> identify("Der Hund, den wir gestern sahen, schläft.")
    'deu'
    >>> identify("OK")
    """
    if not text.isascii():
        letters = len(_LETTER.findall(text))
        for language, script in _SCRIPTS.items():
            share = 0.1 if language == "jpn" else 0.5
            if letters and len(script.findall(text)) > share * letters:
                return language
    hits: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        hits.update({*_USED_BY.get(word, ()), *(_AT_HOME[letter] for letter in word if letter in _AT_HOME)})
    (best, most), (_, next_most) = [*hits.most_common(2), ("", 0), ("", 0)][:2]
    return best if most >= max(_LEAST, _CLEAR * next_most) else None
