"""The search for occurrences, on several processes if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tqdm import tqdm

from perin.labels.occurrences import Occurrences, Task, find_occurrences, merged

PIECE = 2_000
"""About this many keys are searched at a time."""


def search(tasks: Sequence[Task], separators: Sequence[str], *, processes: int, progress: bool) -> Occurrences:
    """All occurrences that the tasks ask for; the order does not depend on the number of processes."""
    pieces = _pieces(tasks)
    find = partial(find_occurrences, separators=separators)
    bar = tqdm(total=len(pieces), desc="rules", unit="piece", disable=not progress, leave=False)
    found = []
    with bar:
        if processes <= 1 or len(pieces) <= 1:
            for piece in pieces:
                found.append(find(piece))
                bar.update()
        else:
            with ProcessPoolExecutor(min(processes, len(pieces)), mp_context=get_context("spawn")) as pool:
                for part in pool.map(find, pieces):
                    found.append(part)
                    bar.update()
    return merged(found or [find(())])


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
