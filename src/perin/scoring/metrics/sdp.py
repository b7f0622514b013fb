"""The SDP metric of bilexical graphs: dependencies between words, and virtual ones to the tops."""

from __future__ import annotations

from perin.graphs.graph import Graph
from perin.scoring.items import items
from perin.scoring.metrics.metric import Comparison, Metric
from perin.scoring.metrics.spans import spans
from perin.scoring.tally import Tally

_TOP = -1


def _dependencies(graph: Graph) -> set[tuple[object, object, str | None]]:
    ids, content = spans(graph), items(graph)
    found: set[tuple[object, object, str | None]] = {
        (ids[source], ids[target], label) for source, target, label in content.edges
    }
    return found | {(_TOP, ids[top], None) for top in content.tops}


def _compare(gold: Graph, system: Graph, seconds: float) -> Comparison:
    first, second = _dependencies(gold), _dependencies(system)
    unlabeled = [{dependency[:2] for dependency in side} for side in (first, second)]
    return Comparison({"labeled": Tally.of_sets(first, second), "unlabeled": Tally.of_sets(*unlabeled)})


SDP = Metric("sdp", ("labeled", "unlabeled"), "labeled", _compare, searches=False)
