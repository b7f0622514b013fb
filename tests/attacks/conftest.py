"""Runs the command line under limits of memory and processor time, so that no test depends on a clock."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
GIGABYTE = 2**30

Perin = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def limited(tmp_path: Path) -> Perin:
    """``limited(*arguments, gigabytes=…, seconds=…)``: run perin with so much address space and processor time."""

    def run(
        *arguments: object, gigabytes: float = 2.0, seconds: int = 60, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * GIGABYTE),) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

        variables = {**os.environ, "PYTHONPATH": str(SOURCES), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command: Sequence[str] = [sys.executable, "-P", "-m", "perin", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**variables, **(environment or {})},
            capture_output=True,
            text=True,
            preexec_fn=limits,
            timeout=600,
        )

    return run
