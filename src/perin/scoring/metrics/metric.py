"""What a metric is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perin.graphs.graph import Graph
from perin.scoring.tally import Tally


@dataclass(frozen=True, slots=True)
class Comparison:
    """One gold graph against one system graph.

    ``pairs`` are the ids of corresponding nodes, gold first; empty where the metric needs no correspondence.
    ``objective`` is what the correspondence was chosen by and ``bound`` what it can at most be; ``settled``: ties are
    broken by rule, not by accident.
    """

    tallies: dict[str, Tally]
    pairs: tuple[tuple[int, int], ...] = ()
    objective: int = 0
    bound: int = 0
    settled: bool = True

    @property
    def exact(self) -> bool:
        """Whether no other correspondence has a higher objective."""
        return self.objective == self.bound


@dataclass(frozen=True)
class Metric:
    """A way to compare two graphs; ``compare`` takes gold, system and the seconds that it may search.

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
