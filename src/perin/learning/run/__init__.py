"""A whole training run: from a recipe to a folder with model, log and report.

recipe.json      the recipe as it was used
data.json        hashes of the data, so that the run is resumed on the same
problems.jsonl   graphs that were not learned from or evaluated on, or only in part
log.jsonl        losses, loss weights, learning rates, dev scores
state-…/         the last two checkpoints, for --resume
best-…/          the best model so far
model/           the model, when the run has ended
report.html      what happened, for people
"""

from __future__ import annotations

import json
import math
import shutil
import time
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

import torch

from perin.errors import UsageError
from perin.files import point, pointed, sweep, whole_folder, write_text
from perin.learning import Recipe
from perin.learning.data import Corpus, load_corpus, problem_counts
from perin.learning.data.batches import Batch, collate, epoch_batches, prefetched, share
from perin.learning.objective import Objective, make_balances, training_step
from perin.learning.objective.losses import LossSettings
from perin.learning.run.evaluation import choose_null_thresholds, evaluate
from perin.learning.run.folder import Progress, State, check_recipe, claim, locked, writing
from perin.learning.run.journal import Console, Journal, duration
from perin.learning.run.optimisation import MovingAverage, Optimisation, Processes
from perin.learning.run.report import write_report
from perin.learning.run.start import count_frequencies, take_weights
from perin.model import model_folder
from perin.model.batches import cost
from perin.model.model import Model

PROBLEMS = "problems.jsonl"
MODEL = "model"
BEST, BEST_POINTER = "best-", "best.json"
DIVERGED = 20
"""Optimizer steps in a row without a finite gradient after which a run is given up; nothing is evaluated meanwhile."""


def train(recipe: Recipe, folder: Path, *, resume: bool = False, services: tuple[str, ...] = ()) -> Path:
    """Run a recipe in a folder and return the folder of the model.

    A folder that holds a run is resumed or left alone.
    """
    processes = Processes(recipe.learning.precision)
    if recipe.learning.balance == "layer" and processes.count > 1:
        raise UsageError("learning.balance='layer' works in one process only; use 'hidden' with several")
    console = Console()
    with ExitStack() as stack:
        if processes.first:
            stack.enter_context(locked(folder))
            check_recipe(folder, recipe, resume=resume)
            if processes.count > 1:
                console.say(f"{processes.count} processes share each batch")
            corpus = load_corpus(recipe, console.say)
            claim(folder, recipe, corpus)
            _tell_problems(corpus, folder, console)
        processes.wait()
        if not processes.first:  # the first one has left the rules in the cache
            corpus = load_corpus(recipe)
        trainer = Trainer(recipe, corpus, folder, processes, console)
        try:
            trainer.run(resume=resume, services=services if processes.first else ())
        except KeyboardInterrupt:
            console.end()
            if processes.first:
                console.say("the same command with --resume continues after the last checkpoint")
            raise
        finally:
            console.end()
        if processes.first:
            _finish(trainer, folder)
            console.say(f"model: {folder / MODEL}\nreport: {folder / 'report.html'}")
        processes.close()
    return folder / MODEL


def _tell_problems(corpus: Corpus, folder: Path, console: Console) -> None:
    with writing(folder), write_text(folder / PROBLEMS) as stream:
        stream.writelines(json.dumps(vars(problem), ensure_ascii=False) + "\n" for problem in corpus.problems)
    for (treebank, split, kind), count in problem_counts(corpus.problems):
        console.say(f"{treebank}: {count} {split} graph{'s' if count > 1 else ''} with a problem: {kind}")
    if corpus.problems:
        console.say(f"{folder / PROBLEMS} lists them")


def _finish(trainer: Trainer, folder: Path) -> None:
    model, corpus, budget = trainer.best_model(), trainer.corpus, trainer.recipe.evaluation.budget
    found = None
    if corpus.has_dev:
        choose_null_thresholds(model, corpus.dev, budget=budget)
        chosen = ", ".join(f"{treebank.null_threshold:g} for {name}" for name, treebank in model.treebanks.items())
        trainer.console.say(f"null thresholds that are best on dev: {chosen}")
        found = evaluate(model, corpus.dev, budget=budget)
        trainer.console.say(f"dev {found}")
        model.notes["dev"] = found.scores
    with writing(folder):
        if (folder / MODEL).exists():
            shutil.rmtree(folder / MODEL)
        with whole_folder(folder / MODEL) as files:
            model.save(files)
        write_report(folder / "report.html", trainer.recipe, corpus, model, found)


# The training loop, to be read from top to bottom.


