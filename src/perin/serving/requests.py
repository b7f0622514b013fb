"""The bodies of requests, the sentences in them, and what ``/openapi.json`` says about bodies, answers and errors.

Unknown fields are errors: a misspelt one would be ignored otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, BinaryIO, Literal, TypeAlias

from fastapi import HTTPException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from perin.errors import InputError, UsageError
from perin.scoring.metrics import METRICS
from perin.serving.service import Choice, Service, Settings, Unit
from perin.serving.tools import TEXT_PICTURES, check_text_format, formats, only_framework
from perin.text import split_sentences

MOST_ALTERNATIVES = 10
NDJSON = "application/x-ndjson"
TEXT = "text/plain"
_LINE_ENDS = re.compile(r"[\r\n]")
_MEANINGS = {
    400: "the form can't be used",
    401: "the service has keys, and the request has none of them",
    408: "the body came too slowly",
    413: "too long",
    415: "the body is no JSON",
    422: "the request, or a graph in it, can't be used",
    429: "too many requests at once",
    500: "a mistake of the service; its log has more",
    503: "not ready, or a worker died of this request",
}
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "request"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "request")},
        }
    },
}
READING = (401, 500)
"""Errors of endpoints that only tell something."""
WORK = (401, 408, 413, 415, 422, 429, 500, 503)
"""Errors of endpoints that take a body and use a worker."""


def _as_file(value: Any) -> Any:
    """Graphs as the text of a file: an MRP object, or a list of them, becomes lines of MRP."""
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        if not all(isinstance(each, (str, dict)) for each in value):
            raise ValueError("a list of graphs has MRP objects or lines of a file in it")
        return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in value)
    return value


Graphs: TypeAlias = Annotated[
    str,
    BeforeValidator(_as_file, json_schema_input_type=str | dict[str, Any] | list[dict[str, Any] | str]),
    Field(description="graphs: the text of a file, or one MRP object, or a list of them"),
]


_READ: Any = {"enum": [each["name"] for each in formats() if each["read"]]}
_WRITTEN: Any = {"enum": [*(each["name"] for each in formats() if each["write"]), *TEXT_PICTURES]}
_ONE_INPUT: Any = {
    "oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in ("text", "tokens")]
}


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ParseBody(_Body):
    """What to parse, and to what."""

    model_config = ConfigDict(json_schema_extra=_ONE_INPUT)

    text: str | list[str] | None = Field(None, description="a sentence, or several")
    tokens: list[list[str]] | None = Field(None, description="sentences as lists of tokens, instead of text")
    split: bool = Field(False, description="each text is running text: split it into sentences")
    model: str | None = Field(None, description="name of a model (default: the one of the language, else the first)")
    language: str | None = Field(None, description="language of the text, such as eng")
    frameworks: list[str] | str | None = Field(
        None, description="frameworks: a list, 'eds,amr' or 'all' (default: the format's, else the model's first)"
    )
    format: str = Field(
        "mrp", description="format of the graphs: one of /v1/models, or svg or text", json_schema_extra=_WRITTEN
    )
    probabilities: bool = Field(False, description="with the probability of each node, edge, label and top (MRP only)")
    alternatives: int = Field(
        0, ge=0, le=MOST_ALTERNATIVES, description="number of next best labels of each node and edge (MRP only)"
    )
    with_tokens: bool = Field(False, description="with the tokens of each sentence")
    stream: bool = Field(False, description="answer with one JSON object per line (NDJSON), as soon as it is ready")


class ConvertBody(_Body):
    """Graphs and the format that they should have."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs", json_schema_extra=_READ)
    to: str = Field(description="format to write, or svg or text", json_schema_extra=_WRITTEN)


class DrawBody(_Body):
    """Graphs to draw; with ``gold``, what is missing and what is surplus in them."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs", json_schema_extra=_READ)
    to: Literal["svg", "html", "text", "png", "pdf"] = "svg"
    theme: Literal["auto", "light", "dark"] = "auto"
    gold: Graphs | None = None


class ValidateBody(_Body):
    """Graphs to check for well-formedness."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs", json_schema_extra=_READ)


class ScoreBody(_Body):
    """Graphs of a system and the gold graphs to score them against."""

    gold: Graphs
    system: Graphs
    source: str = Field("mrp", alias="from", description="format of both", json_schema_extra=_READ)
    metric: str = Field("mrp", description="how graphs are compared", json_schema_extra={"enum": list(METRICS)})
    details: bool = Field(False, description="also each graph")


