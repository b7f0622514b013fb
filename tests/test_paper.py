"""docs/paper.md points to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

from perin.commands.main import VERBS
from perin.learning import recipes

ROOT = Path(__file__).resolve().parents[1]


def test_every_file_that_the_page_names_is_there():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|benchmarks)/[\w./-]+)`", text))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


SECTIONS = (
    *("Graph Representation", "Overall Architecture", "Permutation-equivariant Model", "Permutation-invariant Loss"),
    *("Anchor Masking", "Minimal Encoding Rule Set", "Space of Relative Rules", "Prediction of Relative Rules"),
    *("Introduction", "Related Work", "Permutation-invariant Graph Generation", "Relative Label Encoding"),
    *("Framework Specifics", "Conclusion"),
    *("Finetuning XLM-R", "Contextual Embedding Extraction", "Finetuning Stabilization", "Balanced Loss Weights"),
    *("AMR", "DRG", "EDS", "PTG", "UCCA", "Results", "Ablation Experiments"),
)


def test_every_section_figure_and_table_of_the_paper_is_there():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert [section for section in SECTIONS if section not in text] == []
    numbered = {f"Figure {number}" for number in range(1, 6)} | {"Equation 1", "Table 1", "Table 4", "Table 5"}
    assert [each for each in sorted(numbered | {"Tables 2 and 3"}) if each not in text] == []


def test_every_recipe_that_the_page_names_is_in_the_box():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    named = set(re.findall(r"perin train ([\w-]+)", text)) | set(re.findall(r"`(ablation-\w+)`", text))
    assert len(named) > 12
    assert sorted(named - {"--explain"} - set(recipes())) == []


def test_every_row_of_the_methods_has_a_command_that_is_there():
    text = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    lines = text.partition("## Methods")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    commands = {section: command for section, _, _, command, _ in rows[1:]}
    assert len(commands) > 25
    for section, cell in commands.items():
        found = re.findall(r"`(perin|python|scripts/test) ([\w./-]+)", cell)
        assert found, f"no command in the row {section}"
        for program, first in found:
            assert first in VERBS if program == "perin" else (ROOT / first).exists(), f"{program} {first}"
