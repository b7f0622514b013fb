"""The service keeps to its own description, whatever is sent: fuzzed by schemathesis from ``/openapi.json``."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("schemathesis", reason="fuzzing by the description of the service: pip install schemathesis")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_answers_are_those_that_the_description_announces(served, tmp_path):
    """Bodies that fit the description may still be refused: no schema tells what a graph is."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{served.url}/openapi.json", "--seed", "1"]
    command += ["--exclude-checks", "positive_data_acceptance", "--max-examples", "40", "--request-timeout", "60"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert "13 selected / 13 total" in done.stdout
