"""The documentation: its examples run, its links lead somewhere, and its table of models is that of the cards."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perin.commands.main import VERBS, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SLOW = {"own-treebank.md"}
"""Pages whose examples train a model."""
PAGES = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("index", "choose", "reading", "compare", "troubleshooting")),
]
_BLOCK = re.compile(r"^( *)```(python|shell)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """The examples of a page that are meant to be run: language and text."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(kind, re.sub(f"^{indent}", "", text, flags=re.MULTILINE)) for indent, kind, text in found]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder in which the files that the pages name can be found."""
    (tmp_path / "docs").mkdir()
    shutil.copytree(DOCS / "pictures", tmp_path / "docs" / "pictures")
    shutil.copytree(ROOT / "examples" / "toy", tmp_path / "examples" / "toy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run_examples(page: Path) -> int:
    names: dict[str, object] = {"__name__": "__main__"}
    found = blocks(page)
    for kind, text in found:
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line, comments=True)
            assert program == "perin", line
            assert main(arguments) in (0, 1), line
    return len(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, workplace, capsys):
    assert run_examples(page) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SLOW))
def test_the_examples_that_train_run(name, workplace, capsys):
    assert run_examples(DOCS / name) > 0
    assert "_horse_n_1" in capsys.readouterr().out


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_verbs_that_pages_name_exist(page):
    for verb in re.findall(r"^(?:    )?perin ([a-z-]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        assert verb in VERBS, f"{page.name}: perin {verb}"


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    pages = {path.stem for path in DOCS.glob("*.md")}
    assert pages <= {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert "parse_file" in (tmp_path / "site" / "api.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert listed == {path.name for path in DOCS.glob("*.md")}


def test_the_readme_has_the_table_of_the_cards_and_is_short(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert main(["models", "--markdown"]) == 0
    assert capsys.readouterr().out.strip() in readme
    assert len(readme.splitlines()) < 120
