"""The report of a run: one HTML file that needs nothing else, for light and dark pages."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import perin
from perin.files import write_text
from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.svg import bare_svg, page_style_sheet
from perin.graphs.graph import Graph
from perin.learning.data.corpus import Corpus, problem_counts
from perin.learning.recipe import Recipe
from perin.learning.run.charts import DARK_PALETTE, PALETTE, STYLE, line_chart, palette
from perin.learning.run.evaluation import Evaluation
from perin.learning.run.journal import duration, read_journal
from perin.learning.schema import as_dict, as_toml, explain, value_text
from perin.model.model import Model
from perin.parsing.evaluation import TYPES
from perin.scoring import Result

WORST = 8
"""Graphs of each treebank that are drawn."""
LARGEST = 40
"""Nodes of the largest graph that is drawn."""
PACKAGES = ("torch", "transformers", "numpy", "scipy", "safetensors", "accelerate")

_PAGE = """
:root { --page: #ffffff; --text: #1d232b; --muted: #5b6673; --faint: #d9dfe6; --accent: #3b6fb6; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181d; --text: #e4e9ef; --muted: #9aa7b5; --faint: #333c46; --accent: #7fb0f0; }
}
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h1 + p { color: var(--muted); margin-top: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid var(--faint); }
h3 { font-size: 1rem; margin-bottom: .3rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } .texts th, .texts td { text-align: left; }
th { color: var(--muted); font-weight: 600; border-bottom: 1px solid var(--faint); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: .8rem; }
dt { color: var(--muted); font-size: .85rem; } dd { margin: 0; font-size: 1.25rem; }
figure { margin: 0; } .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
  gap: 1.5rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 2rem; }
