"""The product in eight bits as it is compiled for other processors than this one, against a plain loop in C."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perin.native import LIBRARY

PROGRAM = Path(__file__).with_name("products.c")
FLAGS = ["-O2", "-std=c11", "-Wno-psabi", "-I", str(LIBRARY.parent)]
CROSS = [sys.executable, "-m", "ziglang", "cc", "-static", "-target", "aarch64-linux-musl"]


def run(place: Path, compiler: list[str], emulator: list[str] | None = None) -> None:
    program = str(place / "products")
    command = [*compiler, *FLAGS, str(PROGRAM), str(LIBRARY.parent / "linear.c"), "-o", program, "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([*(emulator or []), program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"\d+ equal\n", done.stdout)


@pytest.mark.parametrize("flags", [[], ["-DPLAIN_C"]], ids=["this one", "plain C"])
def test_this_processor(tmp_path, flags):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    run(tmp_path, [compiler, *flags])


@pytest.mark.slow
@pytest.mark.parametrize("features", ["generic", "generic+dotprod"])
def test_arm(tmp_path, features):
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None or importlib.util.find_spec("ziglang") is None:
        pytest.skip("needs qemu-aarch64 and ziglang")
    run(tmp_path, [*CROSS, f"-mcpu={features}"], [emulator, "-cpu", "max"])
