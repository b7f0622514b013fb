"""Prague Tectogrammatical Graphs: a technical root, generated nodes without anchors, properties by classifiers."""

from dataclasses import dataclass

from perin.contract.heads import Bools
from perin.frameworks.anchoring import Anchoring
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.framework import Framework
from perin.frameworks.steps import NamedUnlabelled, TopIsUnlabelled
from perin.graphs import framework_rules
from perin.labels.space import RuleSpace

TOP = "<TOP>"


@dataclass(frozen=True)
class _Ptg(Framework):
    def allowed(self, nodes: Nodes) -> Bools:
        """No edge enters the root."""
        allowed = super().allowed(nodes)
        allowed[:, nodes.labels.index(TOP)] = False
        return allowed


PTG = _Ptg(
    "ptg",
    flavor=1,
    queries=3,
    steps=(TopIsUnlabelled(), NamedUnlabelled(TOP)),
    rules=RuleSpace(("", "_"), number_groups=("", "_")),
    numbers=True,
    anchoring=Anchoring(trimmed=True),
    has_tops=False,
    has_classes=True,
    lexical=("frame",),
    multilabel=False,
    has_attributes=True,
    required=TOP,
    unique=True,
    empty=TOP,
    constraints=framework_rules.PTG,
)

FRAMEWORKS = {None: PTG}
