"""Elementary Dependency Structures: every node has one continuous anchor; 3 % of the graphs are not connected."""

from perin.frameworks.encoding import Anchoring
from perin.frameworks.framework import Framework
from perin.frameworks.steps import PropertiesAsNodes
from perin.frameworks.steps.mends import BoundNouns
from perin.graphs import framework_rules
from perin.labels.rules import RuleSpace

QUANTIFIERS = {
    **dict.fromkeys(("pron", "recip_pro"), "pronoun_q"),
    **dict.fromkeys(("named", "yofc", "dofw", "dofm"), "proper_q"),
    **dict.fromkeys(("time_n", "place_n", "mofy"), "def_implicit_q"),
    **dict.fromkeys(("thing", "person", "manner", "abstr_deg"), "which_q"),
}
"""The usual quantifiers of nouns, where these are not ``udef_q``."""

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
    words=r"_(.+?)(?:/.*)?_[a-z](?:_.*)?",
    owned=True,
    multilabel=False,
    least_joint=0.2,
    empty="unknown",
    constraints=framework_rules.EDS,
    mends=(BoundNouns(QUANTIFIERS),),
)

FRAMEWORKS = {None: EDS}
