"""Running text to sentences, and sentences to tokens with lemmas; the same at training and at parsing time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, TypeAlias

import regex

from perin.contract import Sentence, Token
from perin.errors import UsageError
from perin.text import chinese, english, german
from perin.text.dictionary import dictionary_lemma, guessed_lemma
from perin.text.languages import checked, word_set
from perin.text.scanner import Piece, chunks, pieces, runs

Splitter: TypeAlias = Callable[[str], tuple[Piece, ...]]

_SPLITTERS: dict[str | None, Splitter] = {"deu": german.pieces, "eng": english.pieces, "zho": chinese.pieces}
_LONGEST_WORD = 40
"""Longer runs of letters are not words of a language with spaces between words, and stay whole."""
_REMEMBERED = 40
"""Longer chunks are rare; remembering them would cost memory and win no time."""


class _Range(NamedTuple):
    start: int
    end: int
    lemma: str | None


def tokenize(text: str, language: str | None, id: str | None = None) -> Sentence:
    """Tokens and lemmas of a text, which is taken as one sentence.  Without a language, lemmas are the forms.

    The tokens cover all but white space and invisible characters; each is a piece of the text as it stands there.

    >>> [(token.form, token.lemma) for token in tokenize("Cats can't swim.", "eng").tokens]
    [('Cats', 'cat'), ('ca', 'can'), ("n't", 'not'), ('swim', 'swim'), ('.', '.')]
    """
    language = checked(language) if language is not None else None
    splitter = _SPLITTERS.get(language, pieces)
    if language == "zho" and chinese.segmented(text):
        splitter = chinese.word_pieces
    ranges = _ranges(text, splitter)
    forms = [text[start:end] for start, end, _ in ranges]
    lemmas = lemmatize_all(forms, language)
    tokens = (
        Token(form, given or lemma, start, end)
        for form, lemma, (start, end, given) in zip(forms, lemmas, ranges, strict=True)
    )
    return Sentence(text, tuple(tokens), id, language)


def _ranges(text: str, splitter: Splitter) -> list[_Range]:
    found = []
    for kind, start, end in chunks(text):
        if kind == "markup":
            found.append(_Range(start, end, None))
            continue
        inside = _remembered if end - start <= _REMEMBERED else _inside
        found += [
            _Range(start + left, start + right, lemma) for left, right, lemma in inside(text[start:end], splitter)
        ]
    return found


def _inside(chunk: str, splitter: Splitter) -> list[_Range]:
    """The ranges of the tokens of a chunk."""
    found = []
    for kind, start, end in runs(chunk):
        if kind != "word" or (end - start > _LONGEST_WORD and splitter is not chinese.pieces):
            found.append(_Range(start, end, None))
            continue
        left = start
        for right, lemma in splitter(chunk[start:end]):
            found.append(_Range(left, start + right, lemma))
            left = start + right
    return found


_remembered = lru_cache(maxsize=1 << 14)(_inside)


# Lemmas: what dictionaries say about a form, and for English what its neighbours say about that.


_LONGEST = 60
"""Longer forms are not words; they are their own lemmas."""


def lemmatize(form: str, language: str | None) -> str:
    """The lemma of a form, without regard to its neighbours.

    >>> [lemmatize(form, "eng") for form in ("was", "children", "went")]
    ['be', 'child', 'go']
    """
    if language is None or language == "zho" or len(form) > _LONGEST or not any(map(str.isalpha, form)):
        return form
    return _lemma(form.replace("’", "'"), checked(language))


def lemmatize_all(forms: Sequence[str], language: str | None) -> list[str]:
    """The lemmas of the tokens of a sentence.

    >>> lemmatize_all(["She", "left", "her", "left", "shoe"], "eng")
    ['she', 'leave', 'her', 'left', 'shoe']
    """
    lemmas = [lemmatize(form, language) for form in forms]
    return english.in_context(forms, lemmas) if language == "eng" else lemmas


@lru_cache(maxsize=1 << 14)
def _lemma(form: str, language: str) -> str:
    irregular = _irregular(language)
    lower = form if len(form) <= 2 and form.isupper() else form.lower()  # US is not us
    found = irregular.get(form) or irregular.get(lower)
    if found:
        return found
    lemma = dictionary_lemma(form, language) or _guess(form, language)
    if language == "eng":
        return english.checked_lemma(form, lemma)
    return german.checked_lemma(form, lemma) if language == "deu" else lemma


def _guess(form: str, language: str) -> str:
    """The lemma of an unknown form; in Czech, of the form without its negation if that is known."""
    positive = dictionary_lemma(form[2:], language) if language == "ces" and form[:2].lower() == "ne" else None
    return positive or guessed_lemma(form, language)


@cache
def _irregular(language: str) -> dict[str, str]:
    """Forms and lemmas of the table of irregular forms."""
    rows = (files("perin.text") / "irregular.tsv").read_text("utf-8").splitlines()
    fields = [row.split("\t") for row in rows if not row.startswith("#")]
    return {form: lemma for code, form, lemma in fields if code == language}


# Running text to sentences, with their ranges in the document.


_ABBREVIATIONS = {
    "ces": word_set(
        """
        apod atd b c cca č čís čl dr hl ing kap kpt mgr mj ml mudr např nám obr odst ph písm pol popř prof resp sb srov
        st str sv tel tj tř tzn tzv ul úř věst viz
        """
    ),
    "deu": word_set(
        """
        abb abs allg anm art bd bes betr bzgl bzw ca chr dr ebd einschl etc evtl fa ff fr geb ggf hr hrsg inkl jh kap
        lt max min mio mr mrd mrs nr prof rd sog st str tel usw vgl
        """
    ),
    "eng": word_set(
        """
        adm al approx apr apt assn aug ave blvd brig bros ca capt cf ch co col corp dec dept dr ed eds eq esp est feb
        fig figs ft gen gov hon inc jan jr jul jun lt ltd maj mar messrs mr mrs ms mt no nos nov oct op pp ph prof pvt
        rep rev sec sen sep sept sgt sr st tel univ vol vols vs
        """
    ),
    "zho": frozenset[str](),
}
_STARTERS = word_set(
    "a after although and as at but for he however i if in it on she so the there these they this we when"
)
"""English words that often begin a sentence after an acronym with dots."""
_ORDINAL_DOTS = frozenset(("ces", "deu"))
"""Languages in which a number with a dot is an ordinal."""

_PARAGRAPH = regex.compile(r"\n[^\S\n]*+\n")
_END = regex.compile(
    r"(?P<east>(?<![!?…])[!?…]*+[。！？][。！？!?…]*+[\"'”’)\]}」』）】]*+)"
    r"|(?P<stop>(?<![.!?…])[.!?…]++)(?P<closing>[\"'”’“»«)\]}]*+)(?=\s)"
)
"""What may end a sentence; outside East Asian scripts only before white space."""
_NEXT = regex.compile(r"\s++[\"'“„‘»«(\[]*+(\w++|\S)")
_WORD_BEFORE = regex.compile(r"[\p{L}\p{N}.]*+$")
_LONGEST_CHECKED = 30


class Range(NamedTuple):
    """Where a sentence stands in its document: the offset of its first character and the one after its last."""

    start: int
    end: int


def split_sentences(text: str, language: str) -> list[Range]:
    """The sentences of running text; blank lines end one, single line ends do not.

    >>> text = "Dr. Who left. Why? It rained."
    >>> [text[start:end] for start, end in split_sentences(text, "eng")]
    ['Dr. Who left.', 'Why?', 'It rained.']
    """
    language = checked(language)
    found = []
    for start, end in _paragraphs(text):
        for match in _END.finditer(text, start, end):
            if match["east"] or _is_end(text, match, language):
                found.append(_stripped(text, start, match.end()))
                start = match.end()
        found.append(_stripped(text, start, end))
    return [range for range in found if range.start < range.end]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _PARAGRAPH.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _stripped(text: str, start: int, end: int) -> Range:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Range(start, end)


def _is_end(text: str, match: regex.Match[str], language: str) -> bool:
    """Whether a dot, question mark, exclamation mark or a row of them ends the sentence."""
    following = _NEXT.match(text, match.end())
    after = following[1] if following else ""
    if after[:1].islower():
        return False
    if match["stop"] != "." or match["closing"]:
        return True
    word = _WORD_BEFORE.findall(text, max(0, match.start() - _LONGEST_CHECKED), match.start())[0]
    if "." in word:
        return language == "eng" and word.isupper() and after.lower() in _STARTERS
    if word.isdecimal():
        return not (language in _ORDINAL_DOTS and len(word) <= 2)
    if len(word) == 1 and word.isalpha():
        return word == "I" or (word.islower() and language == "eng" and not after[:1].isdecimal())
    return word.lower() not in _ABBREVIATIONS[language]


# Documents: running text or one sentence per line, with the place of each sentence in the document.


LAYOUTS = ("lines", "paragraphs")
"""``lines``: one sentence per line; ``paragraphs``: running text, in which blank lines end a sentence."""


class Passage(NamedTuple):
    """A sentence of a document and where it starts there: token ranges plus ``start`` index the document."""

    start: int
    sentence: Sentence


def passages(
    text: str, language: str, layout: str = "paragraphs", tokenizer: Callable[[str], Sentence] | None = None
) -> Iterator[Passage]:
    """The sentences of a document, tokenized; what is white space only is left out.

    >>> [(start, sentence.text) for start, sentence in passages("Go. Stop.", "eng")]
    [(0, 'Go.'), (4, 'Stop.')]
    """
    if layout not in LAYOUTS:
        raise UsageError(f"unknown layout {layout!r}; known are: {', '.join(LAYOUTS)}")
    ranges = split_sentences(text, language) if layout == "paragraphs" else _lines(text)
    for start, end in ranges:
        sentence = text[start:end]
        if not sentence.isspace() and sentence:
            yield Passage(start, tokenizer(sentence) if tokenizer else tokenize(sentence, language))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line.removesuffix("\r"))
        start += len(line) + 1
