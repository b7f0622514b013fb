"""Prague Tectogrammatical Graphs: a tree below a technical root, with coreference and effective edges beside it."""

from dataclasses import dataclass, replace

from perin.contract.heads import Bools, Prediction
from perin.frameworks.decoding.dependency import dependency_structure
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.rulebook import Rulebook
from perin.frameworks.steps import NamedUnlabelled, TopIsUnlabelled
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

TOP = "<TOP>"


@dataclass(frozen=True)
class _Ptg(Framework):
    def allowed(self, nodes: Nodes) -> Bools:
        """No edge enters the root."""
        allowed = super().allowed(nodes)
        allowed[:, nodes.labels.index(TOP)] = False
        return allowed

    def structure(
        self, prediction: Prediction, vocabulary: Vocabulary, nodes: Nodes, allowed: Bools, book: Rulebook | None
    ) -> Structure:
        """With rules, a tree with coreference and effective edges beside it."""
        if book is None or book.grammar is None:
            return super().structure(prediction, vocabulary, nodes, allowed, book)
        return dependency_structure(prediction, nodes, allowed, nodes.labels.index(TOP), book.grammar)


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
    words=r"(.+)",
    lexical=("frame",),
    multilabel=False,
    has_attributes=True,
    required=TOP,
    unique=True,
    empty=TOP,
    constraints=framework_rules.PTG,
)

CZECH_PTG = replace(PTG, constraints=framework_rules.CZECH_PTG)

FRAMEWORKS = {None: PTG, "ces": CZECH_PTG}
