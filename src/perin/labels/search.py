"""The search for occurrences, on several processes if wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from signal import SIG_IGN, SIGINT, signal

from tqdm import tqdm

from perin.labels.occurrences import Occurrences, Task, find_occurrences, merged

PIECE = 2_000
"""About this many keys are searched at a time."""


def search(tasks: Sequence[Task], separators: Sequence[str], *, processes: int, progress: bool) -> Occurrences:
    """All occurrences that the tasks ask for; the order does not depend on the number of processes."""
    pieces = _pieces(tasks)
    find = partial(find_occurrences, separators=separators)
    with tqdm(total=len(pieces), desc="rules", unit=" pieces", disable=not progress, leave=False) as bar:
        found = []
        for part in _mapped(find, pieces, processes):
            found.append(part)
            bar.update()
    return merged(found or [find(())])


def _mapped(
    find: Callable[[Sequence[Task]], Occurrences], pieces: Sequence[Sequence[Task]], processes: int
) -> Iterator[Occurrences]:
    """Like ``map``; an interrupt is for this process, which then ends the others."""
    if processes <= 1 or len(pieces) <= 1:
        yield from map(find, pieces)
        return
    context = get_context("spawn")
    workers = min(processes, len(pieces))
    with ProcessPoolExecutor(workers, context, initializer=signal, initargs=(SIGINT, SIG_IGN)) as pool:
        yield from pool.map(find, pieces)


def _pieces(tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks in order, in groups of about :data:`PIECE` keys."""
    pieces: list[list[Task]] = []
    size = PIECE
    for task in tasks:
        if size >= PIECE:
            pieces.append([])
            size = 0
        pieces[-1].append(task)
        size += len(task[2])
    return pieces
