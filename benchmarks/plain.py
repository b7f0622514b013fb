"""Whether the models in the box turn plain text into valid graphs, all of it.

python benchmarks/plain.py [MODEL…] [--data ../shared/data] [--sentences 1000]

Texts of the treebanks of a model's language, dev first, go through `perin parse --framework all` as lines of a file,
and the result through `perin validate`, which must find nothing.

A second table, for the frameworks with anchors, is about the texts of all dev files: how many content words have no
node anchored to them, and how many nodes repeat another one of the same token, with 32 and with 8 bits, beside gold (on
the framework's own dev file).
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from machine import describe

from perin.graphs.codecs import load
from perin.graphs.graph import Graph, Node
from perin.graphs.validation import findings
from perin.model import bundled, model_folder
from perin.model.model import Model
from perin.parsing.evaluation import dev_graphs
from perin.parsing.parser import Parser
from perin.text import tokenize
from perin.text.dictionary import content_words

_SENSE = re.compile(r"(?<=\w)[-_.][^-_.]*$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="by default all in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--sentences", type=int, default=1000)
    arguments = parser.parse_args()
    print(describe())
    print(f"\n{'model':<10}{'treebank':<12}{'sentences':>10}{'graphs':>8}{'invalid':>9}{'a second':>10}")
    for name in arguments.models or bundled():
        for row in checked(name, arguments.data, arguments.sentences):
            print(f"{name:<10}{row}", flush=True)
    print(
        f"\n{'model':<10}{'treebank':<12}{'graphs of':<10}{'words':>8}{'without node':>14}{'nodes':>8}{'repeated':>10}"
    )
    for name in arguments.models or bundled():
        for row in omissions(name, arguments.data, arguments.sentences):
            print(f"{name:<10}{row}", flush=True)


def omissions(name: str, data: Path, count: int) -> Iterator[str]:
    """A row for gold and for each way of parsing, of each treebank with anchors."""
    folder = model_folder(name)
    anchored = [each for each in Model.load(folder).treebanks.values() if each.framework.anchoring is not None]
    for treebank in anchored:
        gold = dev_graphs(data, treebank.name, count)
        yield f"{treebank.name:<12}{'gold':<10}{shares(gold, treebank.vocabulary.language)}"
    for bits in (32, 8):
        parser = Parser.load(folder, bits=bits)
        for treebank in anchored:
            words = treebank.vocabulary
            language = words.language or "eng"
            lines = list(itertools.islice(texts(data, language, ("dev",)), count))
            graphs = parser.parse(lines, words.framework, language, probabilities=False)
            yield f"{treebank.name:<12}{f'{bits} bits':<10}{shares(graphs, language)}"


def shares(graphs: Iterable[Graph], language: str | None) -> str:
    """Content words and how many of them have no node; nodes with anchors and how many of them repeat another."""
    words = lost = nodes = repeated = 0
    for graph in graphs:
        ranges = [(word.start, word.end) for word in content_words(tokenize(graph.input or "", language))]
        words += len(ranges)
        lost += len(without_node(graph, ranges))
        nodes += sum(bool(node.anchors) for node in graph.nodes)
        repeated += repeated_nodes(graph)
    return f"{words:>8}{100 * lost / max(words, 1):>12.2f} %{nodes:>8}{100 * repeated / max(nodes, 1):>8.2f} %"


def without_node(graph: Graph, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those ranges of characters that no node is anchored to, not even in part."""
    covered = {
        place for node in graph.nodes for anchor in node.anchors or () for place in range(anchor.start, anchor.end)
    }
    return [(start, end) for start, end in ranges if covered.isdisjoint(range(start, end))]


def repeated_nodes(graph: Graph) -> int:
    """How many nodes have the anchors of another node and its label up to the sense.

    Nodes without anchors say nothing of a token; leaves of UCCA have no labels, so that the anchors alone count.
    """
    kinds = Counter(_kind(node) for node in graph.nodes if node.anchors)
    return sum(count - 1 for count in kinds.values())


def _kind(node: Node) -> tuple[object, ...]:
    """A node without its sense: ``_leave_v_1`` and ``_leave_v_cause`` are of a kind."""
    label = node.label if node.label is None else _SENSE.sub("", node.label)
    return frozenset(node.anchors or ()), label


def checked(name: str, data: Path, count: int) -> Iterator[str]:
    """A row for each treebank of a model."""
    treebanks = Model.load(model_folder(name)).treebanks
    languages = {treebank.vocabulary.language or "eng" for treebank in treebanks.values()}
    for language in sorted(languages):
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "text.txt", Path(folder) / "graphs.mrp"
            lines = list(itertools.islice(texts(data, language), count))
            source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            begun = time.perf_counter()
            options = ["--model", name, "--framework", "all", "--language", language]
            perin("parse", "-i", str(source), "-o", str(target), *options)
            seconds = time.perf_counter() - begun
            graphs = list(load(target))
            ids = {str(number) for number in range(1, len(lines) + 1)}
            found = Counter(f"{graph.framework}-{language}" for graph in graphs if graph.id in ids)
            perin("validate", str(target))
            invalid = Counter(
                f"{graph.framework}-{language}"
                for graph in graphs
                if any(finding.severity == "error" for finding in findings(graph))
            )
            for treebank in treebanks:
                if treebank.endswith(f"-{language}"):
                    rate = len(lines) / seconds
                    yield f"{treebank:<12}{len(lines):>10}{found[treebank]:>8}{invalid[treebank]:>9}{rate:>10.0f}"


def texts(data: Path, language: str, splits: Sequence[str] = ("dev", "train")) -> Iterator[str]:
    """The texts of the treebanks of a language on one line each, those of dev first, each once."""
    seen = set()
    for split in splits:
        for path in sorted(data.glob(f"*-{language}/{split}.mrp.gz")):
            for graph in load(path):
                text = " ".join((graph.input or "").split())
                if text and text not in seen:
                    seen.add(text)
                    yield text


def perin(*arguments: str) -> None:
    """Run a command; anything that it finds wrong stops the benchmark."""
    subprocess.run([sys.executable, "-m", "perin", *arguments], stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
