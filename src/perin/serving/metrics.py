"""What the service counts, in the format of Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of = self.registry
        self.requests = Counter("perin_requests", "Requests by route and status", ["route", "status"], registry=of)
        self.seconds = Histogram("perin_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=of)
        self.sentences = Counter("perin_sentences", "Sentences parsed, by model", ["model"], registry=of)
        self.errors = Counter("perin_errors", "Answers that tell of an error, by kind", ["kind"], registry=of)
        self.batch_size = Histogram(
            "perin_batch_sentences", "Sentences at once", buckets=(1, 2, 4, 8, 16, 32, 64), registry=of
        )
        self.batch_seconds = Histogram("perin_batch_seconds", "Time to parse a batch", buckets=_SECONDS, registry=of)
        self.lost = Counter("perin_workers_lost", "Worker processes that died or were killed", registry=of)
        self.active = Gauge("perin_requests_active", "Requests at work or waiting", registry=of)
        self.queue = Gauge("perin_queue_jobs", "Jobs that no worker has taken yet", registry=of)
        self.alive = Gauge("perin_workers_ready", "Worker processes that are ready", registry=of)

    def text(self) -> bytes:
        """All of it, as it is now."""
        return generate_latest(self.registry)
