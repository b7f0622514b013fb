"""Wheels have the C code where it can be compiled, and builds for other systems leave no trace (``hatch_build.py``)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
pytest.importorskip("editables")

ROOT = Path(__file__).parents[1]
LIBRARY = "perin/native/libperin.so"
ZIG = """
import sys
from pathlib import Path
library = Path(sys.argv[sys.argv.index("-o") + 1])
for path in (library, library.with_suffix(".pdb"), library.with_name("attention.lib")):
    path.write_text("compiled " + " ".join(sys.argv[1:4]))
"""
needs_a_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith(("linux", "darwin")), reason="there is no C compiler"
)


@pytest.fixture
def tree(tmp_path):
    """The package with its C code, but without most of its modules, and with toy models."""
    place = tmp_path / "tree"
    (place / "src/perin").mkdir(parents=True)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "src/perin/__init__.py"):
        shutil.copyfile(ROOT / name, place / name)
    shutil.copytree(
        ROOT / "src/perin/native", place / "src/perin/native", ignore=shutil.ignore_patterns("*.so", "__*__")
    )
    for model in ("eng", "multi"):
        (place / "src/perin/models" / model).mkdir(parents=True)
        (place / "src/perin/models" / model / "config.json").write_text("{}")
    return place


def files(tree: Path) -> list[str]:
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*"))


def build(tree: Path, kind: str, **environment: str) -> Path:
    """The file that is built, outside the tree; ``kind`` is a function of the build backend."""
    output = tree.parent / "built"
    code = f"from hatchling.build import build_{kind} as build; print(build({str(output)!r}))"
    variables = {name: value for name, value in os.environ.items() if name not in ("CC", "PERIN_TARGET")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=tree, env=variables | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return output / done.stdout.splitlines()[-1]


def content(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_without_a_compiler_a_wheel_is_pure_python(tree, kind):
    before = files(tree)
    wheel = build(tree, kind, CC=shutil.which("false") or "/no/compiler")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert LIBRARY not in content(wheel)
    assert files(tree) == before


@needs_a_compiler
def test_a_wheel_has_the_library(tree):
    before = files(tree)
    wheel = build(tree, "wheel")
    assert not wheel.name.endswith("-any.whl")
    assert LIBRARY in content(wheel)
    assert files(tree) == before


@needs_a_compiler
def test_an_editable_installation_has_it_in_the_source_tree(tree):
    before = files(tree)
    wheel = build(tree, "editable")
    assert LIBRARY not in content(wheel)
    assert sorted(set(files(tree)) - set(before)) == [f"src/{LIBRARY}"]


def test_a_build_for_another_system_leaves_the_source_tree_as_it_was(tree):
    (tree / "src" / LIBRARY).write_text("the library of this system")
    before, zig = files(tree), tree.parent / "fake" / "ziglang"
    zig.mkdir(parents=True)
    (zig / "__init__.py").touch()
    (zig / "__main__.py").write_text(ZIG)
    path = os.pathsep.join([str(zig.parent), os.environ.get("PYTHONPATH", "")])
    wheel = build(tree, "wheel", PERIN_TARGET="x86_64-windows", PYTHONPATH=path)
    assert wheel.name.endswith("-py3-none-win_amd64.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(LIBRARY).decode() == "compiled cc -target x86_64-windows-gnu"
    assert not [name for name in content(wheel) if name.endswith((".pdb", ".lib"))]
    assert files(tree) == before
    assert (tree / "src" / LIBRARY).read_text() == "the library of this system"


def test_the_source_distribution_has_one_model(tree):
    with tarfile.open(build(tree, "sdist")) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert [name for name in names if "/models/" in name] == ["src/perin/models/eng/config.json"]
    assert "src/perin/native/linear.c" in names
