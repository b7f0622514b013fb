"""The report of a run: one HTML file that needs nothing else, for light and dark pages."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import torch

import perin
from perin.files import write_text
from perin.graphs.drawing.diff import diff_sketch
from perin.graphs.drawing.svg import bare_svg, page_style_sheet
from perin.graphs.graph import Graph
from perin.learning import Recipe
from perin.learning.data import Corpus, problem_counts
from perin.learning.run.evaluation import Evaluation
from perin.learning.run.journal import duration, read_journal
from perin.learning.schema import as_dict, as_toml, explain, value_text
from perin.model.model import Model
from perin.parsing.evaluation import TYPES
from perin.scoring import Result

# Line charts as SVG for a page that has the style sheet below; no library, no script.


Points: TypeAlias = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 132, 30, 34
COLOURS = 8
"""Lines take the classes ``line0`` … ``line7`` in turn."""
TINY = 1e-290
"""No difference for a chart."""
DECADES = 1e5
"""The largest value of a logarithmic axis divided by its smallest."""

STYLE = """
.chart { font: 12px system-ui, sans-serif; fill: var(--text); width: 100%; height: auto; }
.chart .grid { stroke: var(--faint); stroke-width: 1; }
.chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart .dot { fill: none; stroke-width: 3; }
.chart .raw { stroke-width: 1; opacity: .25; }
.chart .title { font-weight: 600; font-size: 13px; }
.chart .axis { fill: var(--muted); }
"""
PALETTE = ("#3b6fb6", "#c2571a", "#2e8b57", "#a0368f", "#8a6d00", "#00838f", "#c62828", "#5e5ea8")
DARK_PALETTE = ("#7fb0f0", "#f0a066", "#6fcf97", "#e08fd6", "#d9bb4a", "#4dd0e1", "#ef8a8a", "#b0b0f0")


def palette(colours: Sequence[str]) -> str:
    """The style of the lines, and of their names."""
    return "\n".join(f".line{n} {{ stroke: {c}; }} .name{n} {{ fill: {c}; }}" for n, c in enumerate(colours))


def line_chart(
    title: str,
    lines: Mapping[str, Points],
    *,
    x: str = "step",
    top: float | None = None,
    logarithmic: bool = False,
    smooth: bool = False,
) -> str:
    """A chart of several lines, their names at their right ends; points that are not finite are left out.

    The vertical axis starts at 0 and ends at ``top`` or the largest value, or is ``logarithmic``, where only positive
    values are shown, those of less than a 100,000th of the largest at the bottom.  ``smooth`` draws running means, and
    the values themselves faintly behind.  A line of one point is a dot.
    """
    low = 0.0 if logarithmic else -math.inf
    drawn: dict[str, Points] = {
        name: [(a, b) for a, b in points if math.isfinite(a) and math.isfinite(b) and b > low]
        for name, points in lines.items()
    }
    drawn = {name: _thinned(points) for name, points in drawn.items() if points}
    if not drawn:
        return f'<p class="chart">{escape(title)}: nothing to show</p>'
    xs = [point[0] for points in drawn.values() for point in points]
    ys = [point[1] for points in drawn.values() for point in points]
    across = _Linear(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    up: _Linear | _Logarithmic = _Linear(min(0.0, *ys), max(ys) if top is None else max(*ys, top), HEIGHT - BOTTOM, TOP)
    if logarithmic:
        up = _Logarithmic(min(ys), max(ys), HEIGHT - BOTTOM, TOP)
    parts = [f'<text class="title" x="{LEFT}" y="16">{escape(title)}</text>', *_axes(across, up, x)]
    shown = {name: _smoothed(points) if smooth else points for name, points in drawn.items()}
    ends = _apart({name: up(points[-1][1]) for name, points in shown.items()})
    for number, (name, points) in enumerate(shown.items()):
        colour = f"{number % COLOURS}"
        tip = f"<title>{escape(name)}: {points[-1][1]:.4g}</title>"
        if smooth:
            parts.append(f'<polyline class="line raw line{colour}" points="{_path(drawn[name], across, up)}"/>')
        parts.append(f'<polyline class="line line{colour}" points="{_path(points, across, up)}">{tip}</polyline>')
        if len(points) == 1:
            place = f'cx="{across(points[0][0]):.1f}" cy="{up(points[0][1]):.1f}"'
            parts.append(f'<circle class="dot line{colour}" {place} r="3">{tip}</circle>')
        place = f'x="{WIDTH - RIGHT + 8}" y="{ends[name] + 4:.1f}"'
        parts.append(f'<text class="name{colour}" {place}>{escape(name)}</text>')
    head = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
    return f'{head} aria-label="{escape(title)}">{"".join(parts)}</svg>'


class _Linear:
    """A linear map from values to pixels."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high if high - low > TINY else low + 1.0
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values in the range, at most ``most``."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


class _Logarithmic:
    """A map from positive values to pixels on which factors are distances; it ends at powers of ten."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        high = max(high, TINY)
        self.low, self.high = math.floor(math.log10(max(low, high / DECADES))), math.ceil(math.log10(high))
        self._linear = _Linear(self.low, self.high, start, end)

    def __call__(self, value: float) -> float:
        return self._linear(math.log10(max(value, 10.0**self.low)))

    def ticks(self) -> list[float]:
        """Powers of ten, as far apart as there is room for."""
        step = math.ceil((self.high - self.low + 1) / 7)
        return [10.0**power for power in range(self.low, self.high + 1, step)]


def _axes(across: _Linear, up: _Linear | _Logarithmic, x: str) -> Iterator[str]:
    for tick in up.ticks():
        y = up(tick)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="axis" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
    for tick in across.ticks():
        place = f'x="{across(tick):.1f}" y="{HEIGHT - BOTTOM + 16}"'
        yield f'<text class="axis" {place} text-anchor="middle">{tick:g}</text>'
    yield f'<text class="axis" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(x)}</text>'


def _path(points: Points, across: _Linear, up: _Linear | _Logarithmic) -> str:
    return " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in points)


def _smoothed(points: Points) -> Points:
    """Running means over a twentieth of the points on either side."""
    reach = len(points) // 20
    smooth = []
    for number, (a, _) in enumerate(points):
        near = [b for _, b in points[max(0, number - reach) : number + reach + 1]]
        smooth.append((a, sum(near) / len(near)))
    return smooth


def _thinned(points: Points, most: int = 400) -> Points:
    """Means of neighbouring points where there are more than can be seen."""
    if len(points) <= most:
        return points
    size = math.ceil(len(points) / most)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(sum(a for a, _ in group) / len(group), sum(b for _, b in group) / len(group)) for group in groups]


def _apart(heights: Mapping[str, float], gap: float = 14.0) -> dict[str, float]:
    """Heights of names, moved so that none covers another."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        lowest = max(height, lowest + gap)
        placed[name] = lowest
    surplus = max(0.0, lowest - (HEIGHT - BOTTOM))
    return {name: height - surplus for name, height in placed.items()}


WORST = 8
"""How many graphs of each treebank are drawn."""
LARGEST = 40
"""How many nodes a graph may have to be drawn."""
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
    """Differences of the graphs with the lowest scores that are small enough to draw."""
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
