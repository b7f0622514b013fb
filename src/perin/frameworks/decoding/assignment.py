"""The best assignment of rows to columns, by SciPy's solver without the rest of ``scipy.optimize``.

Importing that package takes 50 MB and longer than all other imports of a parser together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def best_columns(gains: NDArray[np.floating[Any]]) -> NDArray[np.intp]:
    """The column of each row such that no column is taken twice and the sum of ``gains`` [rows, columns] is greatest.

    There are at least as many columns as rows.

    >>> best_columns(np.array([[3.0, 2.0, 0.0], [3.0, 0.0, 1.0]]))
    array([1, 0])
    """
    columns: NDArray[np.intp] = gains.argmax(axis=1) if len(gains) == 1 else _solver()(gains, True)[1]
    return columns


@functools.cache
def _solver() -> Callable[..., Any]:
    """``scipy.optimize.linear_sum_assignment``, from the compiled file that it is in if that is where it was."""
    scipy = find_spec("scipy")
    folders = scipy.submodule_search_locations if scipy is not None else None
    found = PathFinder.find_spec("_lsap", [str(Path(folder) / "optimize") for folder in folders or ()])
    if found is not None and found.loader is not None:
        module = module_from_spec(found)
        found.loader.exec_module(module)
        solver: Callable[..., Any] | None = getattr(module, "linear_sum_assignment", None)
        if solver is not None:
            return solver
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment
