"""How long drawing takes: the mean and the longest graph of each treebank, and the size of the SVG.

python benchmarks/drawing.py ../shared/data [--limit GRAPHS]
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from itertools import islice
from pathlib import Path

import perin
from perin.graphs import load
from perin.graphs.drawing import svg, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with a folder for each treebank")
    parser.add_argument("--limit", type=int, default=300, help="graphs of each treebank for the means (default: 300)")
    arguments = parser.parse_args()
    print(f"python {' '.join(sys.argv)}")
    print(f"perin {perin.__version__}, Python {platform.python_version()}, {processor()}, one process, CPU time")
    columns = ("treebank", "graphs", "nodes", "SVG ms", "text ms", "SVG kB", "longest nodes", "ms")
    print("".join(f"{column:>14}" for column in columns))
    for path in sorted(arguments.data.glob("*/dev.mrp.gz")):
        graphs = list(islice(load(path), arguments.limit))
        longest = max(load(path.with_name("train.mrp.gz")), key=len)
        start = time.process_time()
        sizes = [len(svg(graph).encode()) for graph in graphs]
        middle = time.process_time()
        for graph in graphs:
            text(graph)
        end = time.process_time()
        svg(longest)
        last = time.process_time()
        count = len(graphs)
        cells = (
            path.parent.name,
            str(count),
            f"{sum(map(len, graphs)) / count:.1f}",
            f"{1000 * (middle - start) / count:.1f}",
            f"{1000 * (end - middle) / count:.2f}",
            f"{sum(sizes) / count / 1000:.1f}",
            str(len(longest)),
            f"{1000 * (last - end):.0f}",
        )
        print("".join(f"{cell:>14}" for cell in cells))


def processor() -> str:
    """The model of the processor, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
