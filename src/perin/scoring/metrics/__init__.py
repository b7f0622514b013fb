"""The metrics: each compares one gold graph with one system graph and counts."""

from perin.scoring.metrics.metric import Comparison, Metric, Tally
from perin.scoring.metrics.mrp import MRP, MRP_MAX
from perin.scoring.metrics.smatch import SMATCH, SMATCH_FINE
from perin.scoring.metrics.spans import EDM, SDP, UCCA
from perin.scoring.metrics.umr import UMR

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (MRP, MRP_MAX, SMATCH, SMATCH_FINE, EDM, UCCA, SDP, UMR)
}

__all__ = ["METRICS", "Comparison", "Metric", "Tally"]
