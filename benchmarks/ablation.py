"""The paper's ablation table on open data: the same small training with one part of the method left out at a time.

python benchmarks/ablation.py [--recipes small-eds small-ucca] [--sentences 2000] [--epochs 6] [--dev 300]
    [--seeds 1 2] [--threads 1] [--precision bf16] [--runs runs/ablation] [--set KEY=VALUE]

"full" is the method as the paper has it, on the small network of the recipe; "as shipped" is the recipe as it is.  One
thing is cheaper than in the paper: gradients of the losses are compared at the hidden states, not at the weights of the
last decoder layer, which would nearly double the time of all rows ("gradients at the last layer" does it).  The last,
averaged weights are scored; nothing is chosen by dev.  Each run that has ended is a line of RUNS/runs.jsonl, and
an interrupted one continues from its last checkpoint: the same command goes on where it stopped, and prints the tables
of all that is there, with the machines that trained.  ``--table`` only prints.  ``--set`` changes the recipe of all
rows (an encoder's folder, say); a row's own changes come after it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from machine import describe

from perin.learning import load_recipe
from perin.learning.data import Corpus, load_corpus
from perin.learning.run import Trainer
from perin.learning.run.evaluation import evaluate
from perin.learning.run.folder import locked
from perin.learning.run.journal import Console
from perin.learning.run.optimisation import Processes

PAPER = ("network.mixture=15", "learning.label_smoothing=0.1", "learning.per_node=false", "learning.balance=hidden")
VARIANTS: dict[str, tuple[str, ...]] = {
    "full": PAPER,
    "w/o mixture of softmaxes": (*PAPER, "network.mixture=1"),
    "w/o focal loss": (*PAPER, "learning.focal=0"),
    "w/o balanced losses": (*PAPER, "learning.balance=equal"),
    "w/o balanced losses, by node": (*PAPER, "learning.balance=equal", "learning.per_node=true"),
    "w/o anchor masking": (*PAPER, "learning.anchor_masking=false"),
    "w/o tie-breaking": (*PAPER, "learning.tie_breaking=false"),
    "w/o character embeddings": (*PAPER, "network.character_embeddings=false"),
    "w/o layer dropout": (*PAPER, "network.layer_dropout=0"),
    "as shipped": (),
}
"""Names of the rows, and what they change in the recipe."""
OTHERS: dict[str, tuple[str, ...]] = {
    "gradients at the last layer": (*PAPER, "learning.balance=layer"),
    "German lemmas": ("treebanks.0.translation=none",),
    "lemmas by a learned glossary": ("treebanks.0.translation=learned",),
    "MiniLM": (),
    "gte-small": ("network.encoder=thenlper/gte-small", "learning.epochs=3"),
    "e5": ("network.encoder=e5", "network.middle_layers=true", "learning.epochs=3"),
    "three decoder layers": ("network.layers=3",),
    "losses after each layer": ("learning.earlier_layers=0.5",),
    "null counts half": ("learning.null_weight=0.5",),
    "no moving average": ("learning.average=0",),
    "inverse square root": ("learning.schedule=inverse-sqrt",),
}
"""Rows that are made only if they are asked for, such as --recipes small-drg-deu --variants "German lemmas" …

