"""The notebooks run from the first cell to the last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run_in_order(path, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "notebooks are kept without output"
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
    assert names["result"].f1 > 0.9
    assert "<svg" in names["parser"].parse("The cats walk.")._repr_svg_()


def test_there_is_a_notebook():
    assert NOTEBOOKS
