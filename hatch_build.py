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
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/perin/native")
LIBRARY = FOLDER / "libperin.so"

FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC", "-Wno-psabi", "-s")

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
    """Adds the compiled library to wheels; an editable installation has it, for this system, in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build; a library that can't be made is left out, unless a target was asked for."""
        self.place = tempfile.TemporaryDirectory()
        if self.target_name != "wheel":
            return
        editable = version == "editable"
        target = "" if editable else os.environ.get("PERIN_TARGET", "")
        compiler, library = find_compiler(target), Path(self.place.name, LIBRARY.name)
        if compiler is None or not compiled(Path(self.root), library, compiler.command, self.app.display_warning):
            if target:
                raise RuntimeError("PERIN_TARGET was asked for, but its library can't be compiled; see above")
            return
        if editable:
            replace(library, Path(self.root, LIBRARY))
        else:
            build_data["force_include"][str(library)] = LIBRARY.relative_to("src").as_posix()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{compiler.tag}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called after a build."""
        self.place.cleanup()


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


def compiled(root: Path, library: Path, compiler: list[str], warn: Any) -> bool:
    """Compile the sources into a library, and say whether that could be done."""
    sources = map(str, sorted((root / FOLDER).glob("*.c")))
    try:
        command = [*compiler, *FLAGS, *sources, "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        warn(f"{FOLDER} can't be compiled ({error}); parsing will be slower")
        return False
    if done.returncode:
        warn(f"{FOLDER} can't be compiled; parsing will be slower:\n{done.stderr}")
    return done.returncode == 0


def replace(new: Path, old: Path) -> None:
    """Put a file in the place of another at once, for a running process may have it open."""
    beside = old.with_suffix(f".{os.getpid()}")
    try:
        shutil.copyfile(new, beside)
        os.replace(beside, old)
    finally:
        beside.unlink(missing_ok=True)
