"""The card of a model, printed and not typed; with --output also the model itself, in the form in which it is shipped.

python benchmarks/model_card.py MODEL [--data ../shared/data] [--output FOLDER] [--limit N] [--threads N] [--note TEXT]
    [--treebanks NAME …] [--bits 8|32]
       [--treebanks NAME…]

MODEL is a folder or the name of a model in the box.  --output writes it to a new folder, with the card as README.md;
all figures are then those of the written model.  Such a folder has all that it needs: weights in 16-bit floats or, as
far as it computes with 8 bits, in these; word embeddings in 8 bits, and of a multilingual vocabulary only the pieces
that its languages need.
Every treebank of the model is parsed and scored by the exact metric on its dev file; its ceiling is what a faultless
network with the model's rules would reach there.  A written model parses with 8 bits by default if F1 falls by no more
than 0.1 on any treebank; the heads of a treebank do so, too, if F1 then still falls by no more than that.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from machine import describe

from perin.errors import UsageError
from perin.files import whole_folder
from perin.frameworks.oracle import round_trip
from perin.frameworks.treebank import read_treebank
from perin.graphs.codecs.registry import load
from perin.graphs.faults import Tolerant
from perin.learning.run.evaluation import TYPES, parse_treebank
from perin.model.folder import Treebank
from perin.model.model import Model
from perin.model.pieces import needed_pieces
from perin.model.sources import model_folder
from perin.network.eightbit import supported
from perin.network.encoders.pruning import can_be_pruned
from perin.network.encoders.sources import read_config
from perin.parsing.benchmark import Figures, measure
from perin.parsing.parser import Parser
from perin.scoring import score
from perin.scoring.tally import Tally

SOURCES = {
    "amr-eng": ("The Little Prince v3.0 and a part of Bio AMR", "public data by its source, no licence file"),
    "amr-zho": ("Chinese AMR of The Little Prince (CAMR v0.1)", "no licence stated"),
    "drg-deu": ("Parallel Meaning Bank 4.0.0, German, gold", "MIT repository (RikVN/DRS_parsing)"),
    "drg-eng": ("Parallel Meaning Bank 2.2.0 and 4.0.0 (dev: 3.0.0), gold", "MIT repository (RikVN/DRS_parsing)"),
    "eds-eng": (
        "English Resource Grammar (2025) treebanks: Wikipedia, Tanaka sentences, hiking brochures; gold",
        "MIT (delph-in/erg); rights in the texts not restated",
    ),
    "ptg-ces": ("samples of the Prague Dependency Treebank, gold", "CC BY-NC-SA: for non-commercial use only"),
    "ptg-eng": (
        "automatic analyses of CzEng, so that scores measure imitation of that analyser",
        "CC BY-NC-SA: for non-commercial use only",
    ),
    "umr-ces": (
        "UMR 3.0, converted by its makers from the Prague Dependency Treebank (PDT-C 2.0)",
        "CC BY-NC-SA 4.0: for non-commercial use only",
    ),
    "umr-eng": ("UMR 3.0 English: converted AMR and dialogue", "CC BY-SA 4.0"),
    "ucca-deu": ("Twenty Thousand Leagues and The Little Prince in German, gold", "CC BY-SA 3.0"),
    "ucca-eng": ("English Web Treebank reviews and Wikipedia, gold", "CC BY-SA 3.0"),
}
"""Of each treebank what it is and the licence that its source states."""

TOLERATED = 0.1
"""Points of F1 that computing with 8 bits may cost."""

LIMITS = """\
- It has learned the kinds of text that are named above; on others it is worse.
- It parses one sentence at a time and knows nothing of the one before.
- A sentence of more than {longest} tokens is an error unless the limit is raised.
- Probabilities are those of single decisions; a graph can be wrong although each of them is high.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder of a model, or the name of one in the box")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--output", type=Path, help="new folder for the model as it is shipped, and its card")
    parser.add_argument("--limit", type=int, help="score only so many graphs of each treebank, the first ones")
    parser.add_argument("--threads", type=int, help="cores to use (default: all)")
    parser.add_argument("--note", default="", help="a sentence or two that the card begins with")
    parser.add_argument("--treebanks", nargs="+", metavar="NAME", help="write only these treebanks of the model")
    parser.add_argument("--bits", type=int, choices=(8, 32), help="what the model computes with, without a comparison")
    arguments = parser.parse_args()
    source = model_folder(arguments.model)
    options = (arguments.data, arguments.limit, arguments.threads, arguments.note)
    if arguments.output is None:
        print(card(source, source.name, *options))
        return
    if arguments.output.exists():
        raise UsageError(f"{arguments.output} exists; choose a new folder")
    with whole_folder(arguments.output) as folder:
        model = chosen(source, arguments.treebanks)
        if arguments.bits:
            model.notes |= {"bits": arguments.bits, "rounded_heads": model.notes.get("rounded_heads", [])}
        else:
            model.notes |= bits(source, arguments.treebanks, arguments.data, arguments.limit, arguments.threads)
        model.save(folder, rounded=True, pieces=pieces(model, arguments.data))
        text = card(folder, arguments.output.name, *options)
        (folder / "README.md").write_text(text, encoding="utf-8")
    print(text)


def chosen(folder: Path, names: Sequence[str] | None) -> Model:
    """A model with some of its treebanks, or with all."""
    model = Model.load(folder)
    return model if names is None else model.only(names)


def pieces(model: Model, data: Path) -> set[int] | None:
    """The pieces of its encoder's vocabulary that a model's languages need; None where all are kept."""
    if model.described is None or not can_be_pruned(model.described):
        return None
    languages = {treebank.vocabulary.language for treebank in model.treebanks.values()}
    return needed_pieces(model.described, filter(None, languages), data)


