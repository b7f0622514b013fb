"""What the service does with graphs: convert, draw, validate, score, and everything that the page shows.

Each tool takes plain values and returns the bytes of an answer.  Graphs come as the text of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from perin.errors import InputError, Report, strict
from perin.graphs import Finding, Graph, Tolerant, codec, dumps, findings, loads
from perin.graphs.codecs import ALIASES, FORMATS, check_format
from perin.graphs.drawing import Sketch, diff_sketch, pdf, png, sketch, svg, text, write_html
from perin.graphs.drawing.svg import bare_svg

PICTURES = ("svg", "html", "text", "png", "pdf")
TEXT_PICTURES = ("svg", "text")
MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "png": "image/png",
    "pdf": "application/pdf",
}
SECONDS = 5.0
"""Time limit of the search for the correspondence of one pair of graphs."""


def only_framework(format: str) -> str | None:
    """The framework that a format is for, if it is for one only."""
    fitting = codec(format).frameworks if format.lower() in (*FORMATS, *ALIASES) else ()
    return fitting[0] if len(fitting) == 1 else None


def text_of(graphs: Iterable[Graph], format: str) -> str:
    """Graphs as text in a format of graphs, or drawn as SVG or characters."""
    if format == "svg":
        return svg(graphs)
    if format == "text":
        return "\n".join(map(text, graphs))
    return dumps(graphs, format)


def convert(graphs: str, format: str, to: str) -> bytes:
    """The graphs in another format."""
    return text_of(_read(graphs, format), to).encode()


def draw(graphs: str, format: str, to: str, theme: str, gold: str | None) -> bytes:
    """A picture of the graphs, or of their differences from gold ones."""
    import io

    chosen: Any = theme
    drawn: list[Graph | Sketch] = list(_read(graphs, format))
    if gold is not None:
        drawn = [diff_sketch(*pair, _correspondence(*pair)) for pair in _pairs(gold, graphs, format)]
    if to == "html":
        stream = io.StringIO()
        write_html(drawn, stream)
        return stream.getvalue().encode()
    if to == "text":
        return "\n".join(map(text, drawn)).encode()
    if to in ("png", "pdf"):
        return (png if to == "png" else pdf)(drawn, "light" if theme == "auto" else chosen)
    return svg(drawn, chosen).encode()


def validate(graphs: str, format: str) -> bytes:
    """What is wrong with the graphs."""
    oddities = Tolerant()
    found = _read(graphs, format, oddities)
    told = list(oddities.findings)
    told += [finding for graph in found for finding in findings(graph) if finding not in told]
    seen = dict.fromkeys((each.severity, each.graph, each.message) for each in told)
    listed = [{"severity": severity, "graph": graph, "message": message} for severity, graph, message in seen]
    sound = not any(finding["severity"] == "error" for finding in listed)
    return _json({"graphs": len(found), "valid": sound, "findings": listed})


def score(gold: str, system: str, format: str, metric: str, details: bool) -> bytes:
    """The score of a system's graphs against gold ones."""
    from perin.scoring import score as scored

    result = scored(_read(gold, format), _read(system, format), metric, budget=SECONDS)
    data = result.as_json(per_graph=details)
    data["f1"] = result.f1
    data["findings"] = [{"graph": each.graph, "message": each.message} for each in result.findings]
    return _json(data)


def view(graphs: str, format: str, gold: str | None, gold_format: str) -> bytes:
    """What the page shows: drawing, words, findings, and the difference from gold where there is one.

    Graphs that are being edited may be broken; then they have findings and no difference.  Gold graphs must be sound.
    """
    found = _read(graphs, format, Tolerant())
    try:
        reference = _read(gold or "", gold_format)
    except InputError as error:
        _read(gold or "", gold_format, Tolerant())  # has a better word for a file that is no such format at all
        raise InputError(f"gold: {error.message}", None, error.line, error.graph) from None
    return _json({"views": [_view(graph, _gold_of(graph, reference)) for graph in found], "golds": len(reference)})


def _view(graph: Graph, gold: Graph | None) -> dict[str, Any]:
    drawn = sketch(graph)
    seen: dict[str, Any] = {
        "graph": json.loads(dumps(graph)),
        "svg": bare_svg(drawn),
        "words": [[word.text, word.start, word.end] for word in drawn.words],
        "findings": [_finding(each) for each in findings(graph)],
    }
    if gold is not None and _is_sound(seen["graph"]):
        from perin.scoring import score as scored
        from perin.scoring.reports import differing_items

        pairs = _correspondence(gold, graph)
        aligned = replace(graph, id=gold.id, framework=gold.framework, language=gold.language)
        result = scored([gold], [aligned], budget=SECONDS)
        seen["difference"] = {
            "svg": bare_svg(diff_sketch(gold, graph, pairs)),
            "gold": json.loads(dumps(gold)),
            "items": differing_items(gold, graph, pairs),
            "f1": result.f1,
            "scores": {key: tally.as_json() for key, tally in result.total.tallies.items()},
        }
    return seen


def _is_sound(graph: dict[str, Any]) -> bool:
    """Whether edges and tops have their nodes, so that the graph can be compared."""
    try:
        _read(json.dumps(graph), "mrp")
    except InputError:
        return False
    return True


def _gold_of(graph: Graph, golds: list[Graph]) -> Graph | None:
    """The gold graph of the same framework and, by preference, of the same sentence or else of the same id."""
    fitting = [gold for gold in golds if gold.framework in (None, graph.framework)]
    alike = [gold for gold in fitting if _plain(gold.input) == _plain(graph.input)]
    named = [gold for gold in fitting if gold.id == graph.id and gold.input is None]
    return next(iter([*alike, *named]), None)


def _plain(text: str | None) -> str | None:
    return None if text is None else "".join(text.split()).lower()


def _read(graphs: str, format: str, report: Report = strict) -> list[Graph]:
    try:
        return loads(graphs, format, report=report)
    except InputError as error:
        raise InputError(error.message, None, error.line, error.graph) from None


def _pairs(gold: str, system: str, format: str) -> list[tuple[Graph, Graph]]:
    """Each gold graph with the system's graph of its id, framework and language, or with an empty one."""
    systems = {graph.key: graph for graph in _read(system, format)}
    nothing: dict[str, Any] = {"tops": (), "nodes": (), "edges": ()}
    return [(each, systems.get(each.key) or replace(each, **nothing)) for each in _read(gold, format)]


def _correspondence(gold: Graph, system: Graph) -> tuple[tuple[int, int], ...]:
    from perin.scoring import correspondence

    return correspondence(gold, system, budget=SECONDS)


def _finding(finding: Finding) -> dict[str, Any]:
    return {"severity": finding.severity, "message": finding.message}


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def formats() -> list[dict[str, Any]]:
    """Graph formats: names, the frameworks that they can hold (none: all), and whether they are read and written."""
    known = [codec(name) for name in FORMATS]
    return [
        {
            "name": each.name,
            "summary": each.summary,
            "frameworks": list(each.frameworks),
            "read": each.read is not None,
            "write": each.write is not None,
            "suffix": each.suffixes[0] if each.suffixes else f".{each.name}",
        }
        for each in known
    ]


def check_text_format(format: str, frameworks: Iterable[str] = ()) -> None:
    """Raise an error if graphs of these frameworks can't be written in a format, or drawn as text or SVG."""
    if format not in TEXT_PICTURES:
        check_format(format, frameworks)


TOOLS: dict[str, Callable[..., bytes]] = {
    "convert": convert,
    "draw": draw,
    "validate": validate,
    "score": score,
    "view": view,
}
"""By name, as the web process asks for them."""
