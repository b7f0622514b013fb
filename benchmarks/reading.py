"""How fast a treebank is read, against json.loads on its lines alone, and how much memory that takes.

python benchmarks/reading.py ../shared/data/eds-eng/train.mrp.gz [--rounds N] [--formats eds eds-json]

Times are CPU seconds; of several rounds, each of which runs all measurements, the fastest of each counts.  Memory is
the peak of a process of its own.  The formats named are written to a temporary folder and read again.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from machine import processor

import perin
from perin.commands.convert import convert
from perin.files import read_lines
from perin.graphs import load
from perin.graphs.codecs import codec

MEMORY = {
    "perin.graphs imported": "",
    "treebank streamed": "for graph in load(path): pass",
    "treebank streamed ten times": "for _ in range(10):\n    for graph in load(path): pass",
    "all graphs held": "graphs = list(load(path))",
    "all of json.loads held": "data = [json.loads(line) for line in read_lines(path)]",
}
PEAK = r"""
import json, re, sys
from perin.files import read_lines
from perin.graphs import load
path = sys.argv[1]
{body}
with open("/proc/self/status") as status:
    print(re.search(r"VmHWM:\s*(\d+) kB", status.read())[1])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, help="a file in MRP")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (default: 5)")
    parser.add_argument("--formats", nargs="*", default=[], help="other formats to write and read the treebank in")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    print(f"perin {perin.__version__}, Python {platform.python_version()}, {processor()}, one process, CPU time")
    lines = list(read_lines(arguments.treebank))
    print(f"{arguments.treebank.name}: {len(lines)} graphs, {sum(map(len, lines)) / 1e6:.1f} million characters\n")
    with tempfile.TemporaryDirectory() as folder:
        speeds(arguments.treebank, lines, arguments.rounds, arguments.formats, Path(folder))
    print()
    memory(arguments.treebank)


def speeds(treebank: Path, lines: list[str], rounds: int, formats: list[str], folder: Path) -> None:
    """Print the seconds of each way to read, and their ratio to json.loads on the lines alone."""
    jobs: dict[str, Callable[[], object]] = {
        "json.loads on each line alone": lambda: exhaust(map(json.loads, lines)),
        "the lines of the file alone": lambda: exhaust(read_lines(treebank)),
        "load, graph by graph": lambda: exhaust(load(treebank)),
        "json.loads, all objects held": lambda: list(map(json.loads, lines)),
        "load, all graphs held": lambda: list(load(treebank)),
    }
    for name in formats:
        copy = folder / f"copy{codec(name).suffixes[0]}"
        convert(treebank, copy)
        jobs[f"load of {name} ({copy.stat().st_size / 1e6:.1f} MB)"] = lambda copy=copy: exhaust(load(copy))  # type: ignore[misc]
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            best[name] = min(best[name], cpu_seconds(job))
    alone = best["json.loads on each line alone"]
    print(f"{'best of ' + str(rounds):<40}{'seconds':>10}{'ratio':>10}{'graphs/s':>12}")
    for name, seconds in best.items():
        print(f"{name:<40}{seconds:>10.2f}{seconds / alone:>10.2f}{len(lines) / seconds:>12.0f}")


def memory(treebank: Path) -> None:
    """Print the peak memory of processes that read the treebank (Linux only)."""
    print(f"{'peak memory of a process':<40}{'MB':>10}")
    for name, body in MEMORY.items():
        code = PEAK.format(body=body)
        done = subprocess.run([sys.executable, "-c", code, treebank], capture_output=True, text=True, check=True)
        print(f"{name:<40}{int(done.stdout) / 1024:>10.1f}")


def cpu_seconds(job: Callable[[], object]) -> float:
    """CPU seconds of the job, what it returns and its release included."""
    start = time.process_time()
    job()
    return time.process_time() - start


def exhaust(items: Iterable[object]) -> None:
    for _ in items:
        pass


if __name__ == "__main__":
    main()
