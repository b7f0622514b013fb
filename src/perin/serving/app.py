"""The endpoints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from importlib.resources import files
from typing import Any, TypeAlias, TypeVar

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.cors import CORSMiddleware

import perin
from perin.errors import PerinError, UsageError
from perin.serving import udpipe
from perin.serving.guard import Guard, problem
from perin.serving.pool import FailedError, RefusedError, UnavailableError
from perin.serving.requests import (
    MOST_ALTERNATIVES,
    NDJSON,
    READING,
    TEXT,
    WORK,
    ConvertBody,
    DrawBody,
    ParseBody,
    ScoreBody,
    ValidateBody,
    ViewBody,
    described,
    options_in_address,
    units_of,
    units_of_lines,
)
from perin.serving.service import BusyError, Metrics, Service, Settings, Unit, by_language
from perin.serving.tools import MEDIA_TYPES, PICTURES, TEXT_PICTURES, check_text_format, formats
from perin.text.languages import identify

Body = TypeVar("Body", bound=BaseModel)
Route: TypeAlias = Callable[[Callable[[Request], Awaitable[Response]]], Callable[[Request], Awaitable[Response]]]
"""What makes an endpoint of a function."""

_SAMPLE = 2000
"""Characters by which the language of a text is guessed."""
_BRANCH = re.compile(r"(function|list\[|str$)")
"""Parts of the place of a fault that name an alternative of a type, not a field."""
_PICTURE_POLICY = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'"
_CODES = {400: "bad request", 401: "unauthorized", 404: "not found", 405: "method not allowed", 408: "too slow"}
_CODES |= {413: "too large", 415: "media type", 422: "not understood", 429: "busy", 503: "unavailable"}
_PAGE = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
_PAGE |= {"docs.html": "text/html", "docs.js": "text/javascript", "icon.svg": "image/svg+xml"}


class _Plain(APIRoute):
    """A route whose function takes a request and returns the answer, without the framework's way between them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        found: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return found


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
    app.router.route_class = _Plain
    app.state.service, app.state.metrics, app.state.settings = service, metrics, settings
    _add_parsing(app, service, settings)  # first, since routes are tried in turn
    _add_probes(app, service, metrics)
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
    async def live(request: Request) -> JSONResponse:
        return JSONResponse({"status": "live"})

    described_ready = described(responses={"503": {"description": "not ready yet"}})

    @app.get("/ready", tags=["state"], summary="Whether the models are loaded", openapi_extra=described_ready)
    async def ready(request: Request) -> JSONResponse:
        if service.ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready"}, 503, headers={"Retry-After": "2"})

    @app.get(
        "/metrics",
        tags=["state"],
        summary="Counters for Prometheus",
        response_class=Response,
        openapi_extra=described(answers=[TEXT], errors=READING),
    )
    async def counters(request: Request) -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_parsing(app: FastAPI, service: Service, settings: Settings) -> None:
    described_parse = described(
        ParseBody,
        ["application/json", NDJSON],
        WORK,
        parameters=options_in_address(ParseBody, ("text", "tokens", "stream")),
    )
    described_parse["requestBody"]["content"][TEXT] = {"schema": {"type": "string"}}

    @app.post(
        "/v1/parse",
        tags=["parsing"],
        summary="Sentences to graphs",
        response_class=Response,
        openapi_extra=described_parse,
    )
    async def parse(request: Request) -> Response:
        """JSON, or plain text with one sentence per line, which is answered line by line (NDJSON), however long it is.

        The options of plain text are those of JSON, given in the address.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(service.admitted())
            if _media_type(request) == TEXT:
                body = _options(request)
                lines = units_of_lines(service, body, stack.enter_context(await _spooled(request)))
                return StreamingResponse(_lines(service, lines, stack.pop_all()), media_type=NDJSON)
            body = await _body(request, ParseBody)
            choice, units = units_of(service, body)
            _note(request, sentences=len(units), model=choice.model)
            if body.stream:
                return StreamingResponse(_lines(service, units, stack.pop_all()), media_type=NDJSON)
            found = await service.parse(units)
            head = {"model": choice.model, "language": choice.language, **_warning(body, choice.language)}
            joined = json.dumps(head).encode()[:-1] + b',"sentences":[' + b",".join(found) + b"]}"
            return Response(joined, media_type="application/json")

    @app.get(
        "/v1/models",
        tags=["parsing"],
        summary="Models, frameworks, formats and limits",
        openapi_extra=described(errors=READING),
    )
    async def models(request: Request) -> JSONResponse:
        known = service.treebanks
        content = {
            "version": perin.__version__,
            "models": [
                {"name": name, "language": language, "frameworks": frameworks}
                for name, treebanks in known.items()
                for language, frameworks in by_language(treebanks).items()
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
                "alternatives": MOST_ALTERNATIVES,
                "seconds": settings.seconds,
            },
        }
        return JSONResponse(content)


def _add_tools(app: FastAPI, service: Service) -> None:
    async def used(tool: str, **arguments: Any) -> bytes:
        with service.admitted():
            return await service.use(tool, **arguments)

    def endpoint(
        name: str, summary: str, body: type[BaseModel], answers: Iterable[str] = ("application/json",)
    ) -> Route:
        extra = described(body, answers, WORK)
        return app.post(f"/v1/{name}", tags=["graphs"], summary=summary, response_class=Response, openapi_extra=extra)

    @endpoint("score", "Scores against gold", ScoreBody)
    async def score(request: Request) -> Response:
        body = await _body(request, ScoreBody)
        arguments = {"format": body.source, "metric": body.metric, "details": body.details}
        return _json(await used("score", gold=body.gold, system=body.system, **arguments))

    @endpoint("convert", "Another format", ConvertBody, (MEDIA_TYPES[name] for name in TEXT_PICTURES))
    async def convert(request: Request) -> Response:
        body = await _body(request, ConvertBody)
        check_text_format(body.to)
        text = await used("convert", graphs=body.graphs, format=body.source, to=body.to)
        return Response(text, media_type=MEDIA_TYPES.get(body.to, MEDIA_TYPES["text"]))

    @endpoint("draw", "A picture", DrawBody, MEDIA_TYPES.values())
    async def draw(request: Request) -> Response:
        body = await _body(request, DrawBody)
        arguments = {"format": body.source, "to": body.to, "theme": body.theme, "gold": body.gold}
        picture = await used("draw", graphs=body.graphs, **arguments)
        # SVG and HTML carry styles and scripts of their own; none of them can reach the service.
        headers = {"Content-Security-Policy": _PICTURE_POLICY} if body.to in ("svg", "html") else {}
        return Response(picture, media_type=MEDIA_TYPES[body.to], headers=headers)

    @endpoint("validate", "Findings", ValidateBody)
    async def validate(request: Request) -> Response:
        body = await _body(request, ValidateBody)
        return _json(await used("validate", graphs=body.graphs, format=body.source))

    @endpoint("view", "What the page shows", ViewBody)
    async def view(request: Request) -> Response:
        body = await _body(request, ViewBody)
        arguments = {"format": body.source, "gold": body.gold, "gold_format": body.gold_source}
        return _json(await used("view", graphs=body.graphs, **arguments))


def _add_page(app: FastAPI) -> None:
    parts = {name: files("perin.serving").joinpath("page", name).read_bytes() for name in _PAGE}
    from perin.graphs.drawing.svg import page_style_sheet

    parts["page.css"] = page_style_sheet().encode() + parts["page.css"]

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return Response(parts["index.html"], media_type="text/html")

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return Response(parts["docs.html"], media_type="text/html")

    @app.get("/page/{name}", include_in_schema=False)
    async def part(request: Request) -> Response:
        name = request.path_params["name"]
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
        if error.status_code == 405:  # the framework names the methods of the first route only
            headers["Allow"] = ", ".join(sorted(_methods(app, request.url.path)))
            return told(request, 405, str(error.detail), headers)
        if error.status_code == 404:
            return told(request, 404, "there is nothing here; /docs lists the endpoints")
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


def _methods(app: FastAPI, path: str) -> set[str]:
    return {method for route in app.routes if getattr(route, "path", None) == path for method in route.methods}  # type: ignore[attr-defined]


async def _body(request: Request, kind: type[Body]) -> Body:
    """The body of a request.  Only JSON is taken, which pages of other origins can't send without permission."""
    if _media_type(request) != "application/json":
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    if request.scope["query_string"]:
        raise UsageError("options of a JSON request belong in its body, not in the address")
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise UsageError(_fault(error, kind)) from None


