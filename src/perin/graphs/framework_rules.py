"""The rules of each framework (see :mod:`perin.graphs.constraints`), as its treebanks obey them.

``rate``: the share of cases in which gold graphs break a rule.  ``python benchmarks/violations.py --gold`` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perin.graphs.constraints import (
    ANY,
    Anchored,
    Apart,
    Connected,
    Constraint,
    Coordination,
    Disjoint,
    Families,
    Implies,
    Members,
    Needs,
    NoTwins,
    OneRole,
    OneWay,
    Roles,
    Tree,
    Unique,
    except_for,
    view,
)
from perin.graphs.graph import Graph

CONSTANT = '".*"'
PREDICATE = r".+-\d\d"
"""A predicate of AMR: ``want-01``."""

_STRING = '"[^-+0-9].*"'

COORDINATION = "and|or"
UNNAMED = f"name|{PREDICATE}|{COORDINATION}|date-entity|.*-quantity|multi-sentence"
"""Concepts of AMR and UMR that have no name of their own."""

NAMED_ENTITIES = Roles(0.001, "name", source=except_for(f"{UNNAMED}|{CONSTANT}"), target="name")
COORDINATED = Needs(0.0008, COORDINATION, r"op\d+")
STRING_ARGUMENTS = Roles(0.0005, r"(?i:arg)\d", target=except_for(_STRING), of=except_for(".+-91"))

FRAME = r".+-\d{2,3}"
"""Concepts that have arguments: all 37,890 arguments of the AMR treebank leave one."""

AMR: tuple[Constraint, ...] = (
    Connected(),
    Unique(0.004, r"(?i:arg)\d"),
    Unique(0.003, r"op\d+|snt\d+|polarity|mode|poss|unit|degree|quant|year|month|day|value"),
    Unique(0.0005, "name"),
    Unique(0.0005, "name", incoming=True),
    NAMED_ENTITIES,
    Needs(0.0, "name", r"op\d*"),
    Needs(0.01, "name", "name", incoming=True),
    COORDINATED,
    Roles(0.002, r"op\d+", target=CONSTANT, of="name"),
    Roles(0.0005, except_for(r"op\d*"), source=except_for("name")),
    Roles(0.0005, r"(?i:arg)\d", source=FRAME),
    STRING_ARGUMENTS,
    OneWay(0.0003),
    OneRole(0.001),
    NoTwins(0.001, r"(.+?)(?:-\d\d)?"),
)

_QUANTIFIER = r".*_q(?:_.*)?|quant"
_WITH_CARG = (
    "named|named_n|card|ord|dofw|dofm|mofy|yofc|season|basic_numbered_hour|quoted|polite|greet|year_range|holiday|"
    "meas_np|fraction|excl|era"
)
_NOMINAL = "NUM|PERS"
_EVENTIVE = "SF|TENSE|MOOD|PROG|PERF"
_NO_NOUN = r"_.*_[vphq](_.*)?|.*_q|compound|neg|poss|loc_nonsp|unknown|ord|.*_comp|subord|appos|measure|parg_d"
_NO_EVENT = (
    r"_.*_[nq](_.*)?|.*_q|named|named_n|pron|place_n|time_n|thing|person|generic_entity|nominalization|part_of|card|"
    r"dofw|dofm|mofy|yofc|season|basic_numbered_hour|fw_seq|poss|measure|appos|subord|quoted|parg_d|.*_comp"
)

_NOUN = (
    r"_.*_n(?:_.*)?|named|named_n|pron|nominalization|part_of|time_n|place_n|thing|person|manner|interval|elliptical_n|"
    r"generic_entity|recip_pro|abstr_deg|year_range|yofc|mofy|dofm|dofw"
)
BOUND_NOUNS = Needs(0.0001, _NOUN, "BV", incoming=True)

EDS: tuple[Constraint, ...] = (
    Connected(0.003),
    BOUND_NOUNS,
    OneWay(0.00001),
    Unique(0.0, ANY),
    Unique(0.00003, "BV", incoming=True),
    Needs(0.0002, _QUANTIFIER, "BV"),
    Roles(0.0, "BV", source=_QUANTIFIER, target=except_for(f"{_QUANTIFIER}|{CONSTANT}")),
    Roles(0.0001, except_for("BV"), source=except_for(_QUANTIFIER)),
    Roles(0.0, "ARG", source="unknown"),
    Roles(0.0, r"ARG\d|ARG", target=except_for(CONSTANT)),
    Needs(0.0, _WITH_CARG, "CARG"),
    Roles(0.0, "CARG", source=rf"{_WITH_CARG}|_.*_x(_.*)?", target=CONSTANT),
    Roles(0.0, "PERS", source="pron", target='"[123]"'),
    Roles(0.0, "NUM", source=except_for(_NO_NOUN), target='"(sg|pl)"'),
    Roles(0.0, "TENSE", source=except_for(_NO_EVENT), target='"(pres|past|fut)"'),
    Roles(0.0, "SF", source=except_for(_NO_EVENT), target='"(ques|comm)"'),
    Roles(0.0, "MOOD", source=except_for(_NO_EVENT), target='"subjunctive"'),
    Roles(0.0, "PROG|PERF", source=except_for(_NO_EVENT), target=r'"\+"'),
    Apart(0.0, _NOMINAL, _EVENTIVE),
    NoTwins(0.002, rf"(?!(?:{_QUANTIFIER})\Z)(_.+_[a-z]|[^_].*)(?:_.*)?"),
)

RELATION_NODE = r'(?!".*"|.+\.[a-z]\.\d+).+'
"""A node of DRG that stands for a relation: neither scope nor concept nor constant."""

_CONCEPT = r".+\.[a-z]\.\d+"
_BETWEEN = f"{_CONCEPT}|{CONSTANT}"
_BOXES = "[A-Z]{3,}"

UNIQUE_RELATIONS = frozenset(
    [
        "Agent",
        "Role",
        "User",
        "Value",
        "PartOf",
        "Source",
        "Destination",
        "Of",
        "Degree",
        "Pivot",
        "Result",
        "Recipient",
        "Creator",
        "Owner",
    ]
)
"""A source never has two of the same."""

WHOLE_RELATIONS = Roles(0.0, "", source="(?!)")
"""A relation lies between two nodes; then it is a role, and no role is unlabelled."""

DRG: tuple[Constraint, ...] = (
    Connected(),
    WHOLE_RELATIONS,
    Roles(0.0, "", of=except_for(RELATION_NODE), target=RELATION_NODE),
    Needs(0.0003, "", ANY),
    Roles(0.0, "in", source="", target=f"{_CONCEPT}|{RELATION_NODE}"),
    Roles(0.0, _BOXES, source="", target=""),
    Roles(0.0002, "@.+", source=_BETWEEN, target=_BETWEEN),
    Unique(0.001, "in", incoming=True),
    Needs(0.0, _CONCEPT, "in", incoming=True),
    Unique(0.0, f"@({'|'.join(sorted(UNIQUE_RELATIONS))})"),
    Unique(0.003, "@(Patient|Experiencer|Co-Theme|Theme|Stimulus|Quantity|Unit|Location|Name|Time|TPR|EQU)"),
    Roles(0.0, "@(MonthOfYear|DayOfMonth)", target=r'"\d+"'),
    Roles(0.0, "@(ClockTime|YearOfCentury)", target=r'"[\d?\'].*"'),
    Apart(0.0, "@TPR", "@EQU"),
    OneRole(0.001),
    NoTwins(0.001, r"(.+)\.[a-z]\.\d+"),
)

_COORDINATIONS = "CONJ|DISJ|ADVS|APPS|OPER|CSQ|GRAD|REAS|CONFR|CONTRA"

TECTOGRAMMATICAL_TREE = Tree(0.0, beside=r"(?:coref|bridging)\..*", mark="effective")

PTG: tuple[Constraint, ...] = (
    Connected(),
    Roles(0.0, ANY, target=".+"),
    TECTOGRAMMATICAL_TREE,
    Coordination(0.0, _COORDINATIONS, tree=TECTOGRAMMATICAL_TREE),
    Members(0.008, _COORDINATIONS),
    Unique(0.0005, "PRED", unmarked=True),
    Unique(0.05, "ACT|PAT|EFF|ADDR", unmarked=True),
    Unique(0.004, r"coref\..*", unmarked=True),
    NoTwins(0.01, "(.+)"),
)
"""Nothing leads to the root, the only node without a label."""

CZECH_PTG = tuple(replace(rule, rate=0.0005) if isinstance(rule, Unique) and rule.rate > 0.01 else rule for rule in PTG)
"""No gold node has two of the same argument; in English, one in twenty has."""

UCCA: tuple[Constraint, ...] = (
    Connected(),
    Disjoint(),
    Anchored(),
    Unique(0.0, "P|S"),
    Apart(0.0, "P", "S"),
    Families(0.0005, ("H|L", "A|P|S|D|T|G", "C|E|Q|N")),
)
"""A unit links scenes, is a scene, or has a centre; functions, relators and punctuation are anywhere."""

CHINESE_AMR = tuple(rule for rule in AMR if "name" not in repr(rule))
"""Chinese names are no nodes of their own."""

CZECH_UMR: tuple[Constraint, ...] = (
    Connected(),
    COORDINATED,
    OneWay(0.001),
    OneRole(0.002),
    Unique(0.002, r"ARG\d"),
    Unique(0.0002, r"op\d+|aspect|modal-strength|refer-number|refer-person|polarity|mode|quant|effect"),
    NoTwins(0.001, r"(.+?)(?:-\d+)?"),
)
"""Czech names are no nodes of their own."""

LINKED_NAMES = Implies(0.0015, "wiki", "name")

UMR: tuple[Constraint, ...] = (
    Connected(),
    Unique(0.002, r"ARG\d"),
    Unique(0.0005, r"op\d+|name|aspect|modal-strength|refer-number|refer-person|mode|quant|degree|unit|value|wiki"),
    Unique(0.0005, "name", incoming=True),
    NAMED_ENTITIES,
    LINKED_NAMES,
    Roles(0.0, "wiki", target=CONSTANT),
    Needs(0.002, "name", r"op\d*"),
    Needs(0.004, "name", "name", incoming=True),
    COORDINATED,
    Roles(0.0005, r"op\d+", target=CONSTANT, of="name"),
    Roles(0.0002, except_for(r"op\d*"), source=except_for("name")),
    STRING_ARGUMENTS,
    OneWay(0.008),
    OneRole(0.002),
    NoTwins(0.01, r"(.+?)(?:-\d\d)?"),
)

RULES: dict[str, tuple[Constraint, ...]] = {
    "amr": AMR,
    "amr-zho": CHINESE_AMR,
    "drg": DRG,
    "eds": EDS,
    "ptg": PTG,
    "ptg-ces": CZECH_PTG,
    "ucca": UCCA,
    "umr": UMR,
    "umr-ces": CZECH_UMR,
}
"""By framework, or by framework and language."""

RELATIONS: dict[str, str] = {"drg": RELATION_NODE}
"""By framework: which nodes of its graphs are roles."""


def rules_of(graph: Graph) -> tuple[Constraint, ...]:
    """The rules of a graph's framework in its language; none for a framework that is not known."""
    return RULES.get(f"{graph.framework}-{graph.language}") or RULES.get(graph.framework or "", ())


def broken(graph: Graph) -> Iterator[tuple[Constraint, str]]:
    """Each rule that a graph breaks, and where; the graph's structure must be sound."""
    seen = view(graph, RELATIONS.get(graph.framework or ""))
    for rule in rules_of(graph):
        for message in rule.violations(seen):
            yield rule, message
