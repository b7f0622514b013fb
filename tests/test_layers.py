"""Imports point left: the rooms of the house and what each may use, as docs/architecture.md draws them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "perin"


def table_of_rooms() -> dict[str, set[str]]:
    """What each room may import, from the first table of docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms: dict[str, set[str]] = {}
    for name, allowed in re.findall(r"^\| `(\w+)` \| (.+?) \|", text.partition("\n## ")[0], flags=re.MULTILINE):
        everything_above = allowed.startswith(("all above", "everything"))
        rooms[name] = set(rooms) if everything_above else set(re.findall(r"`(\w+)`", allowed))
    return rooms


ROOMS = table_of_rooms()
EVERYWHERE = {"errors", "files", "lazy"}
BUILT_ON_TORCH = {"transformers", "safetensors"}
NEURAL_ROOMS = {"network", "model", "parsing", "learning"}
WITHOUT_TORCH = {"native", "inference"}
STARTS_FAST = {"torch", "transformers", "scipy", "numpy"}


class Import(NamedTuple):
    """An import statement; ``deferred``: inside a function or for type checks, so not run when the file is imported."""

    module: str
    line: int
    deferred: bool


def imports(tree: ast.AST, package: str, deferred: bool = False) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        inner = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or _for_types(node)
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, deferred) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: -node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield Import(module, node.lineno, deferred)
            yield from (Import(f"{module}.{alias.name}", node.lineno, deferred) for alias in node.names)
        else:
            yield from imports(node, package, inner)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@cache
def found(path: Path) -> list[Import]:
    package = ".".join(("perin", *path.relative_to(SOURCE).with_suffix("").parts))
    return list(imports(ast.parse(path.read_text(encoding="utf-8")), package))


FILES = sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def rooms_used(path: Path) -> dict[str, int]:
    """The rooms that a file imports, each with a line."""
    parts = ((item.module.split("."), item.line) for item in found(path))
    return {module[1]: line for module, line in parts if module[0] == "perin" and len(module) > 1}


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_the_picture_shows_every_room_and_imports_point_left_in_it():
    assert {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()} == set(ROOMS)
    assert ROOMS["graphs"] == ROOMS["contract"] == set()
    assert ROOMS["network"] == {"contract", "native"}
    assert ROOMS["scoring"] == {"graphs"}
    seen: set[str] = set()
    for name, allowed in ROOMS.items():
        assert allowed <= seen
        seen.add(name)


@pytest.mark.parametrize("path", [path for path in FILES if room(path) in ROOMS], ids=named)
def test_imports_point_left(path):
    own = room(path)
    allowed = ROOMS[own] | EVERYWHERE | {own}
    wrong = {name: line for name, line in rooms_used(path).items() if name not in allowed}
    assert not wrong, f"{named(path)} of the room {own} imports {wrong}"


@pytest.mark.parametrize("path", [path for path in FILES if room(path) not in NEURAL_ROOMS], ids=named)
def test_torch_stays_in_its_rooms(path):
    """Elsewhere only commands name it, inside functions; packages built on it wait inside functions everywhere."""
    outside = [
        item
        for item in found(path)
        if (item.module.partition(".")[0] == "torch" and not (item.deferred and room(path) == "commands"))
        or (item.module.partition(".")[0] in BUILT_ON_TORCH and not item.deferred)
    ]
    assert not outside, f"{named(path)} imports {outside}"


def module_file(name: str) -> Path | None:
    stem = SOURCE.joinpath(*name.split(".")[1:])
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def reached(path: Path) -> Iterator[tuple[Path, Import]]:
    """All imports that run when a file is imported, here and in the files of ours that it imports."""
    waiting, seen = [path], {path}
    while waiting:
        current = waiting.pop()
        for item in found(current):
            if item.deferred:
                continue
            yield current, item
            parents = [item.module.rsplit(".", cut)[0] for cut in range(item.module.count("."))]
            for name in [item.module, *parents]:
                file = module_file(name) if name.split(".")[0] == "perin" else None
                if file is not None and file not in seen:
                    seen.add(file)
                    waiting.append(file)


@pytest.mark.parametrize("path", [path for path in FILES if room(path) in ("commands", "graphs")], ids=named)
def test_commands_and_graphs_start_without_heavy_packages(path):
    heavy = [(named(at), item) for at, item in reached(path) if item.module.partition(".")[0] in STARTS_FAST]
    assert not heavy, f"importing {named(path)} runs {heavy}"


@pytest.mark.parametrize("path", [path for path in FILES if room(path) in WITHOUT_TORCH], ids=named)
def test_inference_reaches_no_torch(path):
    heavy = [
        (named(at), item) for at, item in reached(path) if item.module.partition(".")[0] in {"torch", "transformers"}
    ]
    assert not heavy, f"importing {named(path)} runs {heavy}"


def test_the_test_would_notice():
    source = "import torch\nif TYPE_CHECKING:\n    import scipy\ndef run():\n    from ..learning import x\n"
    seen = {item.module: item.deferred for item in imports(ast.parse(source), "perin.graphs.graph")}
    assert seen == {"torch": False, "scipy": True, "perin.learning": True, "perin.learning.x": True}


def walks() -> list[tuple[str, str]]:
    """The steps of the walks through the house: file and function or class."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \d+ \| `([\w/]+\.py)` \| `([\w.]+)` \|", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), walks(), ids=lambda part: part)
def test_walks_lead_through_what_is_there(file, name):
    body: list[ast.stmt] = ast.parse((SOURCE / file).read_text(encoding="utf-8")).body
    for part in name.split("."):
        found = [each for each in body if getattr(each, "name", None) == part]
        assert found, f"docs/architecture.md: there is no {name} in {file}"
        body = getattr(found[0], "body", [])


def test_there_are_two_walks():
    assert len(walks()) > 40
