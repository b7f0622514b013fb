"""Uniform Meaning Representation: AMR with attributes; Czech is aligned to words, other treebanks mostly are not."""

from dataclasses import replace

from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.steps import SENSE, NormalEdges, PropertiesAsNodes, SensesAsProperties
from perin.frameworks.steps.mends import EntityNames, LinkedNames
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

ATTRIBUTES = frozenset(
    ("aspect", "modal-strength", "mode", "polarity", "polite", "refer-definiteness", "refer-number", "refer-person")
)
"""Roles whose values are a closed list; other constants are names and numbers, which rules take from the words."""

UMR = Framework(
    "umr",
    flavor=2,
    queries=3,
    steps=(NormalEdges(domain="domain-of"), SensesAsProperties(), PropertiesAsNodes(ATTRIBUTES | {SENSE})),
    rules=RuleSpace(("", "-", "_"), anchored=False, number_groups=("", "_")),
    numbers=True,
    has_flag=True,
    owned=True,
    has_classes=True,
    words=r"(.+)",
    lexical=(SENSE,),
    empty="event",
    constraints=framework_rules.UMR,
    mends=(EntityNames(), LinkedNames()),
)

CZECH_UMR = replace(
    UMR,
    flavor=1,
    anchoring=Anchoring(),
    rules=replace(UMR.rules, anchored=True),
    constraints=framework_rules.CZECH_UMR,
    mends=(),
)

FRAMEWORKS = {None: UMR, "ces": CZECH_UMR}
