"""Charts: well-formed, nothing outside the picture, names apart."""

import itertools
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from perin.learning.run.report import HEIGHT, WIDTH, line_chart

VALUE = st.floats(-1e6, 1e6)
LINES = st.dictionaries(st.text(min_size=1, max_size=8), st.lists(st.tuples(st.integers(0, 10**6), VALUE), max_size=30))


@given(st.text(max_size=10), LINES, st.booleans(), st.booleans())
def test_points_lie_inside_and_text_is_escaped(title, lines, logarithmic, smooth):
    chart = line_chart(title, lines, logarithmic=logarithmic, smooth=smooth)
    printable = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", chart)
    root = ElementTree.fromstring(printable)
    for line in root.iter("polyline"):
        for pair in line.attrib["points"].split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT
    shown = sum(any(value > 0 or not logarithmic for _, value in points) for points in lines.values())
    assert len(list(root.iter("polyline"))) == shown * (1 + smooth)


def test_names_do_not_cover_each_other():
    chart = line_chart("t", {f"line {n}": [(0, 1.0), (1, 1.0)] for n in range(6)})
    heights = sorted(float(y) for y in re.findall(r'class="name\d" x="\d+" y="([\d.]+)"', chart))
    assert len(heights) == 6
    assert all(b - a >= 13.9 for a, b in itertools.pairwise(heights))


def test_what_is_not_finite_is_left_out():
    assert "polyline" in line_chart("t", {"a": [(0, float("nan")), (1, 2.0)]})
    assert "nothing to show" in line_chart("t", {"a": [(0, float("inf"))], "b": []})


def test_a_logarithmic_axis_has_powers_of_ten():
    chart = line_chart("t", {"a": [(0, 0.004), (1, 3.0), (2, 0.0)]}, logarithmic=True)
    heights = {text: float(y) for y, text in re.findall(r'y="([\d.]+)" text-anchor="end">([\d.]+)</text>', chart)}
    assert list(heights) == ["0.001", "0.01", "0.1", "1", "10"]
    gaps = [b - a for a, b in itertools.pairwise(heights.values())]
    assert max(gaps) - min(gaps) <= 0.2
    assert max(gaps) < 0


def test_smoothing_evens_out_and_keeps_what_is_even():
    chart = line_chart("t", {"a": [(n, float(n % 2)) for n in range(100)], "b": [(0, 1.0), (99, 1.0)]}, smooth=True)
    raw, smooth, level, same = (
        [float(pair.split(",")[1]) for pair in points.split()] for points in re.findall(r'points="([^"]*)"', chart)
    )
    assert max(smooth) - min(smooth) < 0.3 * (max(raw) - min(raw))
    assert level == same


def test_a_single_value_is_a_point_on_an_axis_of_its_own_length():
    chart = line_chart("F1", {"all": [(1, 40.0)]}, x="epoch", top=100.0)
    [height] = re.findall(r'<circle [^>]*cy="([\d.]+)"', chart)
    assert ">100</text>" in chart
    assert 0.5 * HEIGHT < float(height) < 0.7 * HEIGHT
    assert "<circle" not in line_chart("F1", {"all": [(1, 40.0), (2, 50.0)]})
