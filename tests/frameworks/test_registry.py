from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import perin
from perin.errors import UsageError
from perin.frameworks import NAMES, framework
from perin.frameworks.amr import CHINESE_AMR
from perin.frameworks.framework import Framework
from perin.graphs.constraints import Connected
from perin.graphs.framework_rules import rules_of
from perin.graphs.graph import Graph
from perin.graphs.validation import DEMANDS
from perin.labels.rules import RuleSpace


def test_every_framework_is_known_by_name() -> None:
    assert [framework(name).name for name in NAMES] == NAMES
    assert framework("amr", "zho") is CHINESE_AMR
    assert framework("amr", "eng") is framework("amr")


def test_an_unknown_framework_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="amr, drg, eds, ptg, ucca"):
        framework("amrr")


def test_declarations_agree_with_what_validation_demands() -> None:
    for name in NAMES:
        form, demands = framework(name), DEMANDS[name]
        assert form.flavor in demands.flavors
        assert (form.least_joint == 0) == (Connected() in form.constraints)
        assert form.constraints == rules_of(Graph("1", name))
        assert form.has_attributes == (demands.attributes is not None)


def test_rules_are_anchored_if_nodes_are() -> None:
    with pytest.raises(UsageError, match="anchored"):
        Framework("toy", flavor=2, rules=RuleSpace(anchored=True))


def test_nothing_else_asks_for_the_name_of_a_framework() -> None:
    """Names may stand in the frameworks themselves, in what is said about formats and demands, and in text."""
    package = Path(perin.__file__).parent
    allowed = {"frameworks", "graphs", "scoring"}
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0]
        if room not in allowed:
            text = path.read_text(encoding="utf-8")
            for name in NAMES:
                assert f'== "{name}"' not in text, f"{path.name} asks whether a framework is {name}"


def test_modules_define_their_frameworks_as_data() -> None:
    import importlib

    for name in NAMES:
        module: ModuleType = importlib.import_module(f"perin.frameworks.{name}")
        assert None in module.FRAMEWORKS
        assert all(isinstance(form, Framework) for form in module.FRAMEWORKS.values())