class Trainer:
    """A run of a recipe on a corpus, in a folder."""

    def __init__(self, recipe: Recipe, corpus: Corpus, folder: Path, processes: Processes, console: Console) -> None:
        self.recipe, self.corpus, self.folder = recipe, corpus, folder
        self.processes, self.console = processes, console
        settings = recipe.learning
        torch.manual_seed(recipe.seed)
        self.model = Model.new(recipe.network, corpus.treebanks)
        for name, treebank in self.model.treebanks.items():
            targets = (example.target for example in corpus.examples if example.treebank == name)
            self.model.network.heads_of(name).initialise(count_frequencies(targets, treebank.sizes))
        if recipe.start is not None:
            self._start(recipe.start)
        network = self.model.network.to(processes.device)
        self.queries = {name: treebank.queries for name, treebank in self.model.treebanks.items()}
        self.costs = [cost(example.input.tokens, len(example.target)) for example in corpus.examples]
        self.updates = lru_cache(maxsize=2)(self._updates)
        self.steps = len(self.updates(0)) * settings.epochs
        balances = make_balances(network, settings.balance, alpha=settings.balance_alpha, rate=settings.balance_rate)
        optimisation = Optimisation(network, settings, self.steps)
        average = MovingAverage(optimisation.weights, settings.average)
        self.state = State(network, optimisation, average, balances, Progress())
        losses = LossSettings(settings.label_smoothing, settings.focal, settings.per_node, settings.null_weight)
        self.objective = Objective(losses, settings.anchor_masking, settings.tie_breaking, settings.earlier_layers)
        self.journal: Journal | None = None
        self.skipped = 0

    def _start(self, name: str) -> None:
        """Start from the weights of another model."""
        left = take_weights(self.model, Model.load(model_folder(name)))
        what = f", except {len(left)} new ones such as {left[0]}" if left else ""
        self._say(f"starting from the weights of {name}{what}")

    def run(self, *, resume: bool = False, services: tuple[str, ...] = ()) -> None:
        """Train to the end, from the beginning or from the last checkpoint."""
        progress = self.state.progress
        resumed = resume and self.state.restore(self.folder)
        if self.processes.first:
            self.journal = Journal(self.folder, resumed=progress.step if resumed else None, services=services)
        if resumed:
            self._say(f"resumed after step {progress.step} in epoch {progress.epoch + 1}")
        try:
            self._epochs()
        finally:
            if self.journal is not None:
                self.journal.close()

    def _epochs(self) -> None:
        progress = self.state.progress
        while progress.epoch < self.recipe.learning.epochs and not self._is_stale():
            self._epoch()
            progress.epoch, progress.updates = progress.epoch + 1, 0
            if self._evaluation_is_due():
                self._evaluate()
            self._checkpoint()
        if self.skipped:
            raise self._divergence()
        if self.journal is not None:
            self.journal.write("end", step=progress.step, epoch=progress.epoch, seconds=progress.seconds)

    def _epoch(self) -> None:
        progress = self.state.progress
        self.model.network.train()
        updates = self.updates(progress.epoch)
        for batches in prefetched(updates[progress.updates :], self._collated):
            started = time.perf_counter()
            torch.manual_seed(self.recipe.seed * 1_000_003 + progress.step * self.processes.count + self.processes.rank)
            losses = self._update(batches)
            progress.sentences += sum(map(len, updates[progress.updates]))
            progress.step, progress.updates = progress.step + 1, progress.updates + 1
            progress.seconds += time.perf_counter() - started
            self._tell(losses)
            if progress.step % self.recipe.learning.checkpoint == 0:
                self._checkpoint()

    def _update(self, batches: list[Batch | None]) -> dict[str, dict[str, float]]:
        """One optimizer step on the gradients of some batches; the losses of the last of them."""

        def backward(loss: torch.Tensor) -> None:
            self.processes.backward(loss / len(batches))

        losses: dict[str, dict[str, float]] = {}
        for batch in batches:
            with self.processes.precision():
                losses = training_step(
                    self.model.network,
                    batch,
                    self.objective,
                    self.state.balances,
                    backward=backward,
                    common=self.processes.common,
                )
        self.processes.sum_gradients(self.state.optimisation.weights)
        self._check_norm(self.state.optimisation.step(self.state.progress.step))
        self.state.average.update(self.state.progress.step)
        return losses

    def _check_norm(self, norm: float) -> None:
        """Give up where one bad batch follows another: nothing is learned any more."""
        self.skipped = 0 if math.isfinite(norm) else self.skipped + 1
        if self.skipped == DIVERGED:
            raise self._divergence()

    def _divergence(self) -> UsageError:
        return UsageError(
            f"the loss has diverged: no finite gradient in the last {self.skipped} steps before step "
            f"{self.state.progress.step + 1}; start a new run with lower learning.rate and learning.encoder_rate"
        )

    def _updates(self, epoch: int) -> list[list[list[int]]]:
        """The batches of an epoch, as many together as make up an optimizer step."""
        settings = self.recipe.learning
        batches = epoch_batches(
            self.costs,
            [example.treebank for example in self.corpus.examples],
            budget=settings.cost,
            max_batch_size=settings.sentences,
            seed=self.recipe.seed,
            epoch=epoch,
        )
        size = settings.accumulation
        return [batches[start : start + size] for start in range(0, len(batches), size)]

    def _collated(self, batches: list[list[int]]) -> list[Batch | None]:
        """The part of this process of the batches of an optimizer step."""
        parts = [share(batch, self.costs, self.processes.rank, self.processes.count) for batch in batches]
        examples = self.corpus.examples
        return [
            collate([examples[index] for index in part], self.model.preparation, self.queries) if part else None
            for part in parts
        ]

    def _evaluation_is_due(self) -> bool:
        settings, epoch = self.recipe.evaluation, self.state.progress.epoch
        if not self.corpus.has_dev or self.skipped:
            return False
        last = epoch == self.recipe.learning.epochs
        return last or (epoch >= settings.start and (epoch - settings.start) % settings.every == 0)

    def _evaluate(self) -> None:
        """Score dev, with the averaged weights if there are any, and keep the model if it is the best so far."""
        progress = self.state.progress
        if self.processes.first:
            with self.state.average.applied():
                found = evaluate(self.model, self.corpus.dev, budget=self.recipe.evaluation.budget)
                better = found.mean > progress.best
                if better:
                    self._keep_best({"epoch": progress.epoch, "dev": found.scores})
            assert self.journal is not None
            self.journal.write(
                "evaluation", step=progress.step, epoch=progress.epoch, mean=found.mean, scores=found.scores
            )
            self._say(f"epoch {progress.epoch}: dev {found} {'(best so far)' if better else ''}")
            mean = found.mean
        else:
            mean = 0.0
        mean = self.processes.agreed(mean)
        if mean > progress.best:
            progress.best, progress.best_epoch, progress.stale = mean, progress.epoch, 0
        else:
            progress.stale += 1

    def _is_stale(self) -> bool:
        patience = self.recipe.evaluation.patience
        return bool(patience) and self.state.progress.stale >= patience

    def _keep_best(self, notes: dict[str, object]) -> None:
        target = self.folder / f"{BEST}{self.state.progress.step:08}"
        if not target.exists():
            self.model.notes = {"recipe": self.recipe.name, **notes}
            with writing(self.folder), whole_folder(target) as files:
                self.model.save(files, half=False)
        with writing(self.folder):
            point(self.folder / BEST_POINTER, target)
        sweep(self.folder, BEST, {target})

    def _checkpoint(self) -> None:
        if self.processes.first:
            self.state.save(self.folder)
        self.processes.wait()

    def best_model(self) -> Model:
        """The model with the best dev score; without dev data, the last one."""
        folder = pointed(self.folder / BEST_POINTER)
        return self.model if folder is None else Model.load(folder)

    def _tell(self, losses: dict[str, dict[str, float]]) -> None:
        if self.journal is None:
            return
        progress = self.state.progress
        slow, fast = self.state.optimisation.rates(progress.step - 1)
        speed = progress.sentences / max(progress.seconds, 1e-9)
        weights = {name: self.state.balances[name].weights for name in losses}
        self.journal.write(
            "step",
            step=progress.step,
            epoch=progress.epoch,
            losses=losses,
            weights=weights,
            rates={"encoder": slow, "rest": fast},
            sentences_per_second=speed,
        )
        left = progress.seconds / progress.step * (self.steps - progress.step)
        sums = [
            f"{name} loss {sum(value * weights[name][kind] for kind, value in of.items()):.3f}"
            for name, of in losses.items()
        ]
        self.console.show(
            progress.step,
            self.steps,
            f"epoch {progress.epoch + 1}/{self.recipe.learning.epochs}  {speed:.1f} sentences/s  "
            f"{duration(left)} left  rates {slow:.1e} {fast:.1e}  {'  '.join(sums)}",
        )

    def _say(self, text: str) -> None:
        if self.processes.first:
            self.console.say(text)
