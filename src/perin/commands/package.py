"""Make the folder of a model that can be shipped: small, complete, with a card and checksums.

MODEL is the folder that a training run leaves (RUN/model), or the name of a model.  The new folder needs nothing from
elsewhere: word embeddings are stored in eight bits, and so are all weights that the model computes with in eight bits;
a multilingual encoder keeps only those pieces of its vocabulary that the model's languages need.
With --data, the model is scored on the dev graphs of its treebanks, the card has the scores, and --bits auto compares
8 with 32 bits: eight are used unless F1 falls on a treebank by more than 0.1 and by more than chance explains, and also
in the heads of those treebanks where it then does not fall so.  Temperatures for the probabilities of nodes, edges and
labels are chosen on the same graphs.  A model that was trained without property signatures gets those of the training
graphs in --data.  Without --data nothing is measured, and the card keeps the scores that MODEL has, as long as it
computes with as many bits.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from perin.commands import add_threads, count
from perin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perin.graphs.graph import Graph
    from perin.model.folder import ModelFolder, Quantization
    from perin.parsing.evaluation import DevScores

AUTO = "auto"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin package``."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="folder of a model, or the name of one")
    add("-o", "--output", type=Path, required=True, metavar="FOLDER", help="new folder to write")
    add("--treebanks", nargs="+", metavar="NAME", help="keep only these treebanks, such as eds-eng")
    add(
        "--bits",
        choices=("8", "32", AUTO),
        help="what the model computes with; auto: what is enough on dev (default: auto with --data, else as it is)",
    )
    add(
        "--quantize-heads",
        nargs="*",
        metavar="NAME",
        help="with --bits 8, the treebanks whose heads compute with eight bits as well (default: as it is)",
    )
    add(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder of treebanks, each a folder NAME with files train* and dev.*",
    )
    add("--limit", type=count, metavar="N", help="measure with only the first N dev graphs of each treebank")
    add("--budget", type=float, default=5.0, metavar="SECONDS", help="search time for the score of a graph")
    add("--note", default="", metavar="TEXT", help="a sentence or two that the card begins with")
    add("--no-scores", action="store_true", help="don't score the new model; --data then serves --bits and vocabulary")
    add("--wheel", metavar="VERSION", help="also write a wheel of this version beside the folder, for pip install")
    add_threads(parser, "cores to use (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and print its card."""
    from dataclasses import replace

    from perin.files import whole_folder
    from perin.model import model_folder
    from perin.model.folder import ModelFolder, rewrite_config
    from perin.model.packaging import needed_pieces, write_card, write_package, write_wheel
    from perin.parsing.calibration import best_temperatures
    from perin.parsing.evaluation import dev_graphs
    from perin.parsing.parser import LONGEST, Parser

    if arguments.output.exists():
        raise UsageError(f"{arguments.output} exists already; choose a new folder")
    if arguments.data is not None and not arguments.data.is_dir():
        raise UsageError(f"there is no folder {arguments.data}")
    original = read = ModelFolder.read(model_folder(arguments.model))
    if arguments.treebanks is not None:
        read = read.only(arguments.treebanks)
    gold: dict[str, list[Graph]] = {}
    if arguments.data is not None:
        read = _with_signatures(read, arguments.data)
        found = {name: dev_graphs(arguments.data, name, arguments.limit) for name in read.treebanks}
        gold = {name: graphs for name, graphs in found.items() if graphs}
    read = replace(read, quantization=_quantization(arguments, read, gold))
    if gold and not arguments.no_scores:  # chosen anew
        read = replace(read, treebanks={name: replace(each, temperatures={}) for name, each in read.treebanks.items()})
    with whole_folder(arguments.output) as folder:
        _say("writing the weights")
        write_package(read, folder, needed_pieces(read, arguments.data))
        parser = Parser.load(folder, threads=arguments.threads)
        measured = {} if arguments.no_scores else _measured(parser, gold, arguments.budget)
        scores = _scores_before(original, read) | measured
        if measured:
            treebanks = {
                name: replace(treebank, temperatures=best_temperatures(measured[name].decisions))
                if name in measured
                else treebank
                for name, treebank in read.treebanks.items()
            }
            rewrite_config(folder, treebanks, read.notes | {"dev": {name: each.f1 for name, each in scores.items()}})
        print(
            write_card(
                folder,
                arguments.output.name,
                parameters=_parameters(folder),
                note=arguments.note,
                scores=score_table(scores),
                calibration=calibration_table(measured),
                longest=LONGEST,
                printed="`perin package`",
            ),
            end="",
        )
    if arguments.wheel is not None:
        _say(f"wrote {write_wheel(arguments.output, arguments.output.parent, arguments.wheel)}")
    return 0


