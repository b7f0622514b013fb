"""A whole training run: from a recipe to a folder with model, log and report.

recipe.json      the recipe as it was used
problems.jsonl   graphs that were not learned from, or only in part
log.jsonl        losses, loss weights, learning rates, dev scores
state-…/         the last checkpoint, for --resume
best-…/          the best model so far
model/           the model, when the run has ended
report.html      what happened, for people
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from perin.errors import UsageError
from perin.learning.corpus import Corpus, load_corpus
from perin.learning.folders import whole_folder
from perin.learning.journal import LiveLine
from perin.learning.processes import Processes
from perin.learning.recipe import Recipe
from perin.learning.report import write_report
from perin.learning.schema import as_dict
from perin.learning.trainer import Trainer

RECIPE = "recipe.json"
MODEL = "model"


def train(recipe: Recipe, folder: Path, *, resume: bool = False, services: tuple[str, ...] = ()) -> Path:
    """Run a recipe in a folder and return the folder of the model.

    A folder that holds a run is gone on with (``resume``) or left alone.
    """
    processes = Processes(recipe.learning.precision)
    if recipe.learning.balance == "layer" and processes.count > 1:
        raise UsageError("learning.balance='layer' works in one process only; use 'hidden' with several")
    live = LiveLine()
    if processes.first:
        _claim(folder, recipe, resume)
        corpus = load_corpus(recipe, live.say)
        _tell_problems(corpus, folder, live)
    processes.wait()
    if not processes.first:  # the first one has left the rules in the cache
        corpus = load_corpus(recipe)
    trainer = Trainer(recipe, corpus, folder, processes, live)
    trainer.run(resume=resume, services=services if processes.first else ())
    if processes.first:
        _finish(trainer, folder)
        live.say(f"model: {folder / MODEL}\nreport: {folder / 'report.html'}")
    processes.wait()
    return folder / MODEL


def _claim(folder: Path, recipe: Recipe, resume: bool) -> None:
    """Make the folder this run's, or see that it is."""
    path = folder / RECIPE
    wanted = as_dict(recipe)
    if path.exists() and not resume:
        raise UsageError(f"{folder} holds a run; go on with it (--resume) or choose another folder (--output)")
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before != wanted:
            changed = [key for key in wanted if before.get(key) != wanted[key]]
            raise UsageError(f"{folder} holds a run of another recipe ({', '.join(changed)} differ); use that one")
        return
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")


def _tell_problems(corpus: Corpus, folder: Path, live: LiveLine) -> None:
    lines = [json.dumps(vars(problem), ensure_ascii=False) for problem in corpus.problems]
    (folder / "problems.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    if lines:
        live.say(f"{len(lines)} graphs are not learned from, or only in part: {folder / 'problems.jsonl'} lists them")


def _finish(trainer: Trainer, folder: Path) -> None:
    model = trainer.best_model()
    if (folder / MODEL).exists():
        shutil.rmtree(folder / MODEL)
    with whole_folder(folder / MODEL) as files:
        model.save(files)
    write_report(folder / "report.html", trainer.recipe, trainer.corpus, model)