class ViewBody(_Body):
    """Graphs to look at, and gold graphs to compare them with where the sentence is the same."""

    graphs: Graphs
    source: str = Field("mrp", alias="from", description="format of the graphs", json_schema_extra=_READ)
    gold: Graphs | None = None
    gold_source: str = Field("mrp", alias="gold_from", description="format of the gold graphs", json_schema_extra=_READ)


def units_of(service: Service, body: ParseBody) -> tuple[Choice, list[Unit]]:
    """What a request is parsed by and to, and its sentences."""
    if (body.text is None) == (body.tokens is None):
        raise UsageError("give text or tokens, one of them")
    choice, shared = _shared(service, body)
    if body.tokens is not None:
        units = [{**shared, "id": str(n), "forms": forms, "text": None} for n, forms in enumerate(body.tokens, start=1)]
    else:
        texts = [body.text] if isinstance(body.text, str) else body.text or []
        units = list(_split(shared, texts, split=body.split))
    check_limits(service.settings, units)
    return choice, units


def units_of_lines(service: Service, body: ParseBody, file: BinaryIO) -> Iterator[Unit]:
    """The sentences of plain text, read while they are parsed."""
    return _split(_shared(service, body)[1], _decoded(file), split=body.split)


def _shared(service: Service, body: ParseBody) -> tuple[Choice, Unit]:
    """What the sentences of a request have in common."""
    choice = service.choose(body.model, body.language, body.frameworks or only_framework(body.format))
    check_text_format(body.format, choice.frameworks)
    if (body.probabilities or body.alternatives) and body.format not in ("mrp", *TEXT_PICTURES):
        raise UsageError(f"the format {body.format} can't hold probabilities; ask for mrp")
    options = {"probabilities": body.probabilities, "alternatives": body.alternatives}
    return choice, {**choice._asdict(), **options, "format": body.format, "tokens": body.with_tokens}


def _split(shared: Unit, texts: Iterable[str], *, split: bool) -> Iterator[Unit]:
    """The sentences of texts, numbered by their texts; blank ones are none."""
    for number, text in enumerate(texts, start=1):
        if not text or text.isspace():
            continue
        if not split:
            yield {**shared, "id": str(number), "text": text}
            continue
        for part, (start, end) in enumerate(split_sentences(text, shared["language"]), start=1):
            yield {**shared, "id": f"{number}.{part}", "text": _LINE_ENDS.sub(" ", text[start:end])}


def _decoded(file: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        try:
            yield line.decode().strip()
        except UnicodeDecodeError:
            raise InputError("is not UTF-8", line=number) from None


def check_limits(settings: Settings, units: list[Unit]) -> None:
    """Raise 413 for a request that is too long to be answered in one piece."""
    if len(units) > settings.max_sentences:
        raise HTTPException(413, f"{len(units)} sentences, more than {settings.max_sentences}; send plain text instead")
    words = sum(_words_in(unit) for unit in units)
    if words > settings.max_words:
        raise HTTPException(413, f"{words} words, more than {settings.max_words}; send plain text instead")


def _words_in(unit: Unit) -> int:
    """About how many words a sentence has; two characters of a script without spaces count as one."""
    if unit.get("forms") is not None:
        return len(unit["forms"])
    text: str = unit.get("text") or ""
    spaceless = 0 if text.isascii() else sum(character >= "\u2e80" for character in text)
    return len(text.split()) + spaceless // 2


def described(
    body: type[BaseModel] | None = None,
    answers: Iterable[str] = ("application/json",),
    errors: Iterable[int] = (),
    **more: Any,
) -> dict[str, Any]:
    """What to pass to a route: the body, the media types of answers, and the errors; ``more`` goes in as it is."""
    extra: dict[str, Any] = {"responses": {"200": {"content": {kind.partition(";")[0]: {} for kind in answers}}}}
    for status in errors:
        content = {"application/json": {"schema": _PROBLEM}}
        extra["responses"][str(status)] = {"description": _MEANINGS[status], "content": content}
    if body is not None:
        schema = body.model_json_schema()
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    for name, value in more.items():
        extra[name] = {**extra.get(name, {}), **value} if isinstance(value, dict) else value
    return extra


def options_in_address(body: type[BaseModel], left_out: Iterable[str]) -> list[dict[str, Any]]:
    """The fields of a body as parameters of the address; lists are words with commas between them."""
    fields = body.model_json_schema()["properties"]
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": field["description"],
            "schema": {key: value for key, value in field.items() if key in ("type", "minimum", "maximum", "default")}
            or {"type": "string"},
        }
        for name, field in fields.items()
        if name not in left_out
    ]
