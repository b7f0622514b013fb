"""A parser's graphs for the texts of a treebank, and how they compare with the treebank's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from perin.contract import Sentence
from perin.errors import Finding, InputError, Report, Tolerant
from perin.frameworks.roundtrip import round_trip
from perin.frameworks.treebank import sentence_of, tokens_by_id
from perin.graphs.codecs import load
from perin.graphs.graph import Graph
from perin.model.folder import ModelFolder, Quantization, Treebank, read_weights
from perin.model.trained import TrainedModel, has_known_encoder
from perin.parsing.calibration import Decisions, collect_decisions
from perin.parsing.parser import Parser
from perin.parsing.reading import Item
from perin.parsing.streaming import Parsed
from perin.scoring import Block, score
from perin.scoring.reports import contrast
from perin.scoring.result import Tally

TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes", "all")
"""The types of items that the MRP metric tells apart, and all of them together."""


@dataclass(frozen=True)
class DevScores:
    """F1 of a parser on the dev graphs of a treebank, between 0 and 1."""

    graphs: int | None
    """Their number, if it is known."""
    f1: dict[str, float]
    """By type of item; only types that gold or system have."""
    ceiling: float | None = None
    """F1 of a faultless network with the same rules."""
    decisions: Mapping[str, Decisions] = field(default_factory=dict)
    """The probabilities of nodes, edges and labels, beside what gold says."""


def parse_treebank(
    parser: Parser,
    gold: Sequence[Graph],
    tokens: str | os.PathLike[str] | None = None,
    *,
    report: Report,
    probabilities: bool = False,
    progress: Callable[[Iterator[Parsed]], Iterable[Parsed]] = iter,
) -> list[Graph]:
    """Parse the texts of gold graphs, in each of their frameworks and languages.

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
            for result in parser.stream(items, kind[0], language, probabilities=probabilities):
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


# Dev scores of a model that is about to be shipped.


def dev_file(data: Path, treebank: str) -> Path | None:
    """The dev graphs of a treebank in a folder of treebanks, in any format; None if there are none."""
    found = sorted((data / treebank).glob("dev.*"))
    return next((path for path in found if ".conllu" not in path.name), None)


def dev_graphs(data: Path, treebank: str, limit: int | None = None) -> list[Graph]:
    """The first dev graphs of a treebank; none if it has no dev file."""
    path = dev_file(data, treebank)
    return [] if path is None else list(load(path, report=Tolerant()))[:limit]


def training_graphs(data: Path, treebank: str) -> Iterator[Graph]:
    """The training graphs of a treebank in a folder of treebanks, from all its files that hold graphs."""
    for path in sorted((data / treebank).glob("train*")):
        if {".mrp", ".umr"} & set(path.suffixes):
            yield from load(path, report=Tolerant())


def dev_scores(parser: Parser, gold: Sequence[Graph], *, budget: float) -> DevScores:
    """F1 of a parser on some graphs, from plain text."""
    graphs = parse_treebank(parser, gold, report=Tolerant(), probabilities=True)
    found = score(gold, [graph.without_probabilities() for graph in graphs], "mrp", budget=budget).total.tallies
    f1 = {kind: found[kind].f1 for kind in TYPES if _has_items(found[kind])}
    return DevScores(len(gold), f1, decisions=collect_decisions(pair_by_id(gold, graphs), budget=budget))


def pair_by_id(gold: Sequence[Graph], system: Sequence[Graph]) -> Iterator[tuple[Graph, Graph]]:
    """Gold graphs and the system's of the same id, framework and language; those that have none are left out."""
    found = {(graph.id, graph.framework, graph.language): graph for graph in system}
    for graph in gold:
        other = found.get((graph.id, graph.framework, graph.language))
        if other is not None:
            yield graph, other


def _compared(parser: Parser, gold: Sequence[Graph], budget: float) -> Block:
    return score(gold, parse_treebank(parser, gold, report=Tolerant()), "mrp", budget=budget).total


def ceiling(treebank: Treebank, gold: Sequence[Graph], *, budget: float) -> float:
    """F1 of the graphs that a faultless network with a treebank's rules would give."""
    language = treebank.vocabulary.language
    trips = [
        round_trip(
            treebank.framework, graph, sentence_of(graph, language, None), treebank.vocabulary, treebank.queries
        ).graph
        for graph in gold
    ]
    return score(gold, trips, "mrp", budget=budget).total.tallies["all"].f1


def _has_items(tally: Tally) -> bool:
    return bool(tally.g or tally.s)


TOLERATED = 0.001
"""F1 that computing with eight bits may cost."""
CHANCE = 0.05
"""A loss counts if one as large is less probable than this between systems that are equally good."""


def choose_quantization(
    read: ModelFolder,
    gold: Mapping[str, Sequence[Graph]],
    *,
    threads: int | None = None,
    budget: float,
    report: Callable[[str], None] = lambda line: None,
) -> Quantization:
    """Eight bits unless a treebank loses F1 by them on its gold graphs; also in the heads of those that don't lose."""
    if not has_known_encoder(read):
        return Quantization()
    weights = read_weights(read)
    names = tuple(read.treebanks)
    ways = {"32 bits": Quantization(), "8 bits": Quantization(8), "8 bits, also in heads": Quantization(8, names)}
    found: list[dict[str, Block]] = []
    for way, quantization in ways.items():
        parser = Parser(TrainedModel.of(replace(read, quantization=quantization), weights), threads=threads)
        found.append({name: _compared(parser, graphs, budget) for name, graphs in gold.items()})
        report("  ".join((way, *(f"{name} {100 * block.f1:.2f}" for name, block in found[-1].items()))))
    exact, quantized, everywhere = found
    if any(_loses(exact[name], quantized[name]) for name in gold):
        return Quantization()
    return Quantization(8, tuple(name for name in gold if not _loses(exact[name], everywhere[name])))


def _loses(exact: Block, quantized: Block) -> bool:
    """Whether F1 falls by more than what is tolerated and by more than chance explains."""
    if exact.f1 - quantized.f1 <= TOLERATED:
        return False
    return contrast(exact, quantized).p < CHANCE
