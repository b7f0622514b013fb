"""What UMR keeps: files read, written and read again, and graphs through the framework and back.

python benchmarks/umr.py ../shared/data [--treebanks umr-ces umr-eng] [--limit 2000]

For every file of a treebank: the sentences whose graph differs after reading, writing and reading (all of them), and
what ``perin validate`` finds; then F1 of each item type after the round trip with the rules of the file itself and our
own tokens (all graphs that have nodes, or the first ``--limit``), the graphs that differ, and why.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from machine import describe

from perin.errors import Tolerant
from perin.frameworks import framework
from perin.frameworks.roundtrip import roundtrip
from perin.frameworks.umr import ATTRIBUTES
from perin.graphs import Graph, dump, dumps, findings, load, loads
from perin.graphs.codecs.umr import Documents, own_fields
from perin.text.tokenizer import tokenize

_CHUNK = 2000
TYPES = ("tops", "labels", "properties", "anchors", "edges", "all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of treebanks")
    parser.add_argument("--treebanks", nargs="*", default=["umr-ces", "umr-eng"], metavar="NAME")
    parser.add_argument("--limit", type=int, help="graphs of each file for the round trip (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    print(describe())
    paths = [path for name in arguments.treebanks for path in sorted((arguments.data / name).glob("*.umr.gz"))]
    print("\n| file | graphs | differ after read, write, read | errors of perin validate | notes |\n|" + "---|" * 5)
    for path in paths:
        rewrite(path)
    print(
        "\n| file | graphs | "
        + " | ".join(TYPES)
        + " | graphs that differ | in more than anchors |\n|"
        + "---|" * (len(TYPES) + 4)
    )
    for path in paths:
        encode(path, arguments.limit, arguments.jobs)


def rewrite(path: Path) -> None:
    """Print how many graphs of a file differ after they were written and read again, and what is wrong with them."""
    count = different = 0
    kinds: Counter[str] = Counter()
    documents = Documents()
    report = Tolerant()
    for graphs in _chunks(load(path, report=report)):
        again = loads(dumps(graphs, "umr"), "umr", report=Tolerant())
        count += len(graphs)
        different += sum(one != other for one, other in zip(graphs, again, strict=True))
        for graph in graphs:
            found = [*findings(graph), *documents.check(graph, path.name, 0)]
            kinds.update(finding.severity for finding in found)
    kinds.update(finding.severity for finding in (*documents.end(), *report.findings))
    name = f"{path.parent.name} {path.name.split('.')[0]}"
    print(f"| {name} | {count:,} | {different:,} | {kinds['error']:,} | {kinds['note']:,} |", flush=True)


def encode(path: Path, limit: int | None, jobs: int) -> None:
    """Print the scores of the graphs of a file after the way through the framework and back."""
    graphs = [graph for graph in islice(load(path, report=Tolerant()), limit) if len(graph)]
    with tempfile.TemporaryDirectory() as folder:
        dump(graphs, Path(folder) / "graphs.mrp")
        report = roundtrip(Path(folder) / "graphs.mrp", jobs=jobs)
    tallies = report.result.total.tallies
    figures = " | ".join(f"{100 * tallies[name].f1:.2f}" if tallies[name].g else "-" for name in TYPES)
    name = f"{path.parent.name} {path.name.split('.')[0]}"
    ids = {item["id"] for item in report.differences if {*item["missing"], *item["surplus"]} != {"anchors"}}
    reasons: dict[str, list[str]] = defaultdict(list)
    for graph in graphs:
        if graph.id in ids:
            reasons[_reason(graph)].append(graph.id)
    shown = "; ".join(f"{len(found)} {reason} ({', '.join(found[:2])})" for reason, found in reasons.items())
    differ = f"{len(report.differences)} | {len(ids)}: {shown}" if ids else f"{len(report.differences)} | 0"
    print(f"| {name} | {len(graphs):,} | {figures} | {differ} |", flush=True)


def _reason(graph: Graph) -> str:
    """Why a graph is not the same after the round trip."""
    pairs = Counter((node.id, pair.name) for node in graph.nodes for pair in node.properties)
    form = framework("umr", graph.language)
    nodes = len(form.simplified(graph).nodes)
    if any(edge.source == edge.target for edge in graph.edges):
        return "with an edge from a node to itself"
    if nodes > form.queries * len(tokenize(graph.input or "", graph.language)):
        return "with more nodes than queries"
    if any(count > 1 and name in ATTRIBUTES for (_, name), count in pairs.items()):
        return "with an attribute twice"
    return "other"


def _chunks(graphs: Iterable[Graph]) -> Iterator[list[Graph]]:
    """Graphs in lists that end where a document does."""
    chunk: list[Graph] = []
    for graph in graphs:
        if len(chunk) >= _CHUNK and own_fields(graph).get("document") != own_fields(chunk[-1]).get("document"):
            yield chunk
            chunk = []
        chunk.append(graph)
    if chunk:
        yield chunk


if __name__ == "__main__":
    main()
