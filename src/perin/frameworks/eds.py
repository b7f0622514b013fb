"""Elementary Dependency Structures: every node has one continuous anchor; 3 % of the graphs are not connected."""

from perin.frameworks.anchoring import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.steps import PropertiesAsNodes
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

EDS = Framework(
    "eds",
    flavor=1,
    queries=6,
    steps=(PropertiesAsNodes(),),
    rules=RuleSpace(("", "+", "-"), label_case="lower"),
    numbers=True,
    anchoring=Anchoring(required=True, continuous=True, trimmed=True),
    has_flag=True,
    lexical_labels=r"_.+?(_[a-z])(?:_.*)?",
    owned=True,
    multilabel=False,
    least_joint=0.2,
    empty="unknown",
    constraints=framework_rules.EDS,
)

FRAMEWORKS = {None: EDS}
