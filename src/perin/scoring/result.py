"""What a metric is, and what scoring returns: the counts of each graph and their sums, by framework and language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from perin.errors import Finding
from perin.graphs.graph import Graph

# What a metric is: it compares two graphs and tallies their items, from which precision, recall and F1 follow.


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items gold (``g``) and system (``s``) have, and how many of them correspond (``c``)."""

    g: int = 0
    s: int = 0
    c: int = 0

    @classmethod
    def of_sets(cls, gold: Set[object], system: Set[object]) -> Tally:
        """Items that are equal as they stand.

        >>> Tally.of_sets({1, 2}, {2, 3, 4})
        Tally(g=2, s=3, c=1)
        """
        return cls(len(gold), len(system), len(gold & system))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.g + other.g, self.s + other.s, self.c + other.c)

    @property
    def precision(self) -> float:
        """The part of the system's items that is right; 0 if it has none."""
        return self.c / self.s if self.s else 0.0

    @property
    def recall(self) -> float:
        """The part of the gold items that the system has; 0 if there are none."""
        return self.c / self.g if self.g else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if nothing matches.

        >>> Tally(4, 2, 2).f1
        0.6666666666666666
        """
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if self.c else 0.0

    @property
    def equal(self) -> bool:
        """Whether gold and system have the same items."""
        return self.g == self.s == self.c

    def as_json(self) -> dict[str, float]:
        """The six numbers under their customary names."""
        return {"g": self.g, "s": self.s, "c": self.c, "p": self.precision, "r": self.recall, "f": self.f1}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One gold graph against one system graph.

    ``pairs`` are the ids of corresponding nodes, gold first; empty where the metric needs no correspondence.
    ``objective`` is what the correspondence was chosen by and ``bound`` what it can at most be; ``settled``: ties are
    broken by rule, not by accident; ``rough``: the graphs are too large for a search.
    """

    tallies: dict[str, Tally]
    pairs: tuple[tuple[int, int], ...] = ()
    objective: int = 0
    bound: int = 0
    settled: bool = True
    rough: bool = False

    @property
    def exact(self) -> bool:
        """Whether no other correspondence has a higher objective."""
        return self.objective == self.bound


@dataclass(frozen=True)
class Metric:
    """A way to compare two graphs; ``compare`` takes gold, system and the budget of its search.

    ``keys`` name the tallies in the order in which they are reported (a dot nests them); ``main`` is the one that is
    quoted.  ``searches``: it needs to know which nodes correspond.  ``flat``: the main tally is reported without name.
    ``over_documents`` adds what can be counted only when all graphs of a document are compared.  ``default_for`` is a
    framework whose graphs are scored so unless another metric is named.
    """

    name: str
    keys: tuple[str, ...]
    main: str
    compare: Callable[[Graph, Graph, float], Comparison]
    searches: bool = True
    flat: bool = False
    over_documents: Callable[[Sequence[tuple[Graph, Graph | None]], Sequence[Comparison]], list[Comparison]] | None = (
        None
    )
    default_for: str | None = None


ENGLISH = "eng"
TRACKS = ("cross-framework", "cross-lingual")
"""The tracks of MRP 2020: English graphs of all frameworks, and graphs of other languages."""


@dataclass(frozen=True, slots=True)
class GraphScore:
    """One gold graph and how the system's graph compares; ``missing``: that has no nodes or does not exist."""

    id: str
    framework: str | None
    language: str | None
    missing: bool
    comparison: Comparison
    seconds: float


@dataclass(frozen=True)
class Block:
    """Some graphs and their counts added up.  ``framework`` and ``language`` are None for graphs of several kinds."""

    metric: Metric
    graphs: Sequence[GraphScore]
    framework: str | None = None
    language: str | None = None

    def __repr__(self) -> str:
        return f"<Block {self.name}: {_counted(self.graphs)}, F1 {100 * self.f1:.2f}>"

    @property
    def name(self) -> str:
        """Framework and language."""
        return " ".join(part for part in (self.framework or "graphs", self.language) if part)

    @property
    def track(self) -> str:
        """Which track of MRP 2020 graphs of this language belong to; those of no language are English."""
        return TRACKS[self.language not in (None, ENGLISH)]

    @property
    def missing(self) -> int:
        """How many gold graphs the system has no graph for, or one without nodes."""
        return sum(graph.missing for graph in self.graphs)

    @property
    def exact(self) -> int:
        """How many correspondences are proven to be the best."""
        return sum(graph.comparison.exact for graph in self.graphs)

    @property
    def settled(self) -> int:
        """How many correspondences are proven to be the best, in breaking ties, too."""
        return sum(graph.comparison.exact and graph.comparison.settled for graph in self.graphs)

    @property
    def tallies(self) -> dict[str, Tally]:
        """The sums by key of the metric."""
        return {key: sum((graph.comparison.tallies[key] for graph in self.graphs), Tally()) for key in self.metric.keys}

    @property
    def f1(self) -> float:
        """The F1 that the metric is quoted by."""
        return self.tallies[self.metric.main].f1

    @property
    def seconds(self) -> float:
        """The time it took."""
        return sum(graph.seconds for graph in self.graphs)

    def as_json(self) -> dict[str, Any]:
        """The counts with precision, recall and F1, under the keys that other programs read."""
        metric = self.metric
        data: dict[str, Any] = {"metric": metric.name}
        data["graphs" if metric.name in ("mrp", "mrp-max") else "n"] = len(self.graphs)
        data["missing"] = self.missing
        if metric.searches:
            data["exact"] = self.exact
        for key, tally in self.tallies.items():
            numbers = tally.as_json()
            if metric.name == "sdp":
                equal = sum(graph.comparison.tallies[key].equal for graph in self.graphs)
                numbers["m"] = equal / len(self.graphs) if self.graphs else 0.0
            _nested(data, key, numbers, flat=metric.flat and key == metric.main)
        data["seconds"] = round(self.seconds, 6)
        return data


