"""The dictionaries of the packages simplemma, lemminflect and jieba, and which words are content words by them."""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from perin.contract import Sentence, Token
from perin.errors import MissingDependencyError
from perin.text.languages import LANGUAGES, word_set


@lru_cache(maxsize=1 << 14)
def dictionary_lemma(form: str, language: str) -> str | None:
    """The lemma that the dictionary of the language has for a form, or None for a form that is not in it.

    A form that is there in lower case only, or with a capital only, is found in both spellings.
    """
    import simplemma

    if not form or not simplemma.is_known(form, lang=LANGUAGES[language]):
        return None
    return simplemma.lemmatize(form, lang=LANGUAGES[language])


def guessed_lemma(form: str, language: str) -> str:
    """The lemma by the package's rules for unknown words; often the form."""
    import simplemma

    return simplemma.lemmatize(form, lang=LANGUAGES[language])


@lru_cache(maxsize=1 << 14)
def english_readings(form: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a lower-cased English form by part of speech: adj, adv, aux, noun, verb; empty if it is unknown."""
    rows = (row.split(",") for row in _english_rows().get(form, "").split())
    return {part: tuple(lemmas.split("/")) for part, lemmas in rows}


@cache
def _english_rows() -> dict[str, str]:
    """English forms, each with parts of speech and lemmas as the file writes them, divided by spaces.

    The file is read here because the package lemminflect itself would import spaCy wherever that is installed.
    """
    path = _folder("lemminflect", "English lemmas") / "resources" / "lemma_lu.csv.gz"
    rows: dict[str, str] = {}
    for row in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
        form, _, reading = row.partition(",")
        rows[form] = f"{rows[form]} {reading}" if form in rows else reading
    return rows


@lru_cache(maxsize=1 << 14)
def is_word(text: str, language: str) -> bool:
    """Whether a dictionary or the list of function words has a word, in any case; numbers are words.

    >>> is_word("constrict", "eng"), is_word("constricte", "eng")
    (True, False)
    """
    low = text.lower()
    if language == "eng" and len(low) == 1 and low.isalpha():
        return low in "aio"  # the dictionary and the list have letters and clitics besides
    if low in _FUNCTION_WORDS[language] or any(character.isdigit() for character in text):
        return True
    return bool(english_readings(low)) if language == "eng" else dictionary_lemma(text, language) is not None


def word_forms(language: str) -> list[str]:
    """The forms in the dictionary of a language, each also with a capital, as at the beginning of a sentence."""
    if language == "zho":
        return list(chinese_words()[0])
    from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

    known = DefaultDictionaryFactory().get_dictionary(LANGUAGES[language])
    return list(dict.fromkeys(each for form in known for each in (form, form[:1].upper() + form[1:])))


@cache
def chinese_words() -> tuple[dict[str, str], int]:
    """Chinese words, each with its frequency and tag as the file writes them, and the sum of the frequencies.

    The file is read here because the package jieba itself would write a copy of it to the folder for temporary files.
    """
    words: dict[str, str] = {}
    total = 0
    with (_folder("jieba", "Chinese text") / "dict.txt").open(encoding="utf-8") as rows:
        for row in rows:
            word, _, entry = row.partition(" ")
            words[word] = entry
            total += int(entry.partition(" ")[0])
    return words, total


def _folder(package: str, purpose: str) -> Path:
    """Where an installed package is, without importing it."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise MissingDependencyError(package, purpose)
    return Path(found.origin).parent


# Content words, without a tagger: words of the dictionaries' open classes, and whatever is no known function word.


_OPEN_TAGS = ("n", "v", "a", "m", "t", "s", "i", "l", "j")
"""First letters of the tags that jieba gives to nouns and names, verbs, adjectives, numbers, times, places, idioms."""

_FUNCTION_WORDS = {
    "eng": word_set(
        "a about above after again against all also although am an and another any anybody anyone anything are "
        "aren't as at away back be because been before behind being below between both but by can can't cannot "
        "could dare did didn't do does doesn't doing don't done down during each either else enough even ever "
        "every everybody everyone everything few for from had has hasn't have haven't having he her here hers "
        "herself him himself his how however i if in into is isn't it its itself just least less let many may me "
        "might mine more most much must my myself near need neither never no nobody none nor not nothing now of "
        "off often on once only onto or other others otherwise ought our ours ourselves out over own per perhaps "
        "quite rather really same shall she should since so some somebody someone something still such than that "
        "the their theirs them themselves then there these they this those though through thus till to together "
        "too toward towards under unless until up upon us very was wasn't we well were weren't what when where "
        "whether which while who whom whose why will with within without won't would yes yet you your yours "
        "yourself yourselves ' 's n't 'm 're 've 'll 'd s t "
    ),
    "deu": word_set(
        "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm "
        "andern ans auch auf aufs aus außer außerdem bei beim beinahe bereits bevor bin bis bist bloß da dabei "
        "dadurch dafür dagegen daher dahin damals damit danach daneben dann daran darauf daraus darin darüber "
        "darum darunter das dass dasselbe davon davor dazu dein deine deinem deinen deiner deines dem demselben "
        "den denen denn dennoch denselben der deren derselbe derselben des deshalb desselben dessen desto dich "
        "die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch durchs eben ehe ein "
        "eine einem einen einer eines einige einigem einigen einiger einiges einmal endlich entlang entweder er "
        "erst es etwa etwas euch euer eure eurem euren eurer eures fast für fürs ganz gar gegen gegenüber genug "
        "gerade gern habe haben habt hast hat hatte hatten hattest hattet her hier hin hinter hätte hätten ich "
        "ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins irgend ist ja je jede jedem jeden "
        "jeder jedes jedoch jemand jene jenem jenen jener jenes jetzt kann kannst kaum kein keine keinem keinen "
        "keiner keines konnte konnten könnte könnten können könnt lassen mal man manche manchem manchen mancher "
        "manches mehr mein meine meinem meinen meiner meines mich mir mit möchte möchten mochte muss musste "
        "mussten muß mußte mußten müssen müsste müßte nach nachdem neben nein nicht nichts nie niemals niemand "
        "noch nun nur ob oben oder oft ohne schon sehr sei seid seien sein seine seinem seinen seiner seines seit "
        "seitdem selbst sich sie sind so sobald sogar solang solche solchem solchen solcher solches soll sollen "
        "sollte sollten sondern sonst soweit sowie sowohl trotz trotzdem über übers um ums und uns unser unsere "
        "unserem unseren unserer unseres unten unter vielleicht vom von vor während wann war waren warst wart "
        "warum was wegen weil weiter welche welchem welchen welcher welches wem wen wenig wenn wer werde werden "
        "weshalb wessen wie wieder will wir wird wirst wo wobei woher wohin wohl wollen wollte wollten worden "
        "wurde wurden würde würden zu zum zur zwar zwischen geworden gewesen bzw "
    ),
    "ces": word_set(
        "a aby ač ačkoli ale anebo ani aniž ano asi až ať bez během bude budeme budete budeš budou budu by byl "
        "byla byli bylo byly bych bychom bys byste být což co coby či čí do i já jak jakmile jako jaká jaké jaký "
        "jakož je jeho jej její jejich jemu jen jenom jenž jestli jestliže ještě jež ji jí jich jim jím jimi jsem "
        "jsi jsme jsou jste již k kam každá každé každý kde kdo kdy když ke kolem kolik která které kterého "
        "kterém kterému kterou který kterých kterým kteří kvůli li má mají mě mezi mimo mít mne mně mnou moc moci "
        "moje můj mu my na nad nade nám námi nás naše naší náš ne nebo neboť nechť než něco nějaká nějaké nějaký "
        "někdo ni nic ní nich nikdo nim ním nimi není nýbrž o od ode on ona oni ono ony pak po pod podle pokud "
        "pouze pro proč proto protože před přede přes přece při s sám se sebe si sice skrz snad sobě své svého "
        "svém svému svou svůj svých svým ta tady tak také takže tam tato ten tento tě tebe ti tím to tobě toho "
        "tohle tom tomu toto tou tu tuto tvoje tvůj ty tyto té této těch těm těmi u už v vám vámi vás váš vaše ve "
        "však všechen všechna všichni vy z za zase zda zdali ze že žádná žádné žádný "
    ),
    "zho": word_set(
        "的 了 着 是 有 在 不 没 没有 会 能 可以 要 想 把 被 让 叫 给 到 来 去 上 下 里 中 说 "
        "这 那 个 一 一个 得 地 过 就"
    ),
}
"""Also auxiliaries, adverbs of degree and pronouns: what graphs of some frameworks have no node for."""


def content_words(sentence: Sentence) -> list[Token]:
    """The nouns, verbs, adjectives, numbers and names of a sentence, as far as dictionaries and lists tell them.

    English and Chinese dictionaries know parts of speech; in the other languages it is every word that is not in the
    list of function words.

    >>> from perin.text import tokenize
    >>> [word.form for word in content_words(tokenize("He persuaded her to leave in 2 very long letters.", "eng"))]
    ['persuaded', 'leave', '2', 'long', 'letters']
    """
    language = sentence.language or "eng"
    return [token for token in sentence.tokens if _is_content(token.form, language)]


def _is_content(form: str, language: str) -> bool:
    low = form.lower()
    if not any(character.isalnum() for character in form) or low in _FUNCTION_WORDS[language]:
        return False
    if any(character.isdigit() for character in form):
        return True
    if language == "eng":
        readings = english_readings(low)
        return not readings or any(part in readings for part in ("noun", "verb", "adj"))
    if language == "zho":
        entry = chinese_words()[0].get(form)
        return entry is None or entry.split()[-1].startswith(_OPEN_TAGS)
    return len(form) > 1