def _with_signatures(read: ModelFolder, data: Path) -> ModelFolder:
    """The model with property signatures of its training graphs where it was trained without them."""
    from dataclasses import replace

    from perin.frameworks import learn_signatures
    from perin.frameworks.vocabulary import Signatures
    from perin.parsing.evaluation import training_graphs

    treebanks = dict(read.treebanks)
    for name, treebank in read.treebanks.items():
        if treebank.vocabulary.signatures == Signatures():
            _say(f"{name}: learning property signatures")
            vocabulary = learn_signatures(training_graphs(data, name), treebank.vocabulary)
            treebanks[name] = replace(treebank, vocabulary=vocabulary)
    return replace(read, treebanks=treebanks)


def _quantization(arguments: argparse.Namespace, read: ModelFolder, gold: Mapping[str, list[Graph]]) -> Quantization:
    from perin.model.folder import Quantization
    from perin.parsing.evaluation import choose_quantization

    bits = arguments.bits or (AUTO if gold else None)
    if bits == AUTO and not gold:
        raise UsageError("--bits auto needs dev graphs to compare on: give --data, a folder with NAME/dev.mrp.gz")
    if arguments.quantize_heads is not None and bits != "8":
        raise UsageError("--quantize-heads goes with --bits 8")
    if bits == AUTO:
        return choose_quantization(read, gold, threads=arguments.threads, budget=arguments.budget, report=_say)
    if bits is None:
        return read.quantization
    heads = read.quantization.heads if arguments.quantize_heads is None else tuple(arguments.quantize_heads)
    if unknown := sorted(set(heads) - set(read.treebanks)) if arguments.quantize_heads else []:
        raise UsageError(f"the model has {', '.join(read.treebanks)}; {unknown[0]} is none of them")
    return Quantization(int(bits), heads if bits == "8" else ())


def _measured(parser: object, gold: Mapping[str, list[Graph]], budget: float) -> dict[str, DevScores]:
    from dataclasses import replace

    from perin.parsing.evaluation import ceiling, dev_scores
    from perin.parsing.parser import Parser

    assert isinstance(parser, Parser)
    measured = {}
    for name, graphs in gold.items():
        _say(f"scoring {name}")
        found = dev_scores(parser, graphs, budget=budget)
        measured[name] = replace(found, ceiling=ceiling(parser.treebanks[name], graphs, budget=budget))
    return measured


def _scores_before(original: ModelFolder, read: ModelFolder) -> dict[str, DevScores]:
    """The scores of the original, for those treebanks that the model computes with as many bits as before."""
    from perin.model.packaging import read_card
    from perin.parsing.evaluation import DevScores

    before, after = original.quantization, read.quantization
    dev = original.notes.get("dev")
    ceilings = {each.name: each.ceiling for each in read_card(original.path).treebanks}
    scores = {}
    for name in read.treebanks:
        same = before.bits == after.bits and (name in before.heads) == (name in after.heads)
        if same and isinstance(dev, dict) and name in dev:
            ceiling = ceilings[name]
            scores[name] = DevScores(None, dev[name], None if ceiling is None else ceiling / 100)
    return scores


def score_table(measured: Mapping[str, DevScores]) -> str:
    """The card's section on scores; empty if nothing was measured."""
    from perin.model.packaging import markdown_table
    from perin.parsing.evaluation import TYPES

    if not measured:
        return ""
    rows = []
    for name, found in measured.items():
        cells = [f"{100 * found.f1[kind]:.2f}" if kind in found.f1 else "–" for kind in TYPES]
        top = "–" if found.ceiling is None else f"{100 * found.ceiling:.2f}"
        rows.append((name, "–" if found.graphs is None else f"{found.graphs:,}", *cells, top))
    earlier = " Scores without a number of graphs were measured earlier." if any(row[1] == "–" for row in rows) else ""
    return (
        "MRP F1 on dev, exact metric, from plain text. The ceiling is what a faultless network with the same rules "
        f"would reach.{earlier}\n\n" + markdown_table(("treebank", "graphs", *TYPES, "ceiling"), rows)
    )


def calibration_table(measured: Mapping[str, DevScores]) -> str:
    """The card's section on probabilities; empty if there are too few decisions to choose a temperature by."""
    from perin.model.packaging import markdown_table
    from perin.parsing.calibration import best_temperatures

    rows = []
    for name, found in measured.items():
        for kind, temperature in best_temperatures(found.decisions).items():
            each = found.decisions[kind]
            errors = (f"{100 * decisions.error:.1f}" for decisions in (each, each.at(temperature)))
            rows.append((name, kind.replace("_", " "), f"{len(each):,}", f"{temperature:.2f}", *errors))
    if not rows:
        return ""
    head = ("treebank", "probability of", "decisions", "temperature", "error before", "error after")
    return (
        "Expected calibration error on the same graphs, in percent, before and after the temperatures that the model "
        f"has for its probabilities. They change no graph.\n\n{markdown_table(head, rows)}"
    )


def _parameters(folder: Path) -> int:
    from perin.model.folder import SCALE, WEIGHTS, read_arrays

    return sum(weight.size for name, weight in read_arrays(folder / WEIGHTS).items() if not name.endswith(SCALE))


def _say(line: str) -> None:
    print(f"perin package: {line}", file=sys.stderr)
