"""Tokens and lemmas from CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from perin.contract.sentence import Sentence
from perin.errors import InputError
from perin.text.alignment import Place, locate, placed
from perin.text.lemmas import lemmatize

_RANGE = re.compile(r"(\d+):(\d+)", re.ASCII)
_TEXT = re.compile(r"# *text *= ?(.*)")
_COLUMNS = 10
_UNUSED = {name: lambda columns, index: None for name in ("xpos", "feats", "head", "deps")}


def read(lines: Iterable[str], source: str, language: str | None) -> Iterator[Sentence]:
    """Read sentences; ``sent_id`` becomes the id, ``text`` the text (without it the forms, spaced by ``SpaceAfter``).

    A token's range is ``TokenRange=from:to`` of its last column where that is given, otherwise it is found in the text.
    Words of a multiword token that spell it one after the other (``do`` ``n't``) are tokens of their own; other
    multiword tokens (``zum``) are one token with the lemma of their first word.  Empty nodes are left out.
    A lemma ``_`` is replaced by the own lemmatizer's, for which a language is needed; without one by the form.
    Comments that stand alone are skipped.
    """
    for number, block in _blocks(lines):
        if not all(row.startswith("#") and not _TEXT.fullmatch(row) for row in block):
            yield _sentence(block, source, number, language)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The paragraphs of a file, each with the number of its first line."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def _sentence(block: list[str], source: str, line: int, language: str | None) -> Sentence:
    import conllu

    for number, row in enumerate(block, start=line):
        if not row.startswith("#") and (row.count("\t") != _COLUMNS - 1 or "  " in row):
            message = f"no CoNLL-U: a token needs {_COLUMNS} columns separated by tabs, without double spaces inside"
            raise InputError(message, source=source, line=number)
    try:
        [parsed] = conllu.parse("\n".join(block), field_parsers=_UNUSED)
    except conllu.exceptions.ParseException as error:
        raise InputError(f"no CoNLL-U: {error}", source=source, line=line) from None
    given = next((match[1] for row in block if (match := _TEXT.fullmatch(row))), None)
    rows = _surface(parsed)
    text = given if given is not None else _spaced(rows)
    place = Place(source, line, parsed.metadata.get("sent_id"))
    forms = [row["form"] for row in rows]
    tokens = placed(forms, [_lemma(row, language) for row in rows], _ranges(rows, text, place), text, place)
    return Sentence(text, tokens, place.id, language)


def _surface(rows: Iterable[Any]) -> list[Any]:
    """The rows that spell the text: words, or a multiword token where its words do not spell it."""
    words = {row["id"]: row for row in rows if isinstance(row["id"], int)}
    surface: list[Any] = []
    covered: set[int] = set()
    for row in rows:
        id = row["id"]
        if isinstance(id, int):
            if id not in covered:
                surface.append(row)
        elif id[1] == "-":
            inside = [words[number] for number in range(id[0], id[2] + 1) if number in words]
            covered.update(range(id[0], id[2] + 1))
            if inside and "".join(word["form"] for word in inside) == row["form"]:
                surface.extend(inside)
            else:
                surface.append(row | {"lemma": inside[0]["lemma"] if inside else row["form"]})
    return surface


def _ranges(rows: list[Any], text: str, place: Place) -> list[tuple[int, int]]:
    given = [_RANGE.fullmatch((row.get("misc") or {}).get("TokenRange") or "") for row in rows]
    if all(given):
        return [(int(match[1]), int(match[2])) for match in given if match]
    return locate([row["form"] for row in rows], text, place)


def _spaced(rows: list[Any]) -> str:
    """The text that forms and ``SpaceAfter=No`` stand for."""
    parts = []
    for row in rows:
        parts += [row["form"], "" if (row.get("misc") or {}).get("SpaceAfter") == "No" else " "]
    return "".join(parts).rstrip(" ")


def _lemma(row: Any, language: str | None) -> str:
    lemma: str = row["lemma"]
    return lemma if lemma != "_" or row["form"] == "_" else lemmatize(row["form"], language)
