"""Measure the speed of a model: sentences and tokens per second, latency, start-up time, memory, and time by part.

FILE has one sentence per line, or is one of tokens (.conllu) or graphs (.mrp); without it, some English sentences are
taken.  Reading and writing files is not counted; tokenization is.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from perin.commands import frameworks
from perin.commands.parse import add_speed_options

if TYPE_CHECKING:
    from perin.parsing.benchmark import Figures

SAMPLE = """
It rains.
The dog that the children found in the garden sleeps under the kitchen table.
She asked him whether the train from Prague had arrived on time.
Most of the books on the upper shelf were written before 1950.
Nobody knew why the lights in the old town hall went out at midnight.
If the price of bread rises again, many families will not be able to pay their rent.
The committee, which met on Tuesday, decided to postpone the vote until all members had read the report.
My brother and his wife moved to a small village near the border because they wanted to keep bees.
After three hours of walking through the forest, we reached a lake that was not on any of our maps.
"You should have called me earlier," said the doctor, "but there is still something that we can do."
He gave the woman at the counter two coins and took the newspaper without saying a word.
Researchers at the university have shown that birds which grow up in cities sing louder than those from the country.
"""
COPIES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin bench``."""
    parser.add_argument("model", metavar="MODEL", help="folder of a model, name of one in the box, or name on the hub")
    parser.add_argument("file", metavar="FILE", nargs="?", help="sentences to measure with")
    parser.add_argument(
        "--framework", type=frameworks, metavar="F", help="framework, or 'all' that the model has (default: its first)"
    )
    parser.add_argument("--language", metavar="L", help="language of the text (default: the model's)")
    add_speed_options(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from perin.model import model_folder
    from perin.parsing.benchmark import measure

    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file
        if file is None:
            file = str(Path(folder) / "sample.txt")
            Path(file).write_text(SAMPLE.lstrip() * COPIES, encoding="utf-8")
        figures = measure(
            model_folder(arguments.model),
            file,
            arguments.framework,
            arguments.language,
            threads=arguments.threads,
            bits=arguments.bits,
        )
    print(json.dumps(asdict(figures)) if arguments.json else table(figures))
    return 0


def table(figures: Figures) -> str:
    """The figures as lines of text."""
    memory = "unknown" if figures.memory is None else f"{figures.memory:.0f} MB"
    rows = [
        ("treebanks", ", ".join(figures.treebanks)),
        ("sentences", f"{figures.sentences} ({figures.tokens / figures.sentences:.1f} tokens each)"),
        ("cores", str(figures.threads)),
        ("bits", str(figures.bits)),
        ("C code", "yes" if figures.native else "no: not compiled, not for this processor, or switched off"),
        ("start-up", f"{figures.start:.2f} s from the start of Python, {figures.load:.2f} s of it to load the model"),
        ("first short sentence", f"{1000 * figures.first:.0f} ms"),
        ("one short sentence later", f"{1000 * figures.latency:.1f} ms"),
        ("sentences per second", f"{figures.sentences_per_second:.1f}"),
        ("tokens per second", f"{figures.tokens_per_second:.0f}"),
        ("peak memory", memory),
    ]
    total = sum(figures.parts.values())
    for name, seconds in figures.parts.items():
        each = 1000 * seconds / figures.sentences
        rows.append((name, f"{each:.2f} ms CPU a sentence ({100 * seconds / total:.0f} %)"))
    return "\n".join(f"{name:<26}{value}" for name, value in rows)