@dataclass(frozen=True)
class Result:
    """The score of a system: its graphs in the order of gold, and what was odd about the input."""

    metric: Metric
    graphs: Sequence[GraphScore]
    findings: Sequence[Finding] = field(default_factory=tuple)

    def __repr__(self) -> str:
        """One line; ``str`` has the tables.

        >>> from perin.graphs import Graph, Node
        >>> from perin.scoring import score
        >>> score(Graph("1", "amr", nodes=(Node(0, "dog"),)), Graph("1", "amr", nodes=(Node(0, "dog"),)))
        <Result mrp: 1 graph, F1 100.00>
        """
        return f"<Result {self.metric.name}: {_counted(self.graphs)}, F1 {100 * self.f1:.2f}>"

    def __str__(self) -> str:
        """What ``perin score`` prints: precision, recall and F1 of each type of item."""
        from perin.scoring.reports import overview

        return overview(self)

    @property
    def total(self) -> Block:
        """All graphs; its counts are the micro total."""
        return Block(self.metric, self.graphs)

    @property
    def blocks(self) -> list[Block]:
        """The graphs of each framework and language, in the order of their first graph."""
        groups: dict[tuple[str | None, str | None], list[GraphScore]] = {}
        for graph in self.graphs:
            groups.setdefault((graph.framework, graph.language), []).append(graph)
        return [Block(self.metric, graphs, *kind) for kind, graphs in groups.items()]

    @property
    def f1(self) -> float:
        """The F1 that the metric is quoted by, over all graphs."""
        return self.total.f1

    def macro(self, track: str | None = None) -> dict[str, dict[str, float]]:
        """The unweighted mean over the blocks (of one track) of precision, recall and F1 of each key.

        As in the tables of the shared task, a block without such items, such as UCCA without labels, counts 0.
        """
        tallies = [block.tallies for block in self.blocks if track in (None, block.track)]
        return {
            key: {
                name: sum(getattr(each[key], attribute) for each in tallies) / max(1, len(tallies))
                for name, attribute in (("p", "precision"), ("r", "recall"), ("f", "f1"))
            }
            for key in self.metric.keys
        }

    def as_json(self, *, per_graph: bool = False) -> dict[str, Any]:
        """The micro total under the keys that other programs read.

        With several frameworks or languages also ``blocks`` (the same for each), ``macro`` (the mean over them) and
        ``tracks`` (the mean over those of each track).  ``per_graph`` adds the same for each graph, with its
        correspondence.
        """
        data = self.total.as_json()
        blocks = self.blocks
        if len(blocks) > 1:
            data["blocks"] = [
                {"framework": block.framework, "language": block.language, **block.as_json()} for block in blocks
            ]
            data["macro"] = _nested_all(self.macro())
            present = [track for track in TRACKS if any(block.track == track for block in blocks)]
            data["tracks"] = {track: _nested_all(self.macro(track)) for track in present}
        if per_graph:
            data["per_graph"] = [self._graph_json(graph) for graph in self.graphs]
        return data

    def _graph_json(self, graph: GraphScore) -> dict[str, Any]:
        comparison = graph.comparison
        data: dict[str, Any] = {"id": graph.id, "framework": graph.framework, "language": graph.language}
        data |= Block(self.metric, [graph]).as_json()
        if self.metric.searches:
            data |= {
                "objective": comparison.objective,
                "bound": comparison.bound,
                "settled": comparison.exact and comparison.settled,
                "correspondence": [list(pair) for pair in comparison.pairs],
            }
        return data


def doubts(result: Result, budget: float) -> Iterator[Finding]:
    """The graphs whose correspondence is not proven to be the best, with the reason."""
    for graph in result.graphs:
        compared = graph.comparison
        if compared.rough:
            message = "the graphs are too large for an exact search"
            yield Finding(f"{message}; what was found, {compared.objective} matches, may be too few", graph=graph.id)
        elif not compared.exact:
            message = f"found {compared.objective} matches and proved that there are no more than {compared.bound}"
            yield Finding(f"{message} with a budget of {budget:g} s; give a higher --budget", graph=graph.id)
        elif not compared.settled:
            message = "counts by type are those of one of several equally good correspondences"
            yield Finding(f"{message}, not of the one that is best by rule; give a higher --budget", graph=graph.id)


def _counted(graphs: Sequence[GraphScore]) -> str:
    return "1 graph" if len(graphs) == 1 else f"{len(graphs)} graphs"


def _nested_all(numbers: dict[str, dict[str, float]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, values in numbers.items():
        _nested(data, key, values)
    return data


def _nested(data: dict[str, Any], key: str, numbers: dict[str, float], *, flat: bool = False) -> None:
    """Put numbers under a key; a dot in the key nests them."""
    if not flat:
        *outer, key = key.split(".")
        for part in outer:
            data = data.setdefault(part, {})
        data = data.setdefault(key, {})
    data.update(numbers)
