"""Universal Conceptual Cognitive Annotation: a tree of units over the words, remote edges, several labels an edge."""

from dataclasses import dataclass

import numpy as np

from perin.contract.arrays import Bools
from perin.contract.prediction import Prediction
from perin.frameworks.anchoring import Anchoring
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.decoding.tree import tree_structure
from perin.frameworks.framework import Framework
from perin.frameworks.steps.units import INNER, LEAF, LabelledUnits
from perin.frameworks.vocabulary import Vocabulary
from perin.labels.space import RuleSpace


@dataclass(frozen=True)
class _Ucca(Framework):
    def structure(self, prediction: Prediction, vocabulary: Vocabulary, nodes: Nodes, allowed: Bools) -> Structure:
        """Primary edges form a tree, remote edges close no cycle, every word belongs to one unit."""
        inner = np.array([label == INNER for label in nodes.labels])
        remote = [
            any(pair.name == "remote" for _, pairs in item for pair in pairs) for item in vocabulary.edge_attributes
        ]
        return tree_structure(prediction, inner, np.array([False, *remote]))


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
)

FRAMEWORKS = {None: UCCA}
