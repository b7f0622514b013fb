"""A parser without a network, for worker processes of tests: a node a token, each the parent of the next.

Some words do harm: ``die`` ends the process (``die-once FILE`` only while FILE does not exist), ``wait-for FILE``
takes as long as FILE does not exist, ``bug`` raises what no parser should, ``refuse`` is an error of the sentence.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from perin.errors import InputError, ModelError
from perin.graphs import Anchor, Edge, Graph, Node
from perin.text import Sentence

TREEBANKS = {
    "eng": ["eds-eng", "amr-eng", "ucca-eng"],
    "deu": ["ucca-deu"],
    "multi": ["drg-deu", "ptg-ces", "umr-ces"],
}


@dataclass(frozen=True)
class Outcome:
    sentence: Sentence
    graphs: tuple[Graph, ...] = ()
    error: InputError | None = None


class FakeParser:
    def __init__(self, treebanks: list[str]) -> None:
        self.treebanks = dict.fromkeys(treebanks)

    def stream(self, texts, framework, language=None, *, probabilities, alternatives):
        texts = list(texts)
        assert {f"{name}-{language}" for name in framework} <= set(self.treebanks)
        for item in texts:
            if isinstance(item, InputError):
                yield Outcome(Sentence("", (), item.graph, language), error=item)
                continue
            _do_harm(item.text)
            if "refuse" in item.text:
                yield Outcome(item, error=InputError("is refused", graph=item.id))
                continue
            yield Outcome(
                item, tuple(_graph(item, name, probabilities, alternatives, len(texts)) for name in framework)
            )


def _do_harm(text: str) -> None:
    words = text.split()
    if words[:1] == ["die"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if words[:1] == ["die-once"] and not Path(words[1]).exists():
        Path(words[1]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    while words[:1] == ["wait-for"] and not Path(words[1]).exists():
        time.sleep(0.01)
    if "bug" in words:
        raise ZeroDivisionError("in a file of ours")


def _graph(sentence: Sentence, framework: str, probabilities: bool, alternatives: int, together: int) -> Graph:
    sure = {"probability": 0.9, "label_probability": 0.8} if probabilities else {}
    nodes = tuple(
        Node(
            number,
            token.lemma,
            anchors=(Anchor(token.start, token.end),),
            extra={**sure, **_others(f"{token.lemma}-other", alternatives)} or None,
        )
        for number, token in enumerate(sentence.tokens)
    )
    edges = tuple(
        Edge(number, number + 1, "ARG1", extra={**sure, **_others("ARG2", alternatives)} or None)
        for number in range(len(nodes) - 1)
    )
    flavor = 2 if framework == "amr" else 1
    extra = {"together": together}
    return Graph(
        sentence.id or "",
        framework,
        sentence.language,
        flavor,
        1.1,
        None,
        None,
        sentence.text,
        (0,),
        nodes,
        edges,
        extra,
    )


def _others(label: str, count: int) -> dict[str, list[list[str | float]]]:
    return {"alternatives": [[label + "'" * rank, 0.1 / (1 + rank)] for rank in range(count)]} if count else {}


def load(name: str, longest: int) -> FakeParser:
    if name not in TREEBANKS:
        raise ModelError(f"there is no folder {name}")
    return FakeParser(TREEBANKS[name])
