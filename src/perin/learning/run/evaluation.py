"""Scores of a model on graphs that it has not seen, by the exact metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from perin.contract.sentence import Sentence
from perin.errors import InputError
from perin.graphs.faults import Finding, Report
from perin.graphs.graph import Graph
from perin.learning.data.corpus import Split, sentence_of, tokens_by_id
from perin.model.model import Model
from perin.parsing.inference import Parsed, graphs_of
from perin.parsing.parser import Parser
from perin.parsing.reading import Item
from perin.scoring import Result, score

TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes", "all")


@dataclass(frozen=True)
class Evaluation:
    """F1 by treebank and item type, between 0 and 1, the graphs that were scored, and how each of them compares."""

    scores: dict[str, dict[str, float]]
    graphs: dict[str, list[Graph]]
    results: dict[str, Result]

    @property
    def mean(self) -> float:
        """The mean over the treebanks of F1 over all items."""
        return sum(types["all"] for types in self.scores.values()) / max(1, len(self.scores))

    def __str__(self) -> str:
        return "  ".join(f"{name} {100 * types['all']:.2f}" for name, types in self.scores.items())


def evaluate(model: Model, dev: Mapping[str, Split], *, budget: float) -> Evaluation:
    """Parse and score the dev data of each treebank."""
    model.network.eval()
    scores, graphs, results = {}, {}, {}
    for name, split in dev.items():
        if split.graphs:
            graphs[name] = graphs_of(model, split.sentences, name)
            results[name] = score(split.graphs, graphs[name], "mrp", budget=budget)
            tallies = results[name].total.tallies
            scores[name] = {kind: tallies[kind].f1 for kind in TYPES if tallies[kind].g or tallies[kind].s}
    return Evaluation(scores, graphs, results)


def parse_treebank(
    parser: Parser,
    gold: Sequence[Graph],
    tokens: str | os.PathLike[str] | None = None,
    *,
    report: Report,
    progress: Callable[[Iterator[Parsed]], Iterable[Parsed]] = iter,
) -> list[Graph]:
    """What a parser makes of the texts of gold graphs, of each framework and language that they have.

    ``tokens`` is a CoNLL-U or companion file with the ids of the graphs; by default texts are tokenized as the parser
    does it.  Whatever goes wrong with a text is reported, and there is no graph for it.  ``progress`` is put around
    the results as they come.
    """
    groups: dict[tuple[str | None, str | None], list[Graph]] = {}
    for graph in gold:
        groups.setdefault((graph.framework, graph.language), []).append(graph)
    treebanks = {kind: parser.treebanks[parser.chosen(*kind)[0]].vocabulary for kind in groups}

    def parsed() -> Iterator[Parsed]:
        for kind, graphs in groups.items():
            language = treebanks[kind].language
            known = None if tokens is None else tokens_by_id(tokens, language)
            items = [_item(graph, language, known) for graph in graphs]
            for result in parser.stream(items, kind[0], language, probabilities=False):
                yield replace(result, graphs=tuple(replace(graph, language=kind[1]) for graph in result.graphs))

    found: list[Graph] = []
    for result in progress(parsed()):
        found += result.graphs
        if result.error is not None:
            report(Finding(result.error.message, graph=result.error.graph))
    return found


def _item(graph: Graph, language: str | None, tokens: Mapping[str, Sentence] | None) -> Item:
    try:
        return sentence_of(graph, language, tokens)
    except InputError as error:
        return error
