"""Four tools for language models, by the Model Context Protocol over standard input and output.

``perin serve --mcp`` runs it.  In the settings of a client that is one command: ``{"command": "perin", "args":
["serve", "--mcp"]}``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

import perin
from perin.errors import PerinError
from perin.model import default_model
from perin.serving import tools
from perin.text.languages import LANGUAGES, identify

SENTENCES, CHARACTERS = 50, 10_000
"""What one call may ask for; more belongs into a file."""

Graphs = Annotated[str, Field(description="graphs, as the text of a file")]
Format = Annotated[str, Field(description="format of the graphs: mrp, amr, eds, ucca, umr, sbn, …")]
Load = Callable[[str | None, str], Any]


def _load(framework: str | None, language: str) -> perin.Parser:
    return _loaded(default_model(framework, language))


@cache
def _loaded(model: str) -> perin.Parser:
    return perin.load(model)


def create_server(load: Load = _load) -> MCPServer[Any]:
    """The server with its tools; ``load``: a parser for a framework (None: any) and a language."""
    server: MCPServer[Any] = MCPServer("perin", version=perin.__version__, instructions=_INSTRUCTIONS)

    @server.tool(description=f"Parse text to meaning graphs, at most {SENTENCES} sentences.")
    def parse(
        text: Annotated[str, Field(description="running text", max_length=CHARACTERS)],
        framework: Annotated[str | None, Field(description="amr, drg, eds, ptg, ucca or umr")] = None,
        language: Annotated[str | None, Field(description="ces, deu, eng or zho (default: what it looks like)")] = None,
        format: Annotated[str, Field(description="text (a drawing), mrp, or a format such as amr or eds")] = "text",
    ) -> str:
        spoken = language or identify(text)
        spoken = spoken if language or spoken in LANGUAGES else "eng"
        with _told():
            parser = load(framework.lower() if framework else None, str(spoken))
            graphs = parser.parse(text, framework, spoken, split=True, probabilities=False)
            if len(graphs) > SENTENCES:
                raise ToolError(f"{len(graphs)} sentences, more than {SENTENCES}; give fewer")
            return tools.text_of(graphs, format)

    @server.tool(description="Score graphs against gold graphs of the same sentences: precision, recall, F1.")
    def score(gold: Graphs, system: Graphs, format: Format = "mrp", metric: str = "mrp") -> str:
        with _told():
            return tools.score(gold, system, format, metric, details=False).decode()

    @server.tool(description="Draw graphs as text or SVG, or what differs from gold graphs.")
    def draw(
        graphs: Graphs, format: Format = "mrp", to: Literal["text", "svg"] = "text", gold: Graphs | None = None
    ) -> str:
        with _told():
            return tools.draw(graphs, format, to, "auto", gold).decode()

    @server.tool(description="Check graphs: are they well-formed, and do they obey the rules of their framework?")
    def validate(graphs: Graphs, format: Format = "mrp") -> str:
        with _told():
            return tools.validate(graphs, format).decode()

    return server


_INSTRUCTIONS = "Meaning graphs of sentences: AMR, DRG, EDS, PTG, UCCA and UMR. Parse text; draw, check, score graphs."


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Errors of ours become the answer of a tool; everything else is a mistake."""
    try:
        yield
    except PerinError as error:
        raise ToolError(str(error)) from None
