"""The dictionaries: forms and lemmas of the packages simplemma and lemminflect, words of the package jieba."""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from perin.errors import MissingDependencyError
from perin.text.languages import LANGUAGES


@lru_cache(maxsize=1 << 17)
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


@lru_cache(maxsize=1 << 17)
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


def word_forms(language: str) -> list[str]:
    """The forms in the dictionary of a language, with a capital as at the beginning of a sentence, too."""
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
