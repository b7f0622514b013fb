"""Serve models over HTTP, with a page where people look at graphs.

http://localhost:8080/ is the page, /docs describes the interface, /process and /models are as in UDPipe's service.
On SIGINT or SIGTERM the service finishes the requests that it has and stops.
With --mcp it speaks the Model Context Protocol on standard input and output instead, for language models.
Needs optional packages: pip install 'perin[serve]', with --mcp 'perin[mcp]'.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from perin.errors import MissingDependencyError, UsageError

KEYS = "PERIN_KEYS"
"""Environment variable with bearer keys, separated by white space."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin serve``."""
    add = parser.add_argument
    add("--mcp", action="store_true", help="serve four tools to a language model on standard input and output instead")
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=int, default=8080, help="port to listen on (default: 8080; 0: any that is free)")
    add("--models", nargs="+", metavar="M", help="models: folders, names in the box, or organisation/name on the hub")
    add("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes that parse (default: cores)")
    add(
        "--keys",
        metavar="FILE",
        help=f"file of bearer keys, one per line (also: ${KEYS}); without keys it is open to all",
    )
    add(
        "--origin", dest="origins", action="append", default=[], metavar="URL", help="allow pages of this origin (CORS)"
    )
    add("--max-body", type=int, default=2**20, metavar="BYTES", help="longest body (default: 1 MiB)")
    add("--max-stream", type=int, default=64 * 2**20, metavar="BYTES", help="longest plain text (default: 64 MiB)")
    add("--max-sentences", type=int, default=500, metavar="N", help="sentences of a request (default: 500)")
    add("--max-words", type=int, default=10_000, metavar="N", help="words of a request (default: 10000)")
    add("--longest", type=int, default=500, metavar="N", help="tokens of the longest sentence (default: 500)")
    add("--max-requests", type=int, default=128, metavar="N", help="requests at once; more get 429 (default: 128)")
    add("--seconds", type=float, default=60.0, metavar="S", help="time limit of a request (default: 60)")
    add("--drain", type=float, default=30.0, metavar="S", help="time to finish requests when stopped (default: 30)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    if arguments.mcp:
        return _serve_tools()
    try:
        from perin.serving.server import serve
    except ImportError as error:
        raise MissingDependencyError(error.name or "fastapi", "perin serve", "serve") from None
    from perin.model import bundled
    from perin.serving.service import Settings

    options = {
        name: value for name, value in vars(arguments).items() if name not in ("keys", "mcp", "models", "origins")
    }
    if any(value <= 0 for name, value in options.items() if name not in ("host", "port", "drain")):
        raise UsageError("limits and the number of workers must be positive")
    settings = Settings(
        models=tuple(dict.fromkeys(arguments.models or sorted(bundled(), key="eng".__ne__))),
        keys=_keys(arguments.keys),
        origins=tuple(arguments.origins),
        **options,
    )
    serve(settings)
    return 0


def _serve_tools() -> int:
    try:
        from perin.serving.model_context import create_server
    except ImportError as error:
        raise MissingDependencyError(error.name or "mcp", "perin serve --mcp", "mcp") from None
    create_server().run()
    return 0


def _keys(path: str | None) -> frozenset[str]:
    given = os.environ.get(KEYS, "")
    if path is not None:
        try:
            given += "\n" + Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"can't read the keys in {path}: {error}") from None
        if not given.split():
            raise UsageError(f"there are no keys in {path}; without --keys the service is open to all")
    return frozenset(given.split())
