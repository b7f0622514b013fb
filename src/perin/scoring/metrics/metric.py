"""What a metric is: it compares two graphs and tallies their items, from which precision, recall and F1 follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from perin.graphs.graph import Graph


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
