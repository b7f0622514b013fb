"""What the text room was measured against: other libraries for the same things, where they are installed."""

from __future__ import annotations

import gzip
import importlib.util
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import simplemma

from perin.text import split_sentences, tokenize
from perin.text.dictionary import english_readings
from perin.text.tokenizer import lemmatize_all

LANGUAGES = {"eng": "en", "deu": "de", "ces": "cs"}
Lemmatizer = Callable[[Sequence[str], Sequence[str]], list[str]]
"""From forms and gold parts of speech to lemmas."""


def imported(module: str) -> Any:
    """The module, or None where it is not installed; what it warns about is its authors' business."""
    if importlib.util.find_spec(module) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def segmenters(gold: Counter[str]) -> dict[str, Callable[[str], list[str]]]:
    jieba = imported("jieba")
    taught = jieba.Tokenizer()
    taught.initialize()
    for word, count in gold.items():
        taught.add_word(word, max(count, taught.FREQ.get(word, 0)))
    return {
        "characters": list,
        "jieba": lambda text: list(jieba.cut(text)),
        "jieba without HMM": lambda text: list(jieba.cut(text, HMM=False)),
        "jieba without HMM, with the words of train": lambda text: list(taught.cut(text, HMM=False)),
        "perin": lambda text: [token.form for token in tokenize(text, "zho").tokens],
    }


def lemmatizers(language: str, *, has_parts: bool) -> dict[str, Lemmatizer]:
    short = LANGUAGES[language]
    found: dict[str, Lemmatizer] = {
        "the form": lambda forms, parts: list(forms),
        "simplemma": lambda forms, parts: [simplemma.lemmatize(form, lang=short) for form in forms],
        "simplemma, greedy": lambda forms, parts: [
            simplemma.lemmatize(form, lang=short, greedy=True) for form in forms
        ],
    }
    lookups = importlib.util.find_spec("spacy_lookups_data")
    if lookups is not None and lookups.origin is not None:
        with gzip.open(Path(lookups.origin).parent / "data" / f"{short}_lemma_lookup.json.gz", "rt") as stream:
            table: dict[str, str] = json.load(stream)
        found["spaCy's lookup table"] = lambda forms, parts: [table.get(f, table.get(f.lower(), f)) for f in forms]
    if language == "eng" and has_parts:
        found["lemminflect with gold parts of speech"] = lambda forms, parts: list(map(by_part, forms, parts))
    found["perin"] = lambda forms, parts: lemmatize_all(forms, language)
    return found


def by_part(form: str, part: str) -> str:
    readings = english_readings(form.lower())
    return readings.get({"PROPN": "noun", "AUX": "aux"}.get(part, part.lower()), (form,))[0]


def number_reader(language: str) -> tuple[str, Callable[[str], str | None] | None]:
    """The name of a library that reads number words, and its reader."""
    if language == "eng":
        text_to_num = imported("text_to_num")
        return "text2num", text_to_num and _reader(lambda words: text_to_num.text2num(words, "en"))
    cn2an = imported("cn2an")
    return "cn2an", cn2an and _reader(lambda words: cn2an.cn2an("".join(words.split()), "smart"))


def _reader(read: Callable[[str], object]) -> Callable[[str], str | None]:
    def read_or_none(words: str) -> str | None:
        try:
            return str(read(words))
        except ValueError:
            return None

    return read_or_none


def splitters(text: str, language: str) -> dict[str, set[tuple[int, int]]]:
    found = {"perin": {(start, end) for start, end in split_sentences(text, language)}}
    if language != "zho":
        found["simplemma"] = located(simplemma.split_sentences(text, lang=LANGUAGES[language]), text)
    pysbd = imported("pysbd") if language != "ces" else None
    if pysbd:
        segmenter = pysbd.Segmenter(language={"zho": "zh"}.get(language) or LANGUAGES[language], clean=False)
        found["pysbd"] = located(segmenter.segment(text), text)
    return found


def located(parts: Iterable[str], text: str) -> set[tuple[int, int]]:
    found, start = set(), 0
    for part in map(str.strip, parts):
        start = text.find(part, start)
        found.add((start, start + len(part)))
        start += len(part)
    return found
