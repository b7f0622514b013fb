"""Graphs to training targets and predictions to graphs, one file a framework.

A treebank's graph is changed by reversible :mod:`steps <perin.frameworks.steps>` into one that the network can learn;
:mod:`decoding <perin.frameworks.decoding>` turns scores into such a graph, and the same steps change it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perin.contract.heads import Prediction, Target
from perin.frameworks.framework import Framework
from perin.frameworks.registry import framework, register
from perin.frameworks.vocabulary import Vocabulary
from perin.lazy import imported_on_use

if TYPE_CHECKING:
    from perin.frameworks.learn import learn_from_treebank, learn_signatures, learn_vocabulary

__all__ = [
    "Framework",
    "Prediction",
    "Target",
    "Vocabulary",
    "framework",
    "learn_from_treebank",
    "learn_signatures",
    "learn_vocabulary",
    "register",
]

# These need SciPy, whose import takes longer than all that a parser needs.
__getattr__ = imported_on_use(
    "perin.frameworks",
    dict.fromkeys(("learn_from_treebank", "learn_signatures", "learn_vocabulary"), "perin.frameworks.learn"),
)