.columns table { width: 100%; } .columns td { white-space: nowrap; }
.wide { overflow-x: auto; } pre { overflow-x: auto; } summary { cursor: pointer; color: var(--accent); }
details { margin: .3rem 0; } code, .columns td:first-child { font: .87em ui-monospace, monospace; }
"""


def write_report(path: Path, recipe: Recipe, corpus: Corpus, model: Model, found: Evaluation | None) -> None:
    """Write the report of the run whose folder ``path`` is in; ``found`` is how the model does on dev."""
    entries = read_journal(path.parent / "log.jsonl")
    sections = [
        f"<h1>{escape(recipe.name)}</h1><p>{escape(recipe.text)}</p>",
        _summary(entries, corpus, model, found),
        _section("Scores on dev", _scores(found.scores) if found else "<p>There is no dev data.</p>"),
        _section("Curves", _charts(entries)),
    ]
    if found is not None:
        for name, graphs in found.graphs.items():
            worst = _worst(corpus.dev[name].graphs, graphs, found.results[name])
            sections.append(_section(f"Worst dev graphs of {name}", worst))
    sections += [
        *(_section(f"Rules of {name}", _rules(corpus, name)) for name in model.treebanks),
        _section("Problems in the data", _problems(corpus)),
        _section("Recipe", _recipe(recipe)),
        _section("Environment", _table(("", ""), _environment(entries), "texts")),
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


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> str:
    lines = ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    heading = "".join(f"<th>{escape(cell)}</th>" for cell in head) if any(head) else ""
    return f'<div class="wide"><table class="{kind}"><tr>{heading}</tr>{"".join(lines)}</table></div>'


def _summary(entries: Sequence[Mapping[str, Any]], corpus: Corpus, model: Model, found: Evaluation | None) -> str:
    last: Mapping[str, Any] = next((entry for entry in reversed(entries) if entry["event"] == "end"), {})
    speeds = [entry["sentences_per_second"] for entry in entries if entry["event"] == "step"]
    figures = [
        ("MRP F1 on dev", f"{100 * found.mean:.2f}" if found else "–"),
        ("best epoch", f"{model.notes.get('epoch', 'last')} of {last.get('epoch', '?')}"),
        ("optimizer steps", last.get("step", "?")),
        ("time in training steps", duration(last.get("seconds", 0.0))),
        ("sentences per second", f"{speeds[-1]:.1f}" if speeds else "?"),
        ("training sentences", len(corpus.examples)),
        ("weights", f"{sum(weight.numel() for weight in model.network.parameters()):,}"),
        ("data problems", len(corpus.problems)),
    ]
    return f"<dl>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in figures)}</dl>"


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
        losses = _lines(steps, "losses", name)
        charts.append(line_chart(f"Losses, {name}", losses, logarithmic=True, smooth=True))
        weights = _lines(steps, "weights", name)
        if any(value != 1.0 for line in weights.values() for _, value in line):
            charts.append(line_chart(f"Weights of the losses, {name}", weights))
        scores = _lines(evaluations, "scores", name, by="epoch")
        percent = {kind: [(epoch, 100 * value) for epoch, value in line] for kind, line in scores.items()}
        charts.append(line_chart(f"F1 on dev, {name}", percent, x="epoch", top=100.0))
    rates = {kind: [(entry["step"], entry["rates"][kind]) for entry in steps] for kind in ("encoder", "rest")}
    charts.append(line_chart("Learning rates", rates))
    return f'<div class="charts">{"".join(f"<figure>{chart}</figure>" for chart in charts)}</div>'


def _lines(
    entries: Sequence[Mapping[str, Any]], field: str, treebank: str, by: str = "step"
) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        for kind, value in entry[field].get(treebank, {}).items():
            if value is not None:
                lines.setdefault(kind, []).append((entry[by], value))
    return lines


def _rules(corpus: Corpus, name: str, most: int = 40) -> str:
    """The most frequent rules of a treebank."""
    rules = next(treebank for treebank in corpus.treebanks if treebank.name == name).vocabulary.rules
    uses: Counter[int] = Counter()
    for example in corpus.examples:
        if example.treebank == name:
            uses.update(example.target.rule_ids.tolist())
    shown = sorted(range(1, len(rules) + 1), key=lambda rule: (-uses[rule], rule))[:most]
    total = max(1, uses.total())
    rows = [(str(rules[rule]), uses[rule], f"{100 * uses[rule] / total:.1f} %") for rule in shown]
    text = f"<p>{len(rules)} rules turn tokens into labels; the most frequent, by nodes that they yield a label of:</p>"
    middle = (len(rows) + 1) // 2
    halves = (_table(("rule", "uses", "share"), half) for half in (rows[:middle], rows[middle:]) if half)
    return f'{text}<div class="columns">{"".join(halves)}</div>'


def _worst(gold: Sequence[Graph], system: Sequence[Graph], result: Result) -> str:
    """Differences of the graphs with the lowest scores, as far as they can be looked at."""
    compared = {graph.id: graph.comparison for graph in result.graphs}
    scored = [
        (compared[wanted.id].tallies["all"].f1, number) for number, wanted in enumerate(gold) if len(wanted) <= LARGEST
    ]
    parts: list[str] = []
    for f1, number in sorted(scored)[:WORST]:
        wanted, found = gold[number], system[number]
        picture = bare_svg(diff_sketch(wanted, found, compared[wanted.id].pairs))
        title = f"{wanted.id} (F1 {100 * f1:.1f}): {wanted.input or ''}"
        start = "<details>" if parts else "<details open>"
        parts.append(f'{start}<summary>{escape(title)}</summary><div class="wide">{picture}</div></details>')
    lead = f"Among those with at most {LARGEST} nodes.  Items that the parser misses are red, surplus ones blue."
    return f"<p>{lead}</p>{''.join(parts)}"


def _problems(corpus: Corpus) -> str:
    if not corpus.problems:
        return "<p>None: every graph was used whole.</p>"
    counts = [(*what, count) for what, count in problem_counts(corpus.problems)]
    rows = [(problem.treebank, problem.split, problem.graph, problem.what) for problem in corpus.problems]
    return (
        _table(("treebank", "split", "problem", "graphs"), counts, "texts")
        + f"<details><summary>list by id ({len(rows)})</summary>"
        + _table(("treebank", "split", "graph", "what"), rows, "texts")
        + "</details>"
    )


def _recipe(recipe: Recipe) -> str:
    """What differs from the defaults, and everything as a file that can be used again."""
    settings = as_dict(recipe)
    rows = [
        (key, value, default, text)
        for part in ("network", "learning", "evaluation")
        for key, value, default, text in _changed(recipe, part)
    ]
    return (
        "<p>What differs from the defaults:</p>"
        + _table(("key", "value", "default", "meaning"), rows, "texts")
        + f"<details><summary>everything, as TOML</summary><pre>{escape(as_toml(settings))}</pre></details>"
    )


def _changed(recipe: Recipe, part: str) -> Iterator[tuple[str, str, str, str]]:
    settings = getattr(recipe, part)
    default = type(settings)()
    for key, _, shown, text in explain(type(settings)):
        value = getattr(settings, key)
        if value != getattr(default, key):
            yield f"{part}.{key}", value_text(value), shown, text


def _environment(entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, object]]:
    times = [datetime.fromtimestamp(entry["time"], timezone.utc) for entry in entries]
    if times:
        yield "run", f"{times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC"
    yield "command", " ".join(sys.argv)
    yield (
        "system",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads",
    )
    if torch.cuda.is_available():
        yield "GPU", torch.cuda.get_device_name()
    yield "Python", platform.python_version()
    yield "perin", perin.__version__
    for name in PACKAGES:
        yield name, version(name)
