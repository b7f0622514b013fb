"""Compiles the package's C code where there is a compiler; without it the package works as well, but parses slower."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/perin/native")
LIBRARY = FOLDER / "libperin.so"


class CompilingHook(BuildHookInterface):
    """Adds the compiled library to wheels, editable ones included."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build; a library that can't be made is left out."""
        if self.target_name != "wheel" or not compiled(Path(self.root), self.app.display_warning):
            return
        build_data["artifacts"].append(f"/{LIBRARY.as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def compiled(root: Path, warn: Any) -> bool:
    """Compile into a file beside the sources, replaced at once, for a running process may have it open."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not sys.platform.startswith(("linux", "darwin")) or compiler is None:
        return False
    library = root / LIBRARY
    unfinished = library.with_suffix(f".{os.getpid()}")
    try:
        sources = map(str, sorted((root / FOLDER).glob("*.c")))
        command = [
            compiler,
            "-O3",
            "-std=c11",
            "-shared",
            "-fPIC",
            "-Wno-psabi",
            *sources,
            "-o",
            str(unfinished),
            "-lm",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            warn(f"{FOLDER} can't be compiled; parsing will be slower:\n{done.stderr}")
            return False
        os.replace(unfinished, library)
    except OSError as error:
        warn(f"{FOLDER} can't be compiled ({error}); parsing will be slower")
        return False
    finally:
        unfinished.unlink(missing_ok=True)
    return True
