"""The tools for language models, through a client of the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the tools for language models need the package mcp")

from mcp import Client

from perin.commands.main import main
from perin.errors import ModelError
from perin.graphs import Graph, Node, loads
from perin.serving.model_context import create_server

GOLD = '{"id": "1", "framework": "amr", "input": "It rains.", "tops": [0], "nodes": [{"id": 0, "label": "rain-01"}]}'


class Parser:
    """A graph of one node a sentence."""

    def parse(
        self, text: str, framework: str | None, language: str, *, split: bool, probabilities: bool
    ) -> list[Graph]:
        sentences = [part.strip() for part in text.split(".") if part.strip()]
        nodes = (Node(0, "rain-01"),)
        return [
            Graph(str(number), framework or "amr", language, input=sentence, tops=(0,), nodes=nodes)
            for number, sentence in enumerate(sentences, start=1)
        ]


def load(framework: str | None, language: str) -> Parser:
    if framework == "ptg":
        raise ModelError("no model in the box is for ptg")
    return Parser()


def call(tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether the answer is an error, and its text."""

    async def ask() -> Any:
        async with Client(create_server(load)) as client:
            return await client.call_tool(tool, arguments)

    answer = asyncio.run(ask())
    return bool(answer.is_error), answer.content[0].text


def test_four_tools():
    async def ask() -> Any:
        async with Client(create_server(load)) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(ask())}
    assert set(tools) == {"parse", "score", "draw", "validate"}
    assert tools["parse"].input_schema["required"] == ["text"]
    assert all(tool.description for tool in tools.values())


def test_parse():
    error, text = call("parse", text="It rains. It rains again.", format="mrp")
    assert not error
    assert [(graph.input, graph.language) for graph in loads(text)] == [("It rains", "eng"), ("It rains again", "eng")]
    assert "rain-01" in call("parse", text="It rains.")[1]
    assert loads(call("parse", text="Es regnet, und wir sind nicht nass.", format="mrp")[1])[0].language == "deu"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": "a", "framework": "PTG"}, "no model in the box is for ptg"),
        ({"text": "a", "format": "docx"}, "unknown format 'docx'"),
        ({"text": "a. " * 51}, "51 sentences, more than 50"),
        ({"text": "a" * 10_001}, "at most 10000"),
    ],
)
def test_errors_are_told(arguments, message):
    error, text = call("parse", **arguments)
    assert error
    assert message in text
    assert "Traceback" not in text


def test_score_draw_and_validate():
    assert json.loads(call("score", gold=GOLD, system=GOLD)[1])["f1"] == 1.0
    assert "rain-01" in call("draw", graphs=GOLD)[1]
    assert call("draw", graphs=GOLD, to="svg")[1].startswith("<svg")
    assert json.loads(call("validate", graphs=GOLD)[1])["valid"] is True
    error, text = call("validate", graphs="nonsense")
    assert error
    assert "line 1" in text


def test_a_missing_package_is_named(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "perin.serving.model_context", raising=False)
    for name in ("mcp", "mcp.server"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["serve", "--mcp"]) == 2
    assert "pip install 'perin[mcp]'" in capsys.readouterr().err
