"""A whole training run: from a recipe to a folder with model, log and report.

recipe.json      the recipe as it was used
problems.jsonl   graphs that were not learned from or evaluated on, or only in part
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
from perin.files import write_text
from perin.learning.corpus import Corpus, load_corpus, problem_counts
from perin.learning.evaluation import evaluate
from perin.learning.folders import whole_folder
from perin.learning.journal import LiveLine
from perin.learning.limits import choose_null_limits
from perin.learning.processes import Processes
from perin.learning.recipe import Recipe
from perin.learning.report import write_report
from perin.learning.schema import as_dict
from perin.learning.trainer import Trainer

RECIPE = "recipe.json"
PROBLEMS = "problems.jsonl"
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
        _check_folder(folder, recipe, resume)
        corpus = load_corpus(recipe, live.say)
        _claim(folder, recipe)
        _tell_problems(corpus, folder, live)
    processes.wait()
    if not processes.first:  # the first one has left the rules in the cache
        corpus = load_corpus(recipe)
    trainer = Trainer(recipe, corpus, folder, processes, live)
    try:
        trainer.run(resume=resume, services=services if processes.first else ())
    except KeyboardInterrupt:
        live.end()
        if processes.first:
            live.say("the same command with --resume goes on after the last checkpoint")
        raise
    finally:
        live.end()
    if processes.first:
        _finish(trainer, folder)
        live.say(f"model: {folder / MODEL}\nreport: {folder / 'report.html'}")
    processes.wait()
    return folder / MODEL


def _check_folder(folder: Path, recipe: Recipe, resume: bool) -> None:
    """See that the folder holds no run, or the one to be gone on with."""
    path = folder / RECIPE
    if not path.exists():
        return
    if not resume:
        raise UsageError(f"{folder} holds a run; go on with it (--resume) or choose another folder (--output)")
    before, wanted = json.loads(path.read_text(encoding="utf-8")), as_dict(recipe)
    changed = [key for key in wanted if before.get(key) != wanted[key]]
    if changed:
        raise UsageError(f"{folder} holds a run of another recipe ({', '.join(changed)} differ); use that one")


def _claim(folder: Path, recipe: Recipe) -> None:
    """Make the folder this run's."""
    folder.mkdir(parents=True, exist_ok=True)
    with write_text(folder / RECIPE) as stream:
        stream.write(json.dumps(as_dict(recipe), indent=1) + "\n")


def _tell_problems(corpus: Corpus, folder: Path, live: LiveLine) -> None:
    with write_text(folder / PROBLEMS) as stream:
        stream.writelines(json.dumps(vars(problem), ensure_ascii=False) + "\n" for problem in corpus.problems)
    for (treebank, split, kind), count in problem_counts(corpus.problems):
        live.say(f"{treebank}: {count} {split} graph{'s' if count > 1 else ''} with a problem: {kind}")
    if corpus.problems:
        live.say(f"{folder / PROBLEMS} lists them")


def _finish(trainer: Trainer, folder: Path) -> None:
    model, corpus, budget = trainer.best_model(), trainer.corpus, trainer.recipe.evaluation.budget
    found = None
    if corpus.has_dev:
        choose_null_limits(model, corpus.dev, budget=budget)
        limits = ", ".join(f"{treebank.null_limit:g} for {name}" for name, treebank in model.treebanks.items())
        trainer.live.say(f"a query is a node if the probability of null is below {limits}: the best on dev")
        found = evaluate(model, corpus.dev, budget=budget)
        trainer.live.say(f"dev {found}")
        model.notes["dev"] = found.scores
    if (folder / MODEL).exists():
        shutil.rmtree(folder / MODEL)
    with whole_folder(folder / MODEL) as files:
        model.save(files)
    write_report(folder / "report.html", trainer.recipe, corpus, model, found)
