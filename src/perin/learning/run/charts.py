"""Line charts as SVG for a page that has the style sheet below; no library, no script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypeAlias

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
