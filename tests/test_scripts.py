"""The shell scripts of a clone, without installing anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["perin", "test"])
def test_scripts_work_through_a_symbolic_link(name, tmp_path):
    """They find the clone and stop at the Python that is not there, before anything is installed."""
    link = tmp_path / "link"
    link.symlink_to(ROOT / "scripts" / name)
    environment = {**os.environ, "PERIN_VENV": str(tmp_path / "venv"), "PYTHON": "no-such-python"}
    done = subprocess.run(["bash", link], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no no-such-python found" in done.stderr
