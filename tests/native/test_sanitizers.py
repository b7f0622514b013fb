"""The C code under the address and undefined-behaviour sanitizers: the tests of its operations run again in a child."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perin.native import LIBRARY

ROOT = Path(__file__).parents[2]
FLAGS = ["-O1", "-g", "-std=c11", "-shared", "-fPIC", "-Wno-psabi", "-fno-omit-frame-pointer"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
CHILD = """
import sys
from pathlib import Path
import perin.native
perin.native.LIBRARY = Path(sys.argv[1])
perin.native.library.cache_clear()
assert perin.native.library() is not None
import pytest
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[2:]]))
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The library with sanitizers, and what has to be loaded before Python."""
    compiler = shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs gcc on Linux")
    library = tmp_path_factory.mktemp("native") / LIBRARY.name
    sources = map(str, sorted(LIBRARY.parent.glob("*.c")))
    done = subprocess.run(
        [compiler, *FLAGS, *SANITIZERS, *sources, "-o", library, "-lm"], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no sanitizers here: {done.stderr.splitlines()[-1]}")
    found = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return library, found.stdout.strip()


def run(checked, code, *arguments):
    library, first = checked
    environment = {
        **os.environ,
        "LD_PRELOAD": first,
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaks
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", code, library, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT
    )


@pytest.mark.slow
def test_operations_read_and_write_only_what_is_theirs(checked):
    done = run(checked, CHILD, "tests/inference")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.slow
def test_the_sanitizer_would_notice(checked):
    child = """
import ctypes, sys
import numpy as np
library = ctypes.CDLL(sys.argv[1])
library.run.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int64]
x = np.zeros(4, dtype=np.float32)
y = np.zeros(4, dtype=np.float32)
step = np.zeros((1, 12), dtype=np.int64)
step[0, :5] = 8, x.ctypes.data, y.ctypes.data, 4000, x.ctypes.data  # "add", of a thousand times as many numbers
library.run(0, step.ctypes.data, 1)
"""
    done = run(checked, child)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
