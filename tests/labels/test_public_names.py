"""The public names of ``perin.labels``."""

import subprocess
import sys

import pytest

import perin.labels


def test_all_names_exist():
    assert sorted(perin.labels.__all__, key=str.lower) == sorted(set(perin.labels.__all__), key=str.lower)
    for name in perin.labels.__all__:
        assert getattr(perin.labels, name) is not None


def test_other_names_do_not():
    with pytest.raises(AttributeError, match="nonsense"):
        perin.labels.nonsense  # noqa: B018


def test_applying_rules_needs_no_numpy():
    program = "import sys, perin.labels; sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
