"""Whether the models in the box turn plain text into valid graphs, all of it.

python benchmarks/plain.py [MODEL…] [--data ../shared/data] [--sentences 1000]

Texts of the treebanks of a model's language, dev first, go through `perin parse --framework all` as lines of a file,
and the result through `perin validate`, which must find nothing.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from machine import describe

from perin.graphs.codecs.registry import load
from perin.graphs.validation import findings
from perin.model.model import Model
from perin.model.sources import bundled, model_folder


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


def texts(data: Path, language: str) -> Iterator[str]:
    """The texts of the treebanks of a language on one line each, those of dev first, each once."""
    seen = set()
    for split in ("dev", "train"):
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
