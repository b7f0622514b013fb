"""The metrics: each compares one gold graph with one system graph and counts."""

from perin.scoring.metrics.matching import MRP, MRP_MAX, SMATCH, SMATCH_FINE, UMR
from perin.scoring.metrics.spans import EDM, SDP, UCCA
from perin.scoring.result import Comparison, Metric, Tally

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (MRP, MRP_MAX, SMATCH, SMATCH_FINE, EDM, UCCA, SDP, UMR)
}

__all__ = ["METRICS", "Comparison", "Metric", "Tally"]
