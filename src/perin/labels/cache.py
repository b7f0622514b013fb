"""Learned rule sets on disk, by the content that they were learned from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import perin
from perin.errors import InputError, UsageError
from perin.files import read_text, write_text
from perin.labels.keys import Keys
from perin.labels.space import RuleSpace

Result = TypeVar("Result")

VERSION = 1
"""To be raised when the same input would give another result."""


class Place:
    """The place of one result in a folder of results, named after a hash of all that the result depends on.

    A file appears only when it is complete, so that an interrupted run leaves nothing behind.
    """

    def __init__(self, folder: str | os.PathLike[str], keys: Keys, space: RuleSpace, node_limit: int) -> None:
        content = hashlib.sha256(json.dumps([perin.__version__, VERSION, node_limit, space.to_json()]).encode())
        for key, spellings in zip(keys.keys, keys.spellings, strict=True):
            content.update(json.dumps([*key, sorted(spellings.items())]).encode())
        self.path = Path(folder) / f"rules-{content.hexdigest()[:32]}.json"

    def load(self, decode: Callable[[Any], Result]) -> Result | None:
        """The result that is kept, or None; a file that is damaged counts as missing."""
        if not self.path.exists():
            return None
        try:
            return decode(json.loads(read_text(self.path)))
        except (ValueError, InputError):
            return None

    def store(self, data: Any) -> None:
        """Keep a result."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"can't make the folder {self.path.parent} for the cache: {error.strerror}") from None
        with write_text(self.path) as stream:
            json.dump(data, stream)
