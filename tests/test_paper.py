"""docs/paper.md points to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_file_that_the_page_names_is_there():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|benchmarks)/[\w./-]+)`", text))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
