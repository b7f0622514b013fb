"""Discourse Representation Graphs: scopes, concepts, constants, and relations as nodes."""

from perin.frameworks.framework import Framework
from perin.frameworks.steps import RELATION, FlaggedConstants, NamedUnlabelled, RelationsAsEdges, TopsAreRootBoxes
from perin.frameworks.steps.mends import WholeRelations
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

SCOPE = "<SCOPE>"

DRG = Framework(
    "drg",
    flavor=2,
    queries=5,
    steps=(TopsAreRootBoxes(), RelationsAsEdges(), FlaggedConstants(), NamedUnlabelled(SCOPE)),
    rules=RuleSpace(("", "~"), anchored=False, label_case="lower"),
    numbers=True,
    has_tops=False,
    has_flag=True,
    lexical_labels=r".+(\.[a-z]\.)\d+",
    markers=frozenset((RELATION,)),
    required=SCOPE,
    empty=SCOPE,
    constraints=framework_rules.DRG,
    mends=(WholeRelations(),),
    translated=frozenset(("deu",)),
)

FRAMEWORKS = {None: DRG}
