"""What ``/openapi.json`` says about the endpoints: bodies, answers by media type, and every error that may come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

NDJSON = "application/x-ndjson"
TEXT = "text/plain"
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
