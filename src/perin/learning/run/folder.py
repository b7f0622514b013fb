"""The folder of a run: who owns it, which recipe and which data it belongs to.

A run is resumed only by the recipe that began it and on the data that it has seen: anything else would mix two runs.
One training at a time works in a folder; the lock is the operating system's, so that a killed process leaves none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from perin.errors import InputError, UsageError
from perin.files import read_text, write_text
from perin.learning.data.corpus import Corpus
from perin.learning.recipe import Recipe, recipe_files
from perin.learning.schema import as_dict, build

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
