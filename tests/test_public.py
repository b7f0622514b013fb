"""The public surface says what there is, and there is what it says."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import perin

PACKAGES = ["perin", "perin.graphs"]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_honest(name):
    package = importlib.import_module(name)
    assert sorted(package.__all__) == sorted(set(package.__all__))
    for public in package.__all__:
        assert getattr(package, public) is not None


def test_lazy_names_are_listed():
    assert set(perin.__all__) == {*perin._EXPORTS, "__version__"}
    assert set(dir(perin)) == {*perin.__all__, *perin._PACKAGES}


def test_packages_are_there_without_an_import_of_their_own():
    code = (
        "import perin; print(perin.graphs.dumps.__name__, perin.scoring.score.__name__, perin.text.tokenize.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "dumps score tokenize\n"


def test_a_lazy_name_is_the_thing_itself():
    for name, home in perin._EXPORTS.items():
        assert getattr(perin, name) is getattr(importlib.import_module(home), name)


def test_public_things_are_documented():
    for name in perin.__all__:
        if name != "__version__":
            assert getattr(perin, name).__doc__


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Grpah'"):
        _ = perin.Grpah


def test_star_import():
    code = "from perin import *; import perin; print(set(perin.__all__) - {'__version__'} <= set(globals()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
