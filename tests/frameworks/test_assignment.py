"""Rows to columns by SciPy's solver, found without importing ``scipy.optimize``, or else with it."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from perin.frameworks.decoding import assignment
from perin.frameworks.decoding.assignment import best_columns


@given(st.integers(0, 6), st.integers(0, 4), st.integers(0, 99))
def test_as_good_as_the_public_function(rows, more, seed):
    gains = np.random.default_rng(seed).normal(size=(rows, rows + more))
    columns = best_columns(gains)
    assert columns.tolist() == linear_sum_assignment(gains, maximize=True)[1].tolist()


@pytest.mark.parametrize("found", [None, "elsewhere"])
def test_the_public_function_where_the_compiled_one_is_not(monkeypatch, found, tmp_path):
    (tmp_path / "optimize").mkdir()
    (tmp_path / "optimize" / "_lsap.py").write_text("other = 1\n", encoding="utf-8")
    fake = None if found is None else type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(assignment, "find_spec", lambda name: fake)
    solver = assignment._solver.__wrapped__()
    assert solver is linear_sum_assignment


def test_a_parser_starts_without_scipy():
    code = "import sys, perin.parsing.parser; sys.exit('scipy.optimize' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