With --epochs 4, the encoders of twelve layers see three epochs where MiniLM, with six, sees four: about the same CPU
time.
"""
TYPES = ("tops", "labels", "properties", "anchors", "edges", "attributes", "all")
BUDGET = ("recipe", "sentences", "epochs", "dev", "precision")
"""What two runs must have in common to stand in one table."""
PRECISIONS = {"no": "", "bf16": ", bfloat16"}
"""What a table's title says of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of the treebanks")
    parser.add_argument("--recipes", nargs="+", default=["small-eds", "small-ucca"])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS | OTHERS, metavar="ROW")
    parser.add_argument("--sentences", type=int, default=2000, help="training sentences, the first ones")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--dev", type=int, default=300, help="dev graphs, the first ones")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("no", "bf16"), default="no")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of every row")
    parser.add_argument("--runs", type=Path, default=Path("runs/ablation"), help="folder of results and checkpoints")
    parser.add_argument("--table", action="store_true", help="print what is there and train nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if not arguments.table:
        train_all(arguments)
    print("\n\n".join(tables(read(arguments.runs / "runs.jsonl"))))


def train_all(arguments: argparse.Namespace) -> None:
    """Make all runs that are not done yet, all rows of a seed before the next seed."""
    results = arguments.runs / "runs.jsonl"
    arguments.runs.mkdir(parents=True, exist_ok=True)
    with locked(arguments.runs):
        for seed in arguments.seeds:
            for recipe in arguments.recipes:
                for variant in arguments.variants:
                    wanted = {key: getattr(arguments, key) for key in BUDGET if key != "recipe"}
                    wanted |= {"recipe": recipe, "variant": variant, "seed": seed}
                    if any(wanted.items() <= done.items() for done in read(results)):
                        continue
                    line = json.dumps(wanted | train(arguments.data, arguments.runs / "current", wanted, arguments.set))
                    with results.open("a", encoding="utf-8") as stream:
                        stream.write(line + "\n")
                    shutil.rmtree(arguments.runs / "current")
                    print(line, flush=True)


def train(data: str, folder: Path, wanted: dict[str, Any], changes: Sequence[str] = ()) -> dict[str, Any]:
    """Train one row with one seed, from its last checkpoint if it was interrupted, and score it."""
    recipe = load_recipe(
        wanted["recipe"],
        [
            f"data={data}",
            f"seed={wanted['seed']}",
            f"treebanks.0.limit={wanted['sentences']}",
            f"learning.epochs={wanted['epochs']}",
            f"evaluation.limit={wanted['dev']}",
            f"learning.precision={wanted['precision']}",
            *changes,
            *(VARIANTS | OTHERS)[wanted["variant"]],
        ],
    )
    note = folder / "wanted.json"
    if not note.exists() or json.loads(note.read_text(encoding="utf-8")) != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        note.write_text(json.dumps(wanted), encoding="utf-8")
    corpus = load_corpus(recipe)
    began = time.process_time()
    alone = Corpus(corpus.treebanks, corpus.examples, {}, [])
    trainer = Trainer(recipe, alone, folder, Processes(wanted["precision"]), Console())
    trainer.run(resume=True)
    minutes = (time.process_time() - began) / 60
    with trainer.state.average.applied():
        found = evaluate(trainer.model, corpus.dev, budget=recipe.evaluation.budget)
    [scores] = found.scores.values()
    return {
        "scores": {kind: round(100 * value, 2) for kind, value in scores.items()},
        "minutes": round(minutes, 1),
        "machine": describe().splitlines()[-1],
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The runs that have ended."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tables(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table in Markdown for each budget, in the form of the paper's: mean and range over the seeds."""
    for budget in dict.fromkeys(tuple(run[key] for key in BUDGET) for run in runs):
        same = [run for run in runs if tuple(run[key] for key in BUDGET) == budget]
        kinds = [kind for kind in TYPES if any(kind in run["scores"] for run in same)]
        seeds = sorted({run["seed"] for run in same})
        machines = dict.fromkeys(run.get("machine", "an unknown machine") for run in same)
        recipe, sentences, epochs, dev, precision = budget
        yield (
            f"`{recipe}`, {sentences} training sentences, {epochs} epochs, {dev} dev graphs{PRECISIONS[precision]}, "
            f"seeds {', '.join(map(str, seeds))}: mean F1 (lowest to highest); "
            f"trained on {' and on '.join(machines)}\n\n"
            f"| configuration | {' | '.join(kinds)} | CPU minutes |\n|---|{'---:|' * (len(kinds) + 1)}\n"
            + "\n".join(
                row(variant, kinds, [run for run in same if run["variant"] == variant])
                for variant in VARIANTS | OTHERS
                if any(run["variant"] == variant for run in same)
            )
        )


def row(variant: str, kinds: Sequence[str], runs: Sequence[dict[str, Any]]) -> str:
    cells = []
    for kind in kinds:
        values = [run["scores"].get(kind, 0.0) for run in runs]
        spread = f" ({min(values):.1f} to {max(values):.1f})" if kind == "all" and len(values) > 1 else ""
        cells.append(f"{sum(values) / len(values):.2f}{spread}")
    minutes = sum(run["minutes"] for run in runs) / len(runs)
    return f"| {variant} | {' | '.join(cells)} | {minutes:.1f} |"


if __name__ == "__main__":
    main()
