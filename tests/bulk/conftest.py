"""Small corpora, and a parser that needs no model."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def fake(monkeypatch):
    """The module of the fake parser, which other processes can import too."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{HERE.parents[1] / 'src'}")
    spec = importlib.util.spec_from_file_location("fake_parser", HERE / "fake_parser.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fake_parser", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def corpus(tmp_path):
    """Writes text files, gzipped if their names say so, and returns their paths."""

    def write(**files):
        (tmp_path / "in").mkdir(exist_ok=True)
        paths = []
        for name, lines in files.items():
            path = tmp_path / "in" / name.replace("_", ".")
            content = "".join(f"{line}\n" for line in lines).encode()
            path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
            paths.append(str(path))
        return paths

    return write


@pytest.fixture
def joined():
    """What all shards of a folder hold, one after the other."""
    return lambda folder, suffix=".mrp": b"".join(path.read_bytes() for path in sorted(folder.glob(f"*{suffix}")))
