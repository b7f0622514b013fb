"""The endpoints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib.resources import files
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.cors import CORSMiddleware

import perin
from perin.errors import InputError, PerinError, UsageError
from perin.serving import udpipe
from perin.serving.guard import Guard, problem
from perin.serving.metrics import Metrics
from perin.serving.pool import FailedError, RefusedError, UnavailableError
from perin.serving.requests import ConvertBody, DrawBody, ParseBody, ScoreBody, ValidateBody, ViewBody
from perin.serving.service import BusyError, Service, Unit, language_of
from perin.serving.settings import Settings
from perin.serving.tools import MEDIA_TYPES, PICTURES, TEXT_PICTURES, check_writable, formats
from perin.text import split_sentences

Body = TypeVar("Body", bound=BaseModel)

_NDJSON = "application/x-ndjson"
_CODES = {400: "bad request", 401: "unauthorized", 404: "not found", 405: "method not allowed", 408: "too slow"}
_CODES |= {413: "too large", 415: "media type", 422: "not understood", 429: "busy", 503: "unavailable"}
_PAGE = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
_PAGE |= {"docs.html": "text/html", "docs.js": "text/javascript", "icon.svg": "image/svg+xml"}


def create_app(settings: Settings) -> FastAPI:
    """The application; its workers start and end with it."""
    metrics = Metrics()
    service = Service(settings, metrics)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.open()
        try:
            yield
        finally:
            await asyncio.to_thread(service.close)

    app = FastAPI(
        title="PERIN",
        version=perin.__version__,
        description="From text to meaning graphs: parsing, scoring, conversion, drawing.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service, app.state.metrics, app.state.settings = service, metrics, settings
    _add_probes(app, service, metrics)
    _add_parsing(app, service, settings)
    _add_tools(app, service)
    udpipe.add_routes(app, service, settings)
    _add_page(app)
    _add_error_handlers(app, metrics)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(settings.origins), allow_headers=["*"], expose_headers=["x-request-id"]
        )
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    return app


def _add_probes(app: FastAPI, service: Service, metrics: Metrics) -> None:
    @app.get("/live", tags=["state"], summary="Whether the service runs")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @app.get("/ready", tags=["state"], summary="Whether the models are loaded and somebody can parse")
    async def ready() -> JSONResponse:
        if service.ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready"}, 503, headers={"Retry-After": "2"})

    @app.get("/metrics", tags=["state"], summary="Counters for Prometheus")
    async def counters() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_parsing(app: FastAPI, service: Service, settings: Settings) -> None:
    @app.get("/v1/models", tags=["parsing"], summary="Models, frameworks, formats and limits")
    async def models() -> dict[str, Any]:
        known = service.treebanks
        return {
            "version": perin.__version__,
            "models": [
                {
                    "name": name,
                    "language": language_of(treebanks),
                    "frameworks": [treebank.rpartition("-")[0] for treebank in treebanks],
                }
                for name, treebanks in known.items()
            ],
            "default": next(iter(known)),
            "formats": formats(),
            "pictures": list(PICTURES),
            "limits": {
                "bytes": settings.max_body,
                "stream_bytes": settings.max_stream,
                "sentences": settings.max_sentences,
                "words": settings.max_words,
                "tokens_of_a_sentence": settings.longest,
                "seconds": settings.seconds,
            },
        }

    @app.post("/v1/parse", tags=["parsing"], summary="Sentences to graphs", openapi_extra=_documented(ParseBody))
    async def parse(request: Request) -> Response:
        """JSON, or plain text with a sentence a line, which is answered line by line (NDJSON), however long it is.

        The options of plain text are those of JSON, given in the address.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(service.admitted())
            if _media_type(request) == "text/plain":
                body = _options(request)
                lines = _line_units(service, body, stack.enter_context(await _spooled(request)))
                return StreamingResponse(_lines(service, lines, stack.pop_all()), media_type=_NDJSON)
            body = await _body(request, ParseBody)
            units = list(_units(service, body))
            _check_limits(settings, units)
            _note(request, sentences=len(units), model=units[0]["model"] if units else None)
            if body.stream:
                return StreamingResponse(_lines(service, units, stack.pop_all()), media_type=_NDJSON)
            found = await service.in_time(_all(service.parse(units)))
            model = service.model_for(body.model, body.language)
            head = {"model": model, "language": language_of(service.treebanks[model])}
            joined = json.dumps(head).encode()[:-1] + b',"sentences":[' + b",".join(found) + b"]}"
            return Response(joined, media_type="application/json")


