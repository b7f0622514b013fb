"""Abstract Meaning Representation: English without anchors, Chinese with anchors."""

from dataclasses import replace

from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.steps import NormalEdges, PropertiesAsNodes
from perin.frameworks.steps.mends import EntityNames, SubjectPronouns
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

AMR = Framework(
    "amr",
    flavor=2,
    queries=3,
    steps=(NormalEdges(), PropertiesAsNodes()),
    rules=RuleSpace(("", "-"), anchored=False, label_case="lower"),
    numbers=True,
    has_flag=True,
    lexical_labels=r".+(-)\d\d",
    words=r"(.+?)(?:-\d\d)?",
    owned=True,
    empty="amr-empty",
    constraints=framework_rules.AMR,
    mends=(EntityNames(), SubjectPronouns()),
)

CHINESE_AMR = replace(
    AMR,
    anchoring=Anchoring(),
    rules=replace(AMR.rules, anchored=True),
    words=None,
    constraints=framework_rules.CHINESE_AMR,
    mends=(),
)
"""Nodes are anchored, some of them to several words or to none, although its graphs are of flavor 2."""

FRAMEWORKS = {None: AMR, "zho": CHINESE_AMR}
