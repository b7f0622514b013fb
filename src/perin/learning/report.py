"""The report of a run: one HTML file that needs nothing else, for light and dark pages."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from perin.files import write_text
from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.style import page_style_sheet
from perin.graphs.drawing.svg import bare_svg
from perin.learning.charts import DARK_PALETTE, PALETTE, STYLE, line_chart, palette
from perin.learning.corpus import Corpus
from perin.learning.evaluation import TYPES, evaluate
from perin.learning.journal import duration, read_journal
from perin.learning.recipe import Recipe
from perin.learning.schema import as_dict
from perin.parsing.model import Model
from perin.scoring import correspondence, score

WORST = 8
"""Graphs of each treebank that are drawn."""
LARGEST = 40
"""Nodes of the largest graph that is drawn."""
PACKAGES = ("perin", "torch", "transformers", "numpy", "scipy", "safetensors", "accelerate")

_PAGE = """
:root { --page: #ffffff; --text: #1d232b; --muted: #5b6673; --faint: #d9dfe6; --accent: #3b6fb6; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181d; --text: #e4e9ef; --muted: #9aa7b5; --faint: #333c46; --accent: #7fb0f0; }
}
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid var(--faint); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; } th:first-child, td:first-child { text-align: left; }
th { color: var(--muted); font-weight: 600; border-bottom: 1px solid var(--faint); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1.5rem; }
.wide { overflow-x: auto; } pre { overflow-x: auto; } summary { cursor: pointer; color: var(--accent); }
code { font-size: .92em; }
"""


def write_report(path: Path, recipe: Recipe, corpus: Corpus, model: Model) -> None:
    """Write the report of the run whose folder ``path`` is in."""
    entries = read_journal(path.parent / "log.jsonl")
    final = evaluate(model, corpus.dev, budget=recipe.evaluation.budget) if corpus.has_dev else None
    sections = [
        f"<h1>{escape(recipe.name)}</h1><p>{escape(recipe.text)}</p>",
        _summary(entries, corpus, model),
        _section("Scores on dev", _scores(final.scores) if final else "<p>There is no dev data.</p>"),
        _section("Curves", _charts(entries)),
        _section("Rules", "".join(_rules(corpus, name) for name in model.treebanks)),
    ]
    if final is not None:
        for name, graphs in final.graphs.items():
            sections.append(_section(f"Worst graphs of {name}", _worst(corpus.dev[name].graphs, graphs)))
    sections += [
        _section("Problems in the data", _problems(corpus)),
        _section("Recipe", f"<pre>{escape(json.dumps(as_dict(recipe), indent=1))}</pre>"),
        _section("Environment", _table(["", ""], _environment())),
    ]
    with write_text(path) as stream:
        stream.write(_page(recipe.name, "".join(sections)))


def _page(title: str, body: str) -> str:
    dark = f"@media (prefers-color-scheme: dark) {{ {palette(DARK_PALETTE)} }}"
    style = "".join((page_style_sheet(), _PAGE, STYLE, palette(PALETTE), dark))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} – PERIN training report</title><style>{style}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _section(title: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2>{content}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f'<div class="wide"><table><tr>{heading}</tr>{"".join(lines)}</table></div>'


def _summary(entries: Sequence[Mapping[str, Any]], corpus: Corpus, model: Model) -> str:
    last: Mapping[str, Any] = next((entry for entry in reversed(entries) if entry["event"] == "end"), {})
    speeds = [entry["sentences_per_second"] for entry in entries if entry["event"] == "step"]
    weights = sum(weight.numel() for weight in model.network.parameters())
    rows = [
        ("epochs", last.get("epoch", "?")),
        ("optimizer steps", last.get("step", "?")),
        ("time in training steps", duration(last.get("seconds", 0.0))),
        ("sentences per second", f"{speeds[-1]:.1f}" if speeds else "?"),
        ("training sentences", len(corpus.examples)),
        ("best epoch", model.notes.get("epoch", "last")),
        ("weights", f"{weights:,}"),
    ]
    return _table(["", ""], rows)


def _scores(scores: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        [name, *(f"{100 * types[kind]:.2f}" if kind in types else "–" for kind in TYPES)]
        for name, types in scores.items()
    ]
    return _table(["MRP F1", *TYPES], rows)


def _charts(entries: Sequence[Mapping[str, Any]]) -> str:
    steps = [entry for entry in entries if entry["event"] == "step"]
    evaluations = [entry for entry in entries if entry["event"] == "evaluation"]
    charts = []
    for name in sorted({name for entry in steps for name in entry["losses"]}):
        charts.append(line_chart(f"Losses, {name}", _lines(steps, "losses", name)))
        charts.append(line_chart(f"Weights of the losses, {name}", _lines(steps, "weights", name)))
        charts.append(line_chart(f"F1 on dev, {name}", _lines(evaluations, "scores", name, by="epoch"), x="epoch"))
    rates = {kind: [(entry["step"], entry["rates"][kind]) for entry in steps] for kind in ("encoder", "rest")}
    charts.append(line_chart("Learning rates", rates))
    return f'<div class="charts">{"".join(f"<figure>{chart}</figure>" for chart in charts)}</div>'


def _lines(
    entries: Sequence[Mapping[str, Any]], field: str, treebank: str, by: str = "step"
) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        for kind, value in entry[field].get(treebank, {}).items():
            lines.setdefault(kind, []).append((entry[by], value))
    return lines


def _rules(corpus: Corpus, name: str, most: int = 25) -> str:
    """The most frequent rules of a treebank."""
    treebank = next(treebank for treebank in corpus.treebanks if treebank.name == name)
    uses = [0] * (len(treebank.vocabulary.rules) + 1)
    for example in corpus.examples:
        if example.treebank == name:
            for rule in example.target.rule_ids.tolist():
                uses[rule] += 1
    order = sorted(range(1, len(uses)), key=lambda rule: (-uses[rule], rule))[:most]
    rows = [(str(treebank.vocabulary.rules[rule]), uses[rule]) for rule in order]
    title = f"<p>{escape(name)}: {len(treebank.vocabulary.rules)} rules; the most frequent:</p>"
    return title + _table(["rule", "uses"], rows)


def _worst(gold: Sequence[Any], system: Sequence[Any]) -> str:
    """Differences of the graphs with the lowest scores, as far as they can be looked at."""
    scored = [
        (score([wanted], [found]).total.tallies["all"].f1, number)
        for number, (wanted, found) in enumerate(zip(gold, system, strict=True))
        if len(wanted) <= LARGEST
    ]
    parts = []
    for f1, number in sorted(scored)[:WORST]:
        wanted, found = gold[number], system[number]
        picture = bare_svg(diff_sketch(wanted, found, correspondence(wanted, found)))
        title = f"{wanted.id} (F1 {100 * f1:.1f}): {wanted.input or ''}"
        parts.append(f'<details><summary>{escape(title)}</summary><div class="wide">{picture}</div></details>')
    return f"<p>Missing items are red, surplus ones blue.</p>{''.join(parts)}"


def _problems(corpus: Corpus) -> str:
    if not corpus.problems:
        return "<p>None.</p>"
    rows = [(problem.treebank, problem.graph, problem.what) for problem in corpus.problems]
    table = _table(["treebank", "graph", "what"], rows)
    return f"<details><summary>{len(rows)} graphs were not learned from, or only in part</summary>{table}</details>"


def _environment() -> list[tuple[str, str]]:
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]