def bits(
    folder: Path, treebanks: Sequence[str] | None, data: Path, limit: int | None, threads: int | None
) -> dict[str, Any]:
    """What a model's notes should say about 8 bits: used where F1 on dev falls by no more than :data:`TOLERATED`."""
    if not supported():
        return {"bits": 32, "rounded_heads": []}
    names = list(chosen(folder, treebanks).treebanks)
    ways = {"32 bits": (32, []), "8 bits": (8, []), "8 bits in heads, too": (8, names)}
    scores: dict[str, dict[str, float]] = {}
    for way, (width, heads) in ways.items():
        model = chosen(folder, treebanks)
        model.notes["rounded_heads"] = heads
        model.round_weights(width)
        parser = Parser(model, threads=threads)
        scores[way] = {name: 100 * f1_by_type(parser, dev_file(data, name), limit)["all"].f1 for name in names}
        print(way, *(f"{name} {f1:.2f}" for name, f1 in scores[way].items()), sep="  ", file=sys.stderr)
    exact, rounded, everywhere = scores.values()
    if any(exact[name] - rounded[name] > TOLERATED for name in names):
        return {"bits": 32, "rounded_heads": []}
    return {"bits": 8, "rounded_heads": [name for name in names if exact[name] - everywhere[name] <= TOLERATED]}


def dev_file(data: Path, treebank: str) -> Path:
    """The dev graphs of a treebank, in whichever format it has."""
    return next((path for path in (data / treebank).glob("dev.*.gz") if ".conllu" not in path.name), data / treebank)


def f1_by_type(parser: Parser, path: Path, limit: int | None) -> Mapping[str, Tally]:
    """How a parser's graphs for the texts of a treebank compare with those of the treebank."""
    gold = list(load(path))[:limit]
    return score(gold, parse_treebank(parser, gold, report=Tolerant()), "mrp", budget=10.0).total.tallies


def card(folder: Path, name: str, data: Path, limit: int | None, threads: int | None, note: str) -> str:
    """The model card of a folder."""
    parser = Parser.load(folder, threads=threads)
    scores = {}
    for treebank, known in parser.treebanks.items():
        print(f"scoring {treebank}", file=sys.stderr)
        scores[treebank] = dev_scores(parser, known, dev_file(data, treebank), limit)
    figures = {
        known.name: measure(
            folder,
            str(dev_file(data, known.name)),
            known.vocabulary.framework,
            known.vocabulary.language,
            threads=threads,
        )
        for known in parser.treebanks.values()
    }
    sections = [
        f"# {name}",
        note,
        _contents(parser, folder),
        "## Training data\n\n" + _table(("treebank", "what it is", "licence"), _sources(parser)),
        "## Scores\n\nMRP F1 on dev, exact metric, from plain text. The ceiling is what a faultless network with the "
        "same rules would reach.\n\n" + _table(("treebank", "graphs", *TYPES, "ceiling"), scores.values()),
        "## Speed\n\n" + _speed(figures),
        "## Limits\n\n" + LIMITS.format(longest=parser.longest).strip(),
        f"Printed by benchmarks/model_card.py on {describe().splitlines()[-1]}.",
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def dev_scores(parser: Parser, treebank: Treebank, path: Path, limit: int | None) -> list[str]:
    """A row of the table of scores."""
    gold = list(load(path))[:limit]
    found = f1_by_type(parser, path, limit)
    read = read_treebank(path)
    pairs = zip(read.graphs[:limit], read.sentences, strict=False)
    trips = [
        round_trip(treebank.framework, graph, sentence, treebank.vocabulary, treebank.queries).graph
        for graph, sentence in pairs
    ]
    ceiling = score(gold, trips, "mrp", budget=10.0).total.tallies["all"]
    return [treebank.name, f"{len(gold):,}", *(_percent(found[kind]) for kind in TYPES), _percent(ceiling)]


def _contents(parser: Parser, folder: Path) -> str:
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    model = Model.load(folder)
    parameters, settings = sum(weight.numel() for weight in model.network.parameters()) / 1e6, model.settings
    return (
        f"Parses text to {', '.join(parser.treebanks)} in one pass of the encoder `{settings.encoder}`. "
        f"{parameters:.1f} million parameters, {megabytes:.1f} MB." + _kept(folder / "encoder")
    )


def _kept(encoder: Path) -> str:
    """What a card says of an encoder's vocabulary."""
    if not encoder.is_dir() or not can_be_pruned(encoder):
        return ""
    count = read_config(encoder)["vocab_size"]
    return f" Of the encoder's vocabulary it has the {count:,} pieces that its languages need."


def _sources(parser: Parser) -> list[tuple[str, str, str]]:
    return [(name, *SOURCES.get(name, ("not described", "not known"))) for name in parser.treebanks]


def _speed(figures: Mapping[str, Figures]) -> str:
    anyone = next(iter(figures.values()))
    about = (
        "Dev sentences of each treebank, "
        f"on {anyone.threads} cores with {anyone.bits} bits. A parser is ready {anyone.start:.1f} s after the start of "
        "Python."
    )
    rows = [
        (
            kind,
            f"{each.sentences_per_second:.0f}",
            f"{each.tokens_per_second:.0f}",
            f"{1000 * each.latency:.0f} ms",
            "unknown" if each.memory is None else f"{each.memory:.0f} MB",
        )
        for kind, each in figures.items()
    ]
    head = ("treebank", "sentences a second", "tokens a second", "one short sentence", "peak memory")
    return f"{about}\n\n{_table(head, rows)}"


def _percent(tally: Tally) -> str:
    return f"{100 * tally.f1:.2f}" if tally.g or tally.s else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
