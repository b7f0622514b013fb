"""Universal Conceptual Cognitive Annotation: a tree of units over the words, remote edges, several labels an edge."""

from dataclasses import dataclass

import numpy as np

from perin.contract.heads import Bools, Prediction
from perin.frameworks.decoding.nodes import Nodes, merge_nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.decoding.tree import leaf_words, tree_structure
from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.rulebook import Rulebook
from perin.frameworks.steps import INNER, LEAF, LabelledUnits
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace


@dataclass(frozen=True)
class _Ucca(Framework):
    def structure(
        self, prediction: Prediction, vocabulary: Vocabulary, nodes: Nodes, allowed: Bools, book: Rulebook | None
    ) -> Structure:
        """Primary edges form a tree, remote edges close no cycle, every word belongs to one unit."""
        inner = np.array([label == INNER for label in nodes.labels])
        remote = [
            any(pair.name == "remote" for _, pairs in item for pair in pairs) for item in vocabulary.edge_attributes
        ]
        return tree_structure(prediction, inner, np.array([False, *remote]), disjoint=book is not None)

    def readings(self, prediction: Prediction, nodes: Nodes, book: Rulebook) -> tuple[Prediction, Nodes]:
        """Without leaves whose words all are more probable words of another leaf."""
        if prediction.anchors is None:
            return prediction, nodes
        inner = np.array([label == INNER for label in nodes.labels])
        busy = leaf_words(prediction.anchors, inner, disjoint=True).any(axis=1) | inner
        if busy.all():
            return prediction, nodes
        best = np.where(inner[:, None], -1.0, prediction.anchors).argmax(axis=0)
        words = prediction.anchors.argmax(axis=1)
        gone = {node: int(best[words[node]]) for node in np.flatnonzero(~busy).tolist() if busy[best[words[node]]]}
        return merge_nodes(prediction, nodes, gone) if gone else (prediction, nodes)


UCCA = _Ucca(
    "ucca",
    flavor=1,
    steps=(LabelledUnits(),),
    rules=RuleSpace(()),
    anchoring=Anchoring(),
    has_tops=False,
    has_attributes=True,
    required=INNER,
    empty=LEAF,
    constraints=framework_rules.UCCA,
    fixed_edges=True,
)

FRAMEWORKS = {None: UCCA}