def _fault(error: ValidationError, kind: type[BaseModel]) -> str:
    """What is wrong with a body, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"] if not _BRANCH.match(str(part)))
    if first["type"] == "extra_forbidden":
        known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
        return f"unknown field {where!r}; known are: {known}"
    return f"{where}: {first['msg']}" if where else first["msg"]


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _options(request: Request) -> ParseBody:
    """The options of plain text, from the address."""
    try:
        return ParseBody.model_validate({**request.query_params, "text": None, "stream": True})
    except ValidationError as error:
        raise UsageError(_fault(error, ParseBody)) from None


async def _spooled(request: Request) -> Any:
    """A long body in a temporary file: many clients read no answer before they have sent everything."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        stack.pop_all()
        return file


def _warning(body: ParseBody, language: str) -> dict[str, str]:
    """A word to the client if the text is clearly in another language."""
    text = body.text if isinstance(body.text, str) else " ".join(body.text or [])
    found = identify(text[:_SAMPLE])
    if found in (None, language):
        return {}
    return {"warning": f"the text looks like {found}, but the model is for {language}"}


async def _lines(service: Service, units: Iterable[Unit], stack: contextlib.ExitStack) -> AsyncIterator[bytes]:
    """One answer per line; if something stops them, the last line says what."""
    with stack:
        try:
            async for answer in service.stream(units):
                yield answer + b"\n"
        except (PerinError, RefusedError, UnavailableError) as error:
            yield json.dumps({"error": str(error)}).encode() + b"\n"
        except FailedError:
            yield b'{"error": "something broke here; the log has it"}\n'


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _note(request: Request, **data: Any) -> None:
    """Add fields to the request's line in the log."""
    request.scope["state"].setdefault("log", {}).update(data)
