"""The interface of UDPipe's REST service, so that its clients work by changing the address.

``/models`` lists the models; ``/process`` takes ``data`` and options as a form, however it is encoded.  Columns of
CoNLL-U that a meaning parser does not fill are ``_``; with ``parser``, the graphs of a sentence are in comments,
``# mrp_eds = {…}``.  ``output`` may also name a graph format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from perin.errors import PerinError, UsageError
from perin.graphs.codecs import FORMATS
from perin.serving.pool import RefusedError
from perin.serving.requests import READING, TEXT, WORK, check_limits, described
from perin.serving.service import Choice, Service, Settings, Unit, by_language
from perin.serving.tools import check_text_format
from perin.text import split_sentences

INPUTS = ("generic_tokenizer", "conllu", "horizontal", "vertical")
_LANGUAGES = {"english": "eng", "german": "deu", "czech": "ces", "chinese": "zho"}
OUTPUTS = ("conllu", "horizontal", "vertical", "plaintext")
FIELDS = {
    "data": "the text",
    "model": "name of a model, or of a language such as english (default: the first model)",
    "tokenizer": "split the text into sentences and tokens; with the option presegmented, only into tokens",
    "parser": "with graphs",
    "input": f"format of the data: one of {', '.join(INPUTS)}",
    "output": f"format of the result: one of {', '.join(OUTPUTS)}, or of graphs",
    "frameworks": "frameworks with commas between them (default: the model's first)",
}
"""The fields of a form that are looked at."""


def add_routes(app: FastAPI, service: Service, settings: Settings) -> None:
    """Add ``/models`` and ``/process``."""

    @app.get(
        "/models",
        tags=["UDPipe"],
        summary="Models, as UDPipe's clients expect them",
        openapi_extra=described(errors=READING),
    )
    async def models(request: Request) -> JSONResponse:
        names = [
            name if len(languages) == 1 else f"{name}-{language}"
            for name, languages in ((name, by_language(treebanks)) for name, treebanks in service.treebanks.items())
            for language in languages
        ]
        stages = ["tokenizer", "tagger", "parser"]
        return JSONResponse({"models": dict.fromkeys(names, stages), "default_model": names[0]})

    route: dict[str, Any] = {
        "tags": ["UDPipe"],
        "summary": "Parse, as UDPipe's clients ask for it",
        "response_class": Response,
    }

    @app.get("/process", **route, openapi_extra=_described(inside=False))
    @app.post("/process", **route, openapi_extra=_described(inside=True))
    async def process(request: Request) -> Response:
        try:
            with service.admitted():
                form = await _form(request)
                return JSONResponse(await _processed(service, settings, form))
        except (PerinError, RefusedError) as error:
            return PlainTextResponse(f"{error}\n", 400)


def _described(*, inside: bool) -> dict[str, Any]:
    """What /openapi.json says about ``/process``, with the fields in the body or in the address."""
    told: dict[str, Any] = {"responses": {"400": {"description": "the form can't be used", "content": {TEXT: {}}}}}
    if inside:
        fields = {name: {"type": "string", "description": text} for name, text in FIELDS.items()}
        schema = {"type": "object", "required": ["data"], "properties": fields}
        kinds = ("application/x-www-form-urlencoded", "multipart/form-data")
        told["requestBody"] = {"content": {kind: {"schema": schema} for kind in kinds}}
    else:
        told["parameters"] = [
            {"name": name, "in": "query", "required": name == "data", "description": text, "schema": {"type": "string"}}
            for name, text in FIELDS.items()
        ]
    errors = [status for status in WORK if status not in (415, 422)]
    return described(errors=errors, **told)


async def _processed(service: Service, settings: Settings, form: dict[str, str]) -> dict[str, Any]:
    if "data" not in form:
        raise UsageError("the parameter 'data' is missing")
    frameworks = [name for name in form.get("frameworks", "").split(",") if name]
    choice = _chosen(service, form.get("model"), frameworks)
    output = form.get("output", "conllu").partition("=")[0] or "conllu"
    parsing = "parser" in form or output in FORMATS
    if output in FORMATS:
        check_text_format(output, choice.frameworks)
    elif output not in OUTPUTS:
        raise UsageError(f"unknown output {output!r}; known are: {', '.join((*OUTPUTS, *FORMATS))}")
    shared: Unit = {**choice._asdict(), "probabilities": False, "alternatives": 0, "tokens": True}
    shared["format"] = output if output in FORMATS else "mrp"
    items = enumerate(_items(form, choice.language), start=1)
    units = [{**shared, **item, "id": str(number)} for number, item in items]
    check_limits(settings, units)
    found = [json.loads(answer) for answer in await service.parse(units)]
    errors = [f"{each['id']}: {each['error']}" for each in found if "error" in each]
    if errors:
        raise UsageError(f"sentence {errors[0]}")
    texts = [_written(sentence, output, parsing) for sentence in found]
    return {"model": choice.model, "acknowledgements": [], "result": "".join(texts)}


def _chosen(service: Service, name: str | None, frameworks: list[str]) -> Choice:
    """A model of ours, or one for the language that the name begins with, as in ``english-ewt-ud-2.12``."""
    if not name or name in service.treebanks:
        return service.choose(name or None, None, frameworks)
    first, _, last = name.rpartition("-")
    if first in service.treebanks:
        return service.choose(first, last, frameworks)
    spoken = name.partition("-")[0].lower()
    return service.choose(None, _LANGUAGES.get(spoken, spoken), frameworks)


def _items(form: dict[str, str], language: str) -> Iterator[Unit]:
    """The sentences of the data."""
    data, kind = form["data"], form.get("input", "").partition("=")[0]
    lines = data.splitlines()
    if "tokenizer" in form or kind == "generic_tokenizer" or not kind:
        if "presegmented" in form.get("tokenizer", ""):
            yield from ({"text": line.strip()} for line in lines if line.strip())
            return
        yield from ({"text": data[start:end]} for start, end in split_sentences(data, language))
    elif kind == "horizontal":
        yield from ({"forms": line.split(), "text": None} for line in lines if line.strip())
    elif kind == "vertical":
        yield from ({"forms": [line.split("\t")[0] for line in block], "text": None} for block in _blocks(lines))
    elif kind == "conllu":
        yield from ({"conllu": block} for block in _blocks(lines))
    else:
        raise UsageError(f"unknown input {kind!r}; known are: {', '.join(INPUTS)}")


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _written(sentence: dict[str, Any], output: str, parsing: bool) -> str:
    if output == "mrp":
        return "".join(json.dumps(graph, ensure_ascii=False) + "\n" for graph in sentence["graphs"])
    if output in FORMATS:
        return "".join(graph["text"] for graph in sentence["graphs"])
    forms = [token["form"] for token in sentence["tokens"]]
    if output == "horizontal":
        return " ".join(form.replace(" ", "\u00a0") for form in forms) + "\n"
    if output == "vertical":
        return "".join(f"{form}\n" for form in forms) + "\n"
    if output == "plaintext":
        return " ".join(sentence["text"].split()) + "\n"
    return _conllu(sentence, parsing)


def _conllu(sentence: dict[str, Any], parsing: bool) -> str:
    text = sentence["text"]
    rows = [f"# sent_id = {sentence['id']}", f"# text = {' '.join(text.split())}"]
    if parsing:
        graphs = sentence["graphs"]
        rows += [f"# mrp_{graph['framework']} = {json.dumps(graph, ensure_ascii=False)}" for graph in graphs]
    tokens = sentence["tokens"]
    for number, token in enumerate(tokens, start=1):
        touching = number < len(tokens) and tokens[number]["start"] == token["end"]
        misc = ["SpaceAfter=No"] * touching + [f"TokenRange={token['start']}:{token['end']}"]
        form, lemma = (" ".join(token[name].split()) for name in ("form", "lemma"))
        rows.append("\t".join([str(number), form, lemma, *["_"] * 6, "|".join(misc)]))
    return "\n".join(rows) + "\n\n"


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, from the address and from the body."""
    fields = dict(parse_qsl(request.url.query, keep_blank_values=True))
    body = await request.body()
    kind = request.headers.get("content-type", "")
    try:
        if kind.startswith("multipart/form-data"):
            fields.update(_multipart(kind, body))
        elif body:
            fields.update(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise UsageError("the form can't be read; send it as multipart/form-data or URL-encoded UTF-8") from None
    return fields


def _multipart(kind: str, body: bytes) -> Iterator[tuple[str, str]]:
    head = f"Content-Type: {kind}\r\nMIME-Version: 1.0\r\n\r\n".encode("latin-1", "replace")
    message: Message = BytesParser().parsebytes(head + body)
    for part in message.get_payload() if message.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        data = part.get_payload(decode=True)  # type: ignore[union-attr]
        if isinstance(name, str) and isinstance(data, bytes):
            yield name, data.decode()