def _add_tools(app: FastAPI, service: Service) -> None:
    async def used(tool: str, **arguments: Any) -> bytes:
        with service.admitted():
            return await service.use(tool, **arguments)

    @app.post("/v1/score", tags=["graphs"], summary="Scores against gold", openapi_extra=_documented(ScoreBody))
    async def score(request: Request) -> Response:
        body = await _body(request, ScoreBody)
        arguments = {"format": body.source, "metric": body.metric, "details": body.details}
        return _json(await used("score", gold=body.gold, system=body.system, **arguments))

    @app.post("/v1/convert", tags=["graphs"], summary="Another format", openapi_extra=_documented(ConvertBody))
    async def convert(request: Request) -> Response:
        body = await _body(request, ConvertBody)
        check_writable(body.to, ())
        text = await used("convert", graphs=body.graphs, format=body.source, to=body.to)
        return Response(text, media_type=MEDIA_TYPES.get(body.to, MEDIA_TYPES["text"]))

    @app.post("/v1/draw", tags=["graphs"], summary="A picture", openapi_extra=_documented(DrawBody))
    async def draw(request: Request) -> Response:
        body = await _body(request, DrawBody)
        arguments = {"format": body.source, "to": body.to, "theme": body.theme, "gold": body.gold}
        headers = {}
        if body.to in (
            "svg",
            "html",
        ):  # these carry styles and scripts of their own; none of them can reach the service
            headers["Content-Security-Policy"] = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'"
        return Response(
            await used("draw", graphs=body.graphs, **arguments), media_type=MEDIA_TYPES[body.to], headers=headers
        )

    @app.post("/v1/validate", tags=["graphs"], summary="Findings", openapi_extra=_documented(ValidateBody))
    async def validate(request: Request) -> Response:
        body = await _body(request, ValidateBody)
        return _json(await used("validate", graphs=body.graphs, format=body.source))

    @app.post("/v1/view", tags=["graphs"], summary="What the page shows", openapi_extra=_documented(ViewBody))
    async def view(request: Request) -> Response:
        body = await _body(request, ViewBody)
        arguments = {"format": body.source, "gold": body.gold, "gold_format": body.gold_source}
        return _json(await used("view", graphs=body.graphs, **arguments))


