"""Exact scores of meaning graphs: the MRP metric, Smatch, EDM, UCCA, SDP."""

from perin.scoring.evaluation import correspondence, score
from perin.scoring.result import Block, GraphScore, Result, Tally

__all__ = ["Block", "GraphScore", "Result", "Tally", "correspondence", "score"]
