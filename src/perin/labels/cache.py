"""Learned rule sets on disk, by the content that they were learned from."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from perin.errors import UsageError
from perin.files import read_text, write_text
from perin.labels.keys import Keys
from perin.labels.space import RuleSpace

VERSION = 1
"""To be raised when the same input would give another result."""


class Cache:
    """The place of one result in a folder of results; without a folder nothing is kept.

    A file appears only when it is complete, so that an interrupted run leaves nothing behind.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, keys: Keys, space: RuleSpace, nodes: int) -> None:
        self.path: Path | None = None
        if folder is not None:
            content = hashlib.sha256(json.dumps([VERSION, nodes, space.to_json()]).encode())
            for key, spellings in zip(keys.keys, keys.spellings, strict=True):
                content.update(json.dumps([*key, sorted(spellings.items())]).encode())
            self.path = Path(folder) / f"rules-{content.hexdigest()[:32]}.json"

    def load(self) -> Any:
        """What is kept, or None; a file that is damaged counts as missing."""
        if self.path is None or not self.path.exists():
            return None
        try:
            return json.loads(read_text(self.path))
        except ValueError:
            return None

    def store(self, data: Any) -> None:
        """Keep a result."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"can't make the folder {self.path.parent} for the cache: {error.strerror}") from None
        with write_text(self.path) as stream:
            json.dump(data, stream, ensure_ascii=True)
