"""Drawings as one HTML page: a list to search and to leaf through, nothing loaded from elsewhere.

The drawings lie in the page as JSON and become elements one at a time: a page of thousands of graphs stays quick.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import TextIO

from perin.graphs.drawing.sketch import Sketch, as_sketch
from perin.graphs.drawing.style import page_style_sheet
from perin.graphs.drawing.svg import bare_svg
from perin.graphs.graph import Graph

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src '{style_hash}'; script-src '{script_hash}'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<button type="button" id="previous" class="many" aria-label="previous graph" title="previous (←)">‹</button>
<span id="status" class="many" role="status" aria-live="polite"></span>
<button type="button" id="next" class="many" aria-label="next graph" title="next (→)">›</button>
<input type="search" id="search" class="many" placeholder="search ids, words, labels" aria-label="search graphs">
<select id="order" class="compared" aria-label="order of the graphs">
<option value="file">as in the file</option>
<option value="worst">lowest F1 first</option>
<option value="best">highest F1 first</option>
</select>
<span class="space"></span>
<button type="button" id="fit" aria-pressed="false" title="fit to the width (f)">fit</button>
<button type="button" id="theme" title="light or dark (t)">light/dark</button>
</header>
<nav aria-label="graphs"><ol id="list"></ol></nav>
<main>
<p id="about"></p>
<p id="legend" class="compared" aria-label="legend">{legend}</p>
<div id="stage" tabindex="0" role="region" aria-label="drawing">
<noscript>These drawings need JavaScript, which this page carries itself.</noscript></div>
<footer><span class="many"><kbd>←</kbd> <kbd>→</kbd> other graphs, <kbd>/</kbd> search,</span>
<kbd>Shift</kbd> + arrows scroll, <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> size, <kbd>f</kbd> fit, <kbd>t</kbd> light or
dark; point at a node or click it to see its neighbours and words</footer>
</main>
<script type="application/json" id="graphs">["""

_FOOT = """]</script>
<script>{script}</script>
</body>
</html>
"""


_LEGEND = {"": "in both", "missing": "− missing: only in gold", "extra": "+ extra: only in the system"}


def _legend() -> str:
    """How a comparison shows what both graphs have, what only gold has and what only the system has."""
    return "".join(
        f'<span><svg class="perin" width="44" height="18" viewBox="0 0 44 18" aria-hidden="true">'
        f'<g class="node {kind}"><rect class="frame" x="1" y="2" width="18" height="14" rx="4"/></g>'
        f'<g class="link {kind}"><path class="line" d="M22 9H43"/></g></svg>{words}</span>'
        for kind, words in _LEGEND.items()
    )


def write_html(drawn: Iterable[Graph | Sketch], stream: TextIO, title: str = "Graphs") -> None:
    """Write a page of drawings, holding one of them at a time."""
    style = page_style_sheet() + _resource("page.css")
    script = _resource("page.js")
    hashes = {"style_hash": _digest(style), "script_hash": _digest(script)}
    stream.write(_HEAD.format(title=escape(title), style=style, legend=_legend(), **hashes))
    for number, each in enumerate(drawn):
        stream.write(",\n" if number else "\n")
        stream.write(_entry(as_sketch(each)))
    stream.write(_FOOT.format(script=script))


def _entry(content: Sketch) -> str:
    """A drawing as JSON in which nothing can end the script element that it is in."""
    texts = [
        content.name,
        *filter(None, [content.framework]),
        content.input,
        *(row.text for shape in content.shapes for row in shape.rows),
    ]
    texts += dict.fromkeys(row.text for link in content.links for row in link.rows)
    entry: dict[str, str | float] = {
        "id": content.name,
        "framework": content.framework or "",
        "input": content.input,
        "find": "\n".join(dict.fromkeys(texts)).lower(),
        "svg": bare_svg(content),
    }
    if content.f1 is not None:
        entry["f1"] = round(content.f1, 4)
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _resource(name: str) -> str:
    return files("perin.graphs.drawing").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
