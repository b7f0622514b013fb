"""What a run tells: a live line for people, ``log.jsonl`` for programs, TensorBoard and Weights & Biases on request."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from perin.errors import InputError
from perin.files import write_text


class Journal:
    """The log of a run; each entry has an ``event``, and most a ``step``.

    When a run goes on from a checkpoint, entries after its step are dropped, because those steps are made again.
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
        entry = {"event": event, "time": round(time.time(), 3), **fields}
        self._stream.write(json.dumps(entry) + "\n")
        self._stream.flush()
        for service in self._services:
            service(entry)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """All entries of a ``log.jsonl``; a last line that was cut short when a run was killed is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(json.loads(line))
        except ValueError:
            if number < len(lines):
                raise InputError("no valid JSON", source=str(path), line=number) from None
    return entries


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


class LiveLine:
    """A line on a terminal that is written over again and again, or a few where it is long; else a line now and then.

    Two spaces set the parts of a text apart; a line ends between parts, so that no terminal has to break it.
    """

    def __init__(self, stream: TextIO | None = None, every: float = 60.0) -> None:
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.every = 0.2 if self.terminal else every
        self._last = -math.inf
        self._lines = 0

    def show(self, text: str) -> None:
        """Show the state of things, if it is time to."""
        now = time.monotonic()
        if now - self._last < self.every:
            return
        self._last = now
        if self.terminal:
            lines = laid_out(text, shutil.get_terminal_size().columns - 1)
            self._erase()
            self.stream.write("\n".join(lines))
            self._lines = len(lines)
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._erase()
        self.stream.write(text + "\n")
        self.stream.flush()

    def end(self) -> None:
        """Leave what is shown where it is; what others print comes below."""
        if self._lines:
            self.stream.write("\n")
            self.stream.flush()
            self._lines = 0

    def _erase(self) -> None:
        if self._lines:
            up = f"\x1b[{self._lines - 1}A" if self._lines > 1 else ""
            self.stream.write(f"\r{up}\x1b[J")
            self._lines = 0


def laid_out(text: str, width: int) -> list[str]:
    """The parts of a text, which two spaces set apart, in lines of at most a width.

    >>> laid_out("epoch 1  step 3/70  labels 0.81", 20)
    ['epoch 1  step 3/70', 'labels 0.81']
    """
    lines: list[str] = []
    for part in text.split("  "):
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += "  " + part
        else:
            lines.append(part[:width])
    return lines


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
