"""Compiles the package's C code where there is a compiler; without it the package works as well, but parses slower.

PERIN_TARGET compiles for another system, by the compiler in the package ziglang (pip install ziglang), and names the
wheel so that PyPI accepts it: PERIN_TARGET=x86_64-linux pip wheel . --no-deps.  The targets are those of TARGETS.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/perin/native")
LIBRARY = FOLDER / "libperin.so"

FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC", "-Wno-psabi")

TARGETS = {
    "x86_64-linux": ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "aarch64-linux": ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "x86_64-macos": ("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "aarch64-macos": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
    "x86_64-windows": ("x86_64-windows-gnu", "win_amd64"),
}
"""Systems that wheels can be made for: what the compiler calls them, and the tag of the wheel."""


class Compiler(NamedTuple):
    """The beginning of a command that compiles, and the tag of a wheel with the result."""

    command: list[str]
    tag: str


class CompilingHook(BuildHookInterface):
    """Adds the compiled library to wheels, editable ones included."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build; a library that can't be made is left out, unless a target was asked for."""
        if self.target_name != "wheel":
            return
        compiler = find_compiler(os.environ.get("PERIN_TARGET", ""))
        if compiler is None or not compiled(Path(self.root), compiler.command, self.app.display_warning):
            if os.environ.get("PERIN_TARGET"):
                raise RuntimeError("PERIN_TARGET was asked for, but its library can't be compiled; see above")
            return
        build_data["artifacts"].append(f"/{LIBRARY.as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{compiler.tag}"


def find_compiler(target: str) -> Compiler | None:
    """The compiler for a target, or for this system."""
    if target:
        if target not in TARGETS:
            raise ValueError(f"PERIN_TARGET can't be {target!r}; known are {', '.join(TARGETS)}")
        name, tag = TARGETS[target]
        return Compiler([sys.executable, "-m", "ziglang", "cc", "-target", name], tag)
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or not sys.platform.startswith(("linux", "darwin")):
        return None
    return Compiler([compiler], sysconfig.get_platform().replace("-", "_").replace(".", "_"))


def compiled(root: Path, compiler: list[str], warn: Any, flags: tuple[str, ...] = FLAGS) -> bool:
    """Compile into a file beside the sources, replaced at once, for a running process may have it open."""
    library = root / LIBRARY
    unfinished = library.with_suffix(f".{os.getpid()}")
    sources = map(str, sorted((root / FOLDER).glob("*.c")))
    try:
        command = [*compiler, *flags, *sources, "-o", str(unfinished), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            warn(f"{FOLDER} can't be compiled; parsing will be slower:\n{done.stderr}")
            return False
        os.replace(unfinished, library)
    except OSError as error:
        warn(f"{FOLDER} can't be compiled ({error}); parsing will be slower")
        return False
    finally:
        for leftover in unfinished.parent.glob(f"{unfinished.stem}.{os.getpid()}*"):
            leftover.unlink(missing_ok=True)
    return True
