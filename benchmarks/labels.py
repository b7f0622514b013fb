"""The minimal rule set of every training treebank: size, proof, time, memory, coverage of dev.

python benchmarks/labels.py ../shared [--treebanks NAME …] [--jobs N]

Every row is a run of ``perin rules`` in a process of its own: CPU is user and system time of that process and its
helpers from start to end (reading, learning, coverage, examples), learning is the wall time of learning alone.
The last row is the first 2,000 sentences of eds-eng on the tokens and lemmas that the original was measured with; there
the original took 123 CPU seconds and 3.7 GB for 388 rules, with absolute rules only for nodes of more than 10 tokens.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import scipy
from machine import processor

import perin
from perin.graphs import dump, load

ORIGINAL_CPU_SECONDS = 123
COMPARED = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="folder with data/ and fixtures/")
    parser.add_argument("--treebanks", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    versions = f"perin {perin.__version__}, Python {platform.python_version()}"
    print(f"{processor()}; {versions}, numpy {numpy.__version__}, scipy {scipy.__version__}\n")
    print(
        "| treebank | sentences | nodes | labels | candidates | rules | lower bound | proven | CPU s | learning s | MB "
        "| dev nodes | by rules | with case | by a list |"
    )
    print("|---|" + "---:|" * 14)
    for folder in sorted((arguments.shared / "data").iterdir()):
        if not arguments.treebanks or folder.name in arguments.treebanks:
            files = [str(folder / "train.mrp.gz"), "--tokens", str(folder / "train.conllu.gz")]
            files += ["--coverage", str(folder / "dev.mrp.gz"), "--coverage-tokens", str(folder / "dev.conllu.gz")]
            show(folder.name, *measured([*files, "--jobs", str(arguments.jobs)]))
    if not arguments.treebanks or "eds-2000" in arguments.treebanks:
        compare(arguments.shared)


def compare(shared: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        treebank = Path(folder) / "eds-2000.mrp"
        dump(itertools.islice(load(shared / "data" / "eds-eng" / "train.mrp.gz"), COMPARED), treebank)
        tokens = shared / "fixtures" / "rules" / "eds-2000.conllu.gz"
        report, cpu = measured([str(treebank), "--tokens", str(tokens)])
    show("eds-2000", report, cpu)
    print(f"\neds-2000: {ORIGINAL_CPU_SECONDS / cpu:.0f} times less CPU time than the original")


def measured(arguments: Sequence[str]) -> tuple[dict[str, Any], float]:
    """The JSON of a run of ``perin rules`` and its CPU seconds."""
    command = [sys.executable, "-m", "perin", "rules", "--json", "--split", *arguments]
    before = os.times()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(output), cpu


def show(name: str, report: dict[str, Any], cpu: float) -> None:
    fields = [f"{report[key]:,}" for key in ("sentences", "nodes", "labels", "candidates", "rules", "lower_bound")]
    fields += ["minimal" if report["optimal"] else f"{1 - report['lower_bound'] / report['rules']:.2%}"]
    fields += [f"{cpu:.1f}", f"{report['seconds']:.1f}", f"{report['peak_mb']:.0f}"]
    found = report["coverage"]
    if found is None:
        fields += [""] * 4
    else:
        shares = (found[key] / found["nodes"] for key in ("rules", "with_case", "vocabulary"))
        fields += [f"{found['nodes']:,}", *(f"{share:.2%}" for share in shares)]
    print(f"| {name} | {' | '.join(fields)} |", flush=True)


if __name__ == "__main__":
    main()
