"""Exact scores of meaning graphs: the MRP metric, Smatch, EDM, UCCA, SDP."""

from perin.scoring.evaluation import correspondence, score
from perin.scoring.metrics.metric import Tally
from perin.scoring.result import Block, GraphScore, Result

__all__ = ["Block", "GraphScore", "Result", "Tally", "correspondence", "score"]
