"""A parser without a network, for worker processes of tests: a node a token, each the parent of the next.

Some words do harm: ``die`` ends the process (``die-once FILE`` only while FILE does not exist), ``sleep-N`` takes N
seconds, ``bug`` raises what no parser should, ``refuse`` is an error of the sentence.
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

FRAMEWORKS = {"eng": ["eds", "amr", "ucca"], "deu": ["ucca"]}


@dataclass(frozen=True)
class Outcome:
    sentence: Sentence
    graphs: tuple[Graph, ...] = ()
    error: InputError | None = None


class FakeParser:
    def __init__(self, language: str) -> None:
        self.treebanks = {f"{name}-{language}": None for name in FRAMEWORKS[language]}

    def stream(self, texts, framework=None, language=None, *, probabilities=True):
        texts = list(texts)
        wanted = [name.partition("-")[0] for name in self.treebanks]
        wanted = wanted if framework == "all" else [framework or wanted[0]]
        for item in texts:
            if isinstance(item, InputError):
                yield Outcome(Sentence("", (), item.graph, language), error=item)
                continue
            _do_harm(item.text)
            if "refuse" in item.text:
                yield Outcome(item, error=InputError("is refused", graph=item.id))
                continue
            yield Outcome(item, tuple(_graph(item, name, probabilities, len(texts)) for name in wanted))


def _do_harm(text: str) -> None:
    words = text.split()
    if words[:1] == ["die"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if words[:1] == ["die-once"] and not Path(words[1]).exists():
        Path(words[1]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if words and words[0].startswith("sleep-"):
        time.sleep(float(words[0].removeprefix("sleep-")))
    if "bug" in words:
        raise ZeroDivisionError("in a file of ours")


def _graph(sentence: Sentence, framework: str, probabilities: bool, together: int) -> Graph:
    sure = {"probability": 0.9, "label_probability": 0.8}
    nodes = tuple(
        Node(
            number,
            token.lemma,
            anchors=(Anchor(token.start, token.end),),
            extra={**sure, "alternatives": [[f"{token.lemma}-other", 0.1]]} if probabilities else None,
        )
        for number, token in enumerate(sentence.tokens)
    )
    edges = tuple(
        Edge(number, number + 1, "ARG1", extra=sure if probabilities else None) for number in range(len(nodes) - 1)
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


def load(name: str, longest: int) -> FakeParser:
    if name not in FRAMEWORKS:
        raise ModelError(f"there is no folder {name}")
    return FakeParser(name)
