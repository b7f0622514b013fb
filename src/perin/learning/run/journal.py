"""The output of a run: a bar for people, ``log.jsonl`` for programs, TensorBoard and Weights & Biases on request."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from perin.errors import InputError
from perin.files import read_lines, write_text
from perin.learning.run.folder import writing


class Journal:
    """The log of a run; each entry has an ``event``, and most a ``step``.

    When a run is resumed from a checkpoint, entries after its step are dropped, because those steps are made again.
    """

    def __init__(self, folder: Path, *, resumed: int | None = None, services: tuple[str, ...] = ()) -> None:
        self.path = folder / "log.jsonl"
        kept = (
            [] if resumed is None else [entry for entry in read_journal(self.path) if entry.get("step", 0) <= resumed]
        )
        with write_text(self.path) as stream:
            stream.writelines(json.dumps(entry) + "\n" for entry in kept)
        self._stream = self.path.open("a", encoding="utf-8")
        self._services = [_service(name, folder, resumed) for name in services]

    def write(self, event: str, **fields: Any) -> None:
        """Add an entry."""
        entry = {"event": event, "time": round(time.time(), 3), **_finite(fields)}
        with writing(self.path.parent):
            self._stream.write(json.dumps(entry, allow_nan=False) + "\n")
            self._stream.flush()
        for service in self._services:
            service(entry)

    def close(self) -> None:
        """Close the file; what a full disk did not take is lost, and was reported when it was written."""
        with contextlib.suppress(OSError):
            self._stream.close()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """All entries of a ``log.jsonl``; a last line that was cut short when a run was killed is left out."""
    if not path.exists():
        return []
    lines = list(read_lines(path))
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict) and isinstance(entry.get("event"), str) and isinstance(entry.get("step", 0), int):
            entries.append(entry)
        elif number < len(lines):
            raise InputError("no entry of a run's log; remove the line", source=str(path), line=number)
    return entries


def _finite(value: Any) -> Any:
    """The value with null for numbers that are not finite, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def numbers(entry: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """The numbers in an entry under names such as ``losses/eds-eng/labels``.

    >>> dict(numbers({"step": 3, "losses": {"eds-eng": {"labels": 0.5}}}))
    {'step': 3.0, 'losses/eds-eng/labels': 0.5}
    """
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{prefix}{name}/")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield prefix + name, float(value)


class Console:
    """What a run tells people on standard error: messages, and how far it is.

    The latter is a bar on a terminal, and a line now and then where standard error is a file.
    """

    def __init__(self, stream: TextIO | None = None, every: float = 60.0) -> None:
        self.stream = stream or sys.stderr
        self.every = every
        self._bar: tqdm[Any] | None = None
        self._last = -math.inf

    def show(self, step: int, total: int, text: str) -> None:
        """Show how far the run is, and what else there is to know."""
        if self.stream.isatty():
            if self._bar is None:
                self._bar = tqdm(total=total, initial=step - 1, unit="step", dynamic_ncols=True, file=self.stream)
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(step - self._bar.n)
        elif time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            self.say(f"step {step}/{total}  {text}")

    def say(self, text: str) -> None:
        """Print a line that stays, above the bar."""
        tqdm.write(text, file=self.stream)
        self.stream.flush()

    def end(self) -> None:
        """Leave the bar where it is; what others print comes below."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(45), duration(3723)
    ('45s', '1h02m')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def services() -> tuple[str, ...]:
    """The installed services that a journal can also write to."""
    return tuple(name for name in ("tensorboard", "wandb") if importlib.util.find_spec(name) is not None)


def _service(name: str, folder: Path, resumed: int | None) -> Callable[[Mapping[str, Any]], None]:
    if name == "tensorboard":
        module = importlib.import_module("torch.utils.tensorboard")
        again = None if resumed is None else resumed + 1
        writer = module.SummaryWriter(str(folder / "tensorboard"), purge_step=again)

        def scalars(entry: Mapping[str, Any]) -> None:
            for key, value in numbers(entry):
                if key not in ("step", "time"):
                    writer.add_scalar(key, value, entry.get("step", 0))
            writer.flush()

        return scalars
    wandb = importlib.import_module("wandb")
    run = wandb.init(project="perin", name=folder.name, dir=str(folder), resume="allow")

    def log(entry: Mapping[str, Any]) -> None:
        run.log(dict(numbers(entry)), step=entry.get("step", 0))

    return log
