"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path


def processor() -> str:
    """Number and name of the processor's cores."""
    name = platform.processor() or "unknown processor"
    path = Path("/proc/cpuinfo")
    if path.exists():
        models = [line.partition(":")[2].strip() for line in path.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return f"{len(os.sched_getaffinity(0))} cores of {name}"


def describe() -> str:
    """Command line, processor and versions."""
    import numpy
    import torch

    import perin

    versions = f"perin {perin.__version__}, Python {platform.python_version()}, torch {torch.__version__}"
    command = " ".join(["python", *sys.argv])
    return f"{command}\n{processor()}; {versions}, numpy {numpy.__version__}, {torch.get_num_threads()} threads"


def memory() -> dict[str, float]:
    """Memory of this process in MB: ``now`` and ``peak`` since :func:`forget_peak`."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(fields[key].split()[0]) / 1024 for name, key in (("now", "VmRSS"), ("peak", "VmHWM"))}


def forget_peak() -> None:
    """Start the measurement of the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")