def _add_page(app: FastAPI) -> None:
    parts = {name: files("perin.serving").joinpath("page", name).read_bytes() for name in _PAGE}
    from perin.graphs.drawing.style import page_style_sheet

    parts["page.css"] = page_style_sheet().encode() + parts["page.css"]

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(parts["index.html"], media_type="text/html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(parts["docs.html"], media_type="text/html")

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        if name not in parts:
            raise HTTPException(404)
        return Response(parts[name], media_type=_PAGE[name], headers={"Cache-Control": "no-cache"})


def _add_error_handlers(app: FastAPI, metrics: Metrics) -> None:
    def told(request: Request, status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
        code = _CODES.get(status, "error")
        metrics.errors.labels(code).inc()
        return JSONResponse(problem(code, message, request.state.request_id), status, headers)

    @app.exception_handler(StarletteHTTPException)
    async def plain(request: Request, error: StarletteHTTPException) -> JSONResponse:
        headers = {"Connection": "close"} if error.status_code in (408, 413) else {}
        return told(request, error.status_code, str(error.detail), {**headers, **(error.headers or {})})

    @app.exception_handler(PerinError)
    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: Exception) -> JSONResponse:
        return told(request, 422, str(error))

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> JSONResponse:
        return told(request, 429, "too many requests at once; try again soon", {"Retry-After": str(error.seconds)})

    @app.exception_handler(UnavailableError)
    async def unavailable(request: Request, error: UnavailableError) -> JSONResponse:
        return told(request, 503, str(error), {"Retry-After": "2"})

    @app.exception_handler(FailedError)
    async def failed(request: Request, error: FailedError) -> JSONResponse:
        return told(request, 500, "something broke here; the log has it")


async def _body(request: Request, kind: type[Body]) -> Body:
    """The body of a request, which must be JSON: a page of another origin can't send that without being asked."""
    if _media_type(request) != "application/json":
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"] if not str(part).startswith("function"))
        raise UsageError(f"{where}: {first['msg']}" if where else first["msg"]) from None


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _options(request: Request) -> ParseBody:
    """The options of plain text, from the address."""
    given: dict[str, Any] = dict(request.query_params)
    if "frameworks" in given and given["frameworks"] != "all":
        given["frameworks"] = given["frameworks"].split(",")
    try:
        return ParseBody.model_validate({**given, "text": None, "stream": True})
    except ValidationError as error:
        raise UsageError(f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}") from None


async def _spooled(request: Request) -> Any:
    """A long body, in a file: many clients read no answer before they have sent everything."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        stack.pop_all()
        return file


def _units(service: Service, body: ParseBody) -> Iterator[Unit]:
    """The sentences of a request."""
    if (body.text is None) == (body.tokens is None):
        raise UsageError("give text or tokens, one of them")
    shared, language = _shared(service, body)
    if body.tokens is not None:
        for number, forms in enumerate(body.tokens, start=1):
            yield {**shared, "id": str(number), "forms": forms, "text": None}
        return
    texts = [body.text] if isinstance(body.text, str) else body.text or []
    yield from _text_units(shared, texts, language, split=body.split)


async def _all(answers: AsyncIterator[bytes]) -> list[bytes]:
    return [answer async for answer in answers]


def _text_units(shared: Unit, texts: Iterable[str], language: str, *, split: bool) -> Iterator[Unit]:
    """The sentences of texts, numbered by their texts; blank ones are none."""
    for number, text in enumerate(texts, start=1):
        if not text or text.isspace():
            continue
        if not split:
            yield {**shared, "id": str(number), "text": text}
            continue
        for part, (start, end) in enumerate(split_sentences(text, language), start=1):
            yield {**shared, "id": f"{number}.{part}", "text": text[start:end]}


def _line_units(service: Service, body: ParseBody, file: Any) -> Iterator[Unit]:
    """The sentences of plain text, read while they are parsed."""
    shared, language = _shared(service, body)
    return _text_units(shared, _decoded(file), language, split=body.split)


def _decoded(file: Any) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        try:
            yield line.decode().strip()
        except UnicodeDecodeError:
            raise InputError("is not UTF-8", line=number) from None


def _shared(service: Service, body: ParseBody) -> tuple[Unit, str]:
    """What the sentences of a request have in common, and their language."""
    model = service.model_for(body.model, body.language)
    frameworks = service.frameworks_for(model, body.frameworks)
    check_writable(body.format, frameworks)
    if body.probabilities and body.format not in ("mrp", *TEXT_PICTURES):
        raise UsageError(f"the format {body.format} can't hold probabilities; ask for mrp")
    shared = {
        "model": model,
        "frameworks": frameworks,
        "probabilities": body.probabilities,
        "format": body.format,
        "tokens": body.with_tokens,
    }
    return shared, language_of(service.treebanks[model])


def _check_limits(settings: Settings, units: list[Unit]) -> None:
    if len(units) > settings.max_sentences:
        raise HTTPException(413, f"{len(units)} sentences, more than {settings.max_sentences}; send plain text instead")
    words = sum(words_in(unit) for unit in units)
    if words > settings.max_words:
        raise HTTPException(413, f"{words} words, more than {settings.max_words}; send plain text instead")


def words_in(unit: Unit) -> int:
    """About how many words a sentence has; two characters of a script without spaces count as one."""
    if unit.get("forms") is not None:
        return len(unit["forms"])
    text: str = unit["text"] or ""
    return len(text.split()) + sum(character >= "\u2e80" for character in text) // 2


async def _lines(service: Service, units: Iterable[Unit], stack: contextlib.ExitStack) -> AsyncIterator[bytes]:
    """Answers a line each; what stops them is told in the last line."""
    with stack:
        try:
            async for answer in service.parse(units):
                yield answer + b"\n"
        except (PerinError, RefusedError, UnavailableError) as error:
            yield json.dumps({"error": str(error)}).encode() + b"\n"
        except FailedError:
            yield b'{"error": "something broke here; the log has it"}\n'


def _documented(kind: type[BaseModel]) -> dict[str, Any]:
    schema = kind.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _note(request: Request, **data: Any) -> None:
    """Put something into the request's line in the log."""
    request.scope["state"].setdefault("log", {}).update(data)
