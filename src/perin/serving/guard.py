"""The outermost layer: every request passes it on its way in, every answer on its way out.

In: a request id, the key, limits on the size and pace of the body.  Out: security headers, a line in the log, and no
internal detail when something broke.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
import uuid
from datetime import datetime, timezone
from typing import Any

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perin.serving.service import Metrics, Settings

log = logging.getLogger("perin.serving")

PUBLIC = frozenset(("/", "/live", "/ready", "/docs", "/openapi.json"))
"""Paths that need no key, besides the parts of the page: they reveal nothing and cost nothing."""
PAGE_PARTS = "/page/"

MOST_HEADERS = 200
"""Of one request; browsers and proxies send a few dozen."""
_SWALLOWED, _SWALLOWING = 16 * 2**20, 2.0
"""Bytes and seconds."""
_ID = re.compile(rb"[\w.-]{1,64}", re.ASCII)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app, self.settings, self.metrics = app, settings, metrics
        self.keys = [key.encode() for key in settings.keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; start and stop events pass, WebSockets are refused."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        id = given.decode() if _ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = id
        start, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name.lower() for name, _ in message.get("headers", ())}
                message["headers"] = [
                    *message.get("headers", ()),
                    *(pair for pair in _HEADERS if pair[0] not in own),
                    (b"x-request-id", id.encode()),
                    *([] if b"cache-control" in own else [(b"cache-control", b"no-store")]),
                ]
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await _swallow(receive)
                await _say(answer, *refusal, id)
            else:
                await self.app(scope, self._paced(scope, headers, receive), answer)
        except Exception:  # the outermost handler: it logs and answers 500
            log.exception("a request hit a bug", extra={"data": {"request": id}})
            if status:
                raise  # the answer has begun: cut the connection, so that the client does not take it for whole
            await _say(answer, 500, "internal", "something broke here; the log has it under the request's id", id)
        finally:
            self._record(scope, status, time.monotonic() - start, id)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
        path = scope["path"]
        if self.keys and path not in PUBLIC and not path.startswith(PAGE_PARTS) and scope["method"] != "OPTIONS":
            scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
            fits = [hmac.compare_digest(key.strip(), known) for known in self.keys]
            if scheme.lower() != b"bearer" or not any(fits):
                return 401, "unauthorized", "give a key: Authorization: Bearer KEY"
        if len(scope["headers"]) > MOST_HEADERS:
            return 431, "too large", f"the request has more than {MOST_HEADERS} headers"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._limit(headers):
            return 413, "too large", _too_long(self._limit(headers))
        return None

    def _limit(self, headers: dict[bytes, bytes]) -> int:
        streamed = headers.get(b"content-type", b"").startswith(b"text/plain")
        return self.settings.max_stream if streamed else self.settings.max_body

    def _paced(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """The body as it arrives; an error if it gets too large or stalls for too long."""
        limit, seen, whole = self._limit(headers), 0, False
        deadline = time.monotonic() + self.settings.seconds

        async def paced() -> Message:
            nonlocal seen, whole
            if whole:
                return await receive()
            patience = min(self.settings.patience, deadline - time.monotonic())
            try:
                message = await asyncio.wait_for(receive(), max(patience, 0.001))
            except asyncio.TimeoutError:
                raise HTTPException(408, "the body came too slowly") from None
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if seen > limit:
                    await _swallow(receive)
                    raise HTTPException(413, _too_long(limit))
            return message

        return paced

    def _record(self, scope: Scope, status: int, seconds: float, id: str) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.requests.labels(route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        data: dict[str, Any] = {
            "event": "request",
            "request": id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "seconds": round(seconds, 4),
            **scope["state"].get("log", {}),
        }
        log.info("request", extra={"data": data})


def _too_long(limit: int) -> str:
    return f"the body is longer than {limit} bytes, which is the limit"


async def _swallow(receive: Receive) -> None:
    """Read the rest of an unwanted body for a while: a client that is cut off while sending never sees the answer."""
    left, end = _SWALLOWED, time.monotonic() + _SWALLOWING
    while left > 0 and (patience := end - time.monotonic()) > 0:
        try:
            message = await asyncio.wait_for(receive(), patience)
        except asyncio.TimeoutError:
            return
        left -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def problem(code: str, message: str, id: str) -> dict[str, Any]:
    """The JSON of every error."""
    return {"error": {"code": code, "message": message, "request": id}}


async def _say(send: Send, status: int, code: str, message: str, id: str) -> None:
    body = json.dumps(problem(code, message, id)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (413, 431):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class JsonLines(logging.Formatter):
    """Writes each log record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; the fields of ``extra["data"]`` are part of the object."""
        moment = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        data = {"time": moment, "level": record.levelname.lower(), **getattr(record, "data", {})}
        message = record.getMessage()
        if message != data.get("event"):
            data["message"] = message
        if record.exc_info:
            data["exception"] = self.formatException(record.exc_info)
        return json.dumps(data, ensure_ascii=False)
