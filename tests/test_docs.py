"""The documentation: its examples run, its links lead somewhere, and its table of models is that of the cards."""

from __future__ import annotations

import argparse
import gzip
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from perin import graphs
from perin.commands.main import VERBS, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SLOW = "own-treebank"
"""The page whose examples train a model."""
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
_BLOCK = re.compile(r"^( *)```(python|shell)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|^runs/|^ray$")
_LONG = ("train", "serve", "package")
_ELSEWHERE = re.compile(r"^import ray|^from perin\.learning\.run import", re.MULTILINE)
"""Python that needs a Ray cluster or trains for hours."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """The examples of a page that are meant to be run (```python and ```shell): language and text."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(kind, re.sub(f"^{indent}", "", text, flags=re.MULTILINE)) for indent, kind, text in found]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder in which the files that the pages name can be found."""
    pictures = tmp_path / "docs" / "pictures"
    shutil.copytree(DOCS / "pictures", pictures)
    shutil.copytree(ROOT / "examples" / "toy", tmp_path / "examples" / "toy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    samples, system = list(graphs.load(pictures / "samples.mrp")), list(graphs.load(pictures / "system.mrp"))
    for name in ("gold.mrp", "one.mrp"):
        graphs.dump(samples, name)
    graphs.dump([replace(samples[0], id="20001"), *samples[1:]], "dev.mrp")
    for name in ("system.mrp", "two.mrp"):
        graphs.dump(system, name)
    for name, found in (("gold.amr", samples), ("system.amr", system)):
        graphs.dump([graph for graph in found if graph.framework == "amr"], name)
    for name in ("treebank.mrp.gz", "x.mrp.gz"):
        graphs.dump([graph for graph in samples if graph.framework == "eds"], name)
    for name in ("train.mrp.gz", "dev.mrp.gz"):
        shutil.copy(ROOT / "examples" / "toy" / name.removesuffix(".gz"), name)
    Path("folder").mkdir()
    graphs.dump([graph for graph in samples if graph.framework == "ucca"], "folder/1.xml", "ucca")
    for name in ("sentences.txt", "story.txt", "book.txt", "text.txt"):
        Path(name).write_text("Dogs bark.\nIt rains.\n", encoding="utf-8")
    rows = ("1\tDogs\tdog" + "\t_" * 7, "2\tbark\tbark" + "\t_" * 7)
    for name in ("sentences.conllu", "dev.conllu"):
        Path(name).write_text("\n".join(["# sent_id = 1", *rows, "", ""]), encoding="utf-8")
    Path("corpus").mkdir()
    with gzip.open("corpus/part-1.txt.gz", "wt", encoding="utf-8") as file:
        file.write("Dogs bark.\nIt rains.\n")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pytest.importorskip("pyarrow").table({"sentence": ["Dogs bark."]}), "more.parquet")
    Path("corpus.jsonl").write_text('{"sentence": "Dogs bark."}\n', encoding="utf-8")
    return tmp_path


def is_only_checked(line: str) -> bool:
    """Whether a command takes too long, or needs what nobody has here, so that only its arguments are checked."""
    _, verb, *arguments = shlex.split(line, comments=True)
    return verb in _LONG or any(_PLACEHOLDER.search(argument) for argument in arguments)


def run_line(line: str) -> None:
    """Run a command; of those that take long, or that need what nobody has here, the arguments are checked."""
    if re.search("[|<>]", line):
        perin = f"{shlex.quote(sys.executable)} -m perin "
        source = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        subprocess.run(re.sub(r"\bperin ", perin, line), shell=True, check=True, timeout=120, env=source)
        return
    program, verb, *arguments = shlex.split(line, comments=True)
    assert program == "perin", line
    assert verb in VERBS, line
    if is_only_checked(line):
        parser = argparse.ArgumentParser(allow_abbrev=False)
        importlib.import_module(f"perin.commands.{verb.replace('-', '_')}").configure(parser)
        parser.parse_intermixed_args(arguments)
    else:
        assert main([verb, *arguments]) in (0, 1), line


def run_examples(page: Path, run: Callable[[str], None] = run_line) -> int:
    names: dict[str, object] = {"__name__": "__main__"}
    found = blocks(page)
    for kind, text in found:
        if kind == "shell":
            for line in text.replace("\\\n", " ").splitlines():
                run(line)
        else:
            code = compile(text, page.name, "exec")
            if not _ELSEWHERE.search(text):
                exec(code, names)
    return len(found)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, workplace, capsys):
    run_examples(page)


def test_few_examples_are_only_checked():
    """Training and serving (other tests do both), a Ray cluster, and names that stand for the reader's own files."""
    left = [text for page in PAGES for kind, text in blocks(page) if kind == "python" and _ELSEWHERE.search(text)]
    lines = [
        line
        for page in PAGES
        for kind, text in blocks(page)
        if kind == "shell"
        for line in text.replace("\\\n", " ").splitlines()
    ]
    left += [line for line in lines if not re.search("[|<>]", line) and is_only_checked(line)]
    assert len(left) <= 23 < len(lines) / 2, "\n".join(left)


def test_no_example_escapes():
    """What looks like an example is one: commands stand in blocks that are run."""
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(r"^    perin .*", text, flags=re.MULTILINE) == [], page.name


@pytest.mark.slow
def test_the_examples_that_train_run(workplace, capsys):
    def run(line: str) -> None:
        program, *arguments = shlex.split(line, comments=True)
        assert (program, main(arguments)) in (("perin", 0), ("perin", 1)), line

    run_examples(DOCS / f"{SLOW}.md", run)
    assert "_horse_n_1" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name}: {link}"


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
