"""Folders that appear whole or not at all, and pointers to the current one.

A checkpoint is a folder of several files.  It is written under a temporary name, flushed to disk and renamed; then a
small pointer file is replaced.  Whenever the process is killed, the pointer names a complete folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from perin.files import write_text


@contextlib.contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to fill; it gets its name, which must be free, when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield temporary
        for path in temporary.rglob("*"):
            _flush(path)
        _flush(temporary)
        temporary.chmod(0o755)
        if target.exists():
            raise FileExistsError(target)
        temporary.rename(target)
        _flush(target.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def point(pointer: Path, target: Path, **notes: object) -> None:
    """Make a pointer file name a folder beside it, with notes."""
    with write_text(pointer) as stream:
        json.dump({"folder": target.name, **notes}, stream)


def pointed(pointer: Path) -> Path | None:
    """The folder that a pointer names, or None if there is no pointer."""
    if not pointer.exists():
        return None
    return pointer.parent / str(json.loads(pointer.read_text(encoding="utf-8"))["folder"])


def sweep(parent: Path, prefix: str, keep: set[Path]) -> None:
    """Remove the folders of a prefix that are not to be kept, and what interrupted runs left half written."""
    for path in parent.iterdir():
        stale = path.name.startswith(prefix) and path not in keep
        if path.is_dir() and (stale or path.name.startswith(f".{prefix}")):
            shutil.rmtree(path, ignore_errors=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
