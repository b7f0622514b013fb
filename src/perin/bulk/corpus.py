"""A corpus from files to a folder of shards, by processes of this machine or by a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from perin.bulk.plan import Plan, Settings, agreed_plan, check_paths
from perin.bulk.processes import Bad, parse_locally
from perin.bulk.shards import Job, Loader, Mark, ModelLoader, Summary, finished
from perin.bulk.storage import Folder, expanded, folder
from perin.errors import UsageError

ENGINES = ("local", "ray")


class Progress:
    """Receives reports of progress; this one ignores them."""

    def begin(self, sentences: int, shards: int, done: int) -> None:
        """The number of sentences to parse, of all shards, and of shards that are done already."""

    def sentences(self, count: int) -> None:
        """The number of sentences parsed since the last report; negative if a shard has to be done again."""

    def shard(self, result: Mark | Bad) -> None:
        """A shard is done, or can't be done."""

    def end(self) -> None:
        """All work is over."""


def parse_corpus(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | Loader | None = None,
    framework: str | Sequence[str] | None = None,
    language: str | None = None,
    format: str = "mrp",
    shards: int | None = None,
    rank: int = 0,
    world: int = 1,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    column: str | None = None,
    probabilities: bool = False,
    empty: bool = False,
    longest: int | None = None,
    time: str | None = None,
    revision: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Parse files into a folder of shards; called again on the same folder, it does what is missing.

    ``inputs`` are paths, URLs or globs of text, JSON lines, CoNLL-U and Parquet; ``output`` is a folder or URL.
    ``format`` is ``mrp``, ``mrp.gz`` or ``parquet``.  Of ``world`` machines (or job steps) that share the folder, this
    one, number ``rank``, does every ``world``-th shard with ``workers`` processes, by default one a core.
    ``engine="ray"`` leaves the work to the Ray cluster at ``address``.  ``model`` may also be a function that makes a
    parser; it must be importable in another process.  For the other parameters see :meth:`perin.Parser.stream`.
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}; known are: {', '.join(ENGINES)}")
    if not 0 <= rank < world:
        raise UsageError(f"there is no rank {rank} of {world}; ranks count from 0")
    output = os.fspath(output)
    several = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    paths = expanded([os.fspath(path) for path in several])
    framework = framework if isinstance(framework, str | None) else ",".join(framework)
    name, load = _loader(model, framework, language, revision=revision, offline=offline, longest=longest)
    settings = Settings(name, framework, language, format, column, probabilities, empty, longest, time)
    check_paths(paths, settings)
    place = folder(output)
    plan = agreed_plan(output, place, paths, settings, shards)
    own = range(rank, len(plan.shards), world)
    job = Job(plan, tuple(paths), output, load)
    progress = progress or Progress()
    summary = Summary(len(own))
    missing = _missing(place, plan, own, summary)
    progress.begin(sum(plan.sentences[shard] for shard in missing), summary.shards, summary.done)
    try:
        for result in _results(job, missing, workers, engine, address, progress.sentences):
            if isinstance(result, Mark):
                summary.add(result)
            else:
                summary.bad[result.shard] = result.reason
            progress.shard(result)
    finally:
        progress.end()
    return summary


def _loader(
    model: str | os.PathLike[str] | Loader | None, framework: str | None, language: str | None, **options: Any
) -> tuple[str, Loader]:
    """The name of a model in the plan, and what loads it."""
    if callable(model):
        return f"{getattr(model, '__module__', '')}.{getattr(model, '__qualname__', repr(model))}", model
    if model is None:
        from perin.model.sources import default_model

        wanted = None if framework in (None, "all") else framework.partition(",")[0]
        model = default_model(wanted, language)
    given = tuple((name, value) for name, value in options.items() if value)
    return os.fspath(model), ModelLoader(os.fspath(model), given)


def _missing(place: Folder, plan: Plan, shards: Sequence[int], summary: Summary) -> list[int]:
    """The shards that are not done; those that are go into the summary."""
    names = place.names()
    missing = []
    for shard in shards:
        mark = finished(place, plan, shard) if plan.mark(shard) in names else None
        if mark is None:
            missing.append(shard)
        else:
            summary.add(mark)
    return missing


def _results(
    job: Job, shards: list[int], workers: int | None, engine: str, address: str | None, progress: Callable[[int], None]
) -> Any:
    if not shards:
        return ()
    if engine == "ray":
        from perin.bulk.cluster import parse_on_cluster

        return parse_on_cluster(job, shards, workers, address, progress)
    return parse_locally(job, shards, workers or _cores(), progress)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
