"""The folder of a run: who owns it, which recipe and data it belongs to, and its checkpoints.

A run is resumed only by the recipe that began it and on the data that it has seen: anything else would mix two runs.
One training at a time works in a folder; the lock is the operating system's, so that a killed process leaves none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from perin.errors import InputError, ModelError, UsageError, one_line
from perin.files import point, pointed, read_text, sweep, whole_folder, write_text
from perin.learning import Recipe, recipe_files
from perin.learning.data import Corpus
from perin.learning.objective.balance import Balance
from perin.learning.run.optimisation import MovingAverage, Optimisation
from perin.learning.schema import as_dict, build
from perin.network.network import Network

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

RECIPE, DATA, LOCK = "recipe.json", "data.json", "lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run's folder, which is made where there is none, against other trainings.

    A folder that no recipe has been written to by the end is left as it was found.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        stream = (folder / LOCK).open("a", encoding="utf-8")
    with stream:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another training runs in {folder}; wait for its end or choose another folder (--output)"
                ) from None
            except OSError:  # a file system without locks
                pass
        try:
            yield
        finally:
            if not (folder / RECIPE).exists():
                (folder / LOCK).unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    for path in missing:
                        path.rmdir()


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn errors of writing, such as a full disk, into a message that says what to do."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise UsageError(
            f"can't write to {folder} ({error}); the checkpoints there are whole: make room, then --resume"
        ) from None


def check_recipe(folder: Path, recipe: Recipe, *, resume: bool) -> None:
    """See that the folder holds no run, or the one to be resumed."""
    path = folder / RECIPE
    if not path.exists():
        return
    if not resume:
        raise UsageError(f"{folder} holds a run; resume it (--resume) or choose another folder (--output)")
    try:
        before = as_dict(build(Recipe, _read(path)))
    except UsageError as error:
        raise InputError(f"not the recipe of a run: {error}; start a new run", source=str(path)) from None
    changed = sorted(_differences(before, as_dict(recipe)))
    if changed:
        raise UsageError(f"{folder} holds a run of another recipe ({', '.join(changed)} differ); use that one")


def claim(folder: Path, recipe: Recipe, corpus: Corpus) -> None:
    """Make the folder this run's; one that holds it already must have seen the same data."""
    found = fingerprint(recipe, corpus)
    path = folder / DATA
    if path.exists():
        known = _read(path)
        changed = [name for name in {**found, **known} if found.get(name) != known.get(name)]
        if changed:
            raise UsageError(
                f"the data of the run in {folder} have changed since it began: {', '.join(changed)}; "
                "put them back to resume it, or begin a new run (--output)"
            )
    with writing(folder):
        for name, content in ((DATA, found), (RECIPE, as_dict(recipe))):
            with write_text(folder / name) as stream:
                stream.write(json.dumps(content, indent=1) + "\n")


def fingerprint(recipe: Recipe, corpus: Corpus) -> dict[str, str]:
    """A hash of each file that a run reads, and of what was learned from them: classes, rules, number of examples.

    The latter also changes with the code, for instance after an update of this package.
    """
    found = {name: _digest(recipe.path(name).read_bytes()) for name in recipe_files(recipe)}
    for treebank in corpus.treebanks:
        examples = sum(example.treebank == treebank.name for example in corpus.examples)
        learned = json.dumps([treebank.vocabulary.to_json(), examples], sort_keys=True)
        found[f"vocabulary of {treebank.name}"] = _digest(learned.encode())
    return found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InputError("no JSON object; start a new run in another folder", source=str(path))
    return data


def _differences(before: Any, wanted: Any, where: str = "") -> Iterator[str]:
    """The keys of settings that differ."""
    if isinstance(before, list) and isinstance(wanted, list) and len(before) == len(wanted):
        before, wanted = dict(enumerate(before)), dict(enumerate(wanted))
    if isinstance(before, Mapping) and isinstance(wanted, Mapping):
        for key in wanted:
            yield from _differences(before.get(key), wanted[key], f"{where}.{key}" if where else str(key))
    elif before != wanted:
        yield where


# The state of a run: all that is needed to resume it as if it had never stopped.  Random numbers need no state of their
# own: dropout is seeded again at each step, and batches depend on seed and epoch.


PREFIX = "state-"
POINTER = "state.json"


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0
    """Complete epochs."""
    updates: int = 0
    """Optimizer steps made in the epoch after these."""
    step: int = 0
    """Optimizer steps made in all."""
    sentences: int = 0
    """Sentences seen in all."""
    seconds: float = 0.0
    """Time spent in training, evaluation left out."""
    best: float = -1.0
    """The best dev score so far."""
    best_epoch: int = 0
    stale: int = 0
    """Evaluations since then."""


@dataclass
class State:
    """What changes in a run."""

    network: Network
    optimisation: Optimisation
    average: MovingAverage
    balances: Mapping[str, Balance]
    progress: Progress

    def save(self, folder: Path) -> None:
        """Write a checkpoint into a run's folder; once it is safe on disk, all but the last two are removed."""
        target = folder / f"{PREFIX}{self.progress.step:08}-{self.progress.epoch:04}"
        if target.exists():
            return
        with writing(folder), whole_folder(target) as files:
            trained = {name: weight for name, weight in self.network.named_parameters() if weight.requires_grad}
            save_file(
                {name: weight.detach().contiguous() for name, weight in trained.items()}, files / "weights.safetensors"
            )
            save_file(self.optimisation.state(), files / "optimizer.safetensors")
            save_file(self.average.state(), files / "average.safetensors")
            balances = {name: balance.rule.state_dict() for name, balance in self.balances.items()}
            data = {"progress": asdict(self.progress), "balances": balances}
            (files / "progress.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
        before = pointed(folder / POINTER)
        with writing(folder):
            point(folder / POINTER, target, step=self.progress.step)
        sweep(folder, PREFIX, {target} if before is None else {target, before})

    def restore(self, folder: Path) -> bool:
        """Go back to a run's last checkpoint; False if there is none.  Nothing is removed here."""
        files = pointed(folder / POINTER)
        if files is None:
            return False
        if not files.is_dir():
            others = sorted(path.name for path in folder.glob(f"{PREFIX}*"))
            there = f"; {', '.join(others)} is there: name it in {POINTER}" if others else "; start a new run"
            raise ModelError(f"{folder / POINTER} names {files.name}, which is not there{there}")
        try:
            data: dict[str, Any] = json.loads((files / "progress.json").read_text(encoding="utf-8"))
            weights = load_file(files / "weights.safetensors")
            moments = load_file(files / "optimizer.safetensors")
            averages = load_file(files / "average.safetensors")
            self._restore(data, weights, moments, averages)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
            raise ModelError(
                f"the checkpoint {files} can't be used ({type(error).__name__}: {one_line(str(error))[:200]}); "
                f"name an older one in {POINTER}, or start a new run"
            ) from None
        return True

    @torch.no_grad()
    def _restore(
        self, data: dict[str, Any], weights: dict[str, Tensor], moments: dict[str, Tensor], averages: dict[str, Tensor]
    ) -> None:
        progress = Progress(**data["progress"])
        for name, value in vars(progress).items():
            if type(value) is not type(getattr(self.progress, name)) or not math.isfinite(value):
                raise ValueError(f"progress.json: {name} is {value!r}")
        for name, weight in self.network.named_parameters():
            if weight.requires_grad:
                weight.copy_(weights[name])
        self.optimisation.load_state(moments)
        self.average.load_state(averages)
        for name, balance in self.balances.items():
            balance.rule.load_state_dict(data["balances"][name])
        vars(self.progress).update(vars(progress))
