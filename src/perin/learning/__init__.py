"""How a model is trained: recipes here, and drawers for the data, the objective and the run.

A recipe is everything that a training run depends on, in one TOML file.  ``perin train --list`` names the recipes in
the box, ``perin train --explain`` prints every key of this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from perin.errors import InputError, UsageError
from perin.files import read_text
from perin.learning.schema import (
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    build,
    option,
    override,
    required,
    section,
    toml_module,
)
from perin.network.settings import CHARACTERS, NetworkSettings

Decay: TypeAlias = Literal["inverse-sqrt", "linear", "cosine", "constant"]

TRANSLATIONS = ("none", "learned")
"""Ways to translate lemmas that need neither a file nor a model."""
GLOSSARY = ".tsv"
"""How the name of a file of translations ends; anything else is a model."""

BOX = Path(__file__).parent / "recipes"
"""The recipes that come with the package."""


@dataclass(frozen=True)
class TreebankRecipe:
    """A treebank to learn.  File names are relative to the recipe's ``data`` folder."""

    framework: str = required("framework of the graphs: amr, drg, eds, ptg, ucca, umr or one that you registered")
    language: str = required("language of the text: eng, deu, ces, zho")
    train: tuple[str, ...] = required("files of graphs to learn from")
    dev: tuple[str, ...] = option((), "files of graphs to evaluate on; none: no evaluation")
    train_tokens: tuple[str, ...] = option(
        (), "CoNLL-U or companion files for the training graphs; none: our own tokenizer"
    )
    dev_tokens: tuple[str, ...] = option((), "the same for the dev graphs")
    queries: int = option(4, "queries per token", **POSITIVE)
    limit: int | None = option(None, "use only the first N training graphs", **POSITIVE)
    exclude: str | None = option(None, "a file of graph ids to leave out of training, in the last column of each line")
    repeat: int = option(1, "how often a training graph is seen in an epoch", **POSITIVE)
    text_case: bool = option(
        False,
        "write property values as the text does where a token equals them but for case (lower-case treebanks)",
    )
    vallex: str | None = option(
        None, "a valency lexicon (PDT-Vallex, EngVallex) that adds frames to those of the training graphs"
    )
    translation: str = option(
        "none",
        "how lemmas are translated where labels are in another language than the text (German DRG): 'none', 'learned' "
        "from the treebank, a file .tsv of lines 'lemma TAB translation', or a Marian model (a folder or a hub name)",
    )

    @property
    def translator(self) -> str | None:
        """The Marian model that translates lemmas, if one does."""
        return None if self.translation in TRANSLATIONS or self.translation.endswith(GLOSSARY) else self.translation

    def files(self) -> Iterator[tuple[str, str]]:
        """The files that the treebank is made of, each with the key that names it."""
        for key in ("train", "dev", "train_tokens", "dev_tokens"):
            yield from ((key, name) for name in getattr(self, key))
        translation = self.translation if self.translation.endswith(GLOSSARY) else None
        for key, name in (("exclude", self.exclude), ("vallex", self.vallex), ("translation", translation)):
            if name is not None:
                yield key, name


@dataclass(frozen=True)
class LearningSettings:
    """The loop: how long, how fast, which losses."""

    epochs: int = option(100, "passes over the training data", **POSITIVE)
    temperature: float = option(
        1.0,
        "above 1, graphs of smaller treebanks are repeated: a treebank's share of an epoch goes with its size to the "
        "power of 1 / temperature",
        check=lambda value: value >= 1,
        must="1 or greater",
    )
    sentences: int = option(16, "maximum number of sentences in a batch", **POSITIVE)
    cost: float = option(1600.0, "maximum cost of a batch: its sentences times the cost of the largest one", **POSITIVE)
    accumulation: int = option(2, "batches whose gradients are added up for one optimizer step", **POSITIVE)
    encoder_rate: float = option(6e-5, "peak learning rate of a pretrained encoder", **NOT_NEGATIVE)
    rate: float = option(6e-4, "peak learning rate of everything else", **POSITIVE)
    encoder_decay: float = option(1e-2, "weight decay of a pretrained encoder", **NOT_NEGATIVE)
    decay: float = option(1.2e-6, "weight decay of everything else", **NOT_NEGATIVE)
    encoder_delay: int = option(2000, "steps for which a pretrained encoder is frozen", **NOT_NEGATIVE)
    warmup: int = option(6000, "steps over which learning rates rise", **NOT_NEGATIVE)
    schedule: Decay = option("inverse-sqrt", "how learning rates fall after the warm-up")
    beta2: float = option(0.98, "second momentum of AdamW", **PROBABILITY)
    clip: float = option(1.0, "clip gradients to this norm over all weights; 0: no clipping", **NOT_NEGATIVE)
    average: float = option(0.0, "decay of the exponential moving average of the weights; 0: none", **PROBABILITY)
    label_smoothing: float = option(0.1, "probability taken from the right labels and spread over all", **PROBABILITY)
    focal: float = option(2.0, "exponent of the focal factor of the label loss; 0: none", **NOT_NEGATIVE)
    per_node: bool = option(
        False, "divide losses by the number of nodes, not of their items: edges and anchors count for more"
    )
    null_weight: float = option(
        1.0, "weight of queries without a node in the label loss; below 1, nodes have more than their share", **POSITIVE
    )
    earlier_layers: float = option(
        0.0, "weight of the losses after each decoder layer before the last; 0: only the last counts", **NOT_NEGATIVE
    )
    balance: Literal["hidden", "layer", "equal"] = option(
        "layer",
        "weights of the losses: GradNorm on the gradients at the hidden states (cheap), GradNorm on the last decoder "
        "layer (the paper's), or all equal",
    )
    balance_alpha: float = option(1.5, "strength of the balance", **NOT_NEGATIVE)
    balance_rate: float = option(1e-3, "learning rate of the loss weights", **NOT_NEGATIVE)
    anchor_masking: bool = option(True, "match a node only with the queries of its anchored tokens")
    tie_breaking: bool = option(True, "choose among nodes that labels and anchors can't tell apart by their edges")
    checkpoint: int = option(500, "optimizer steps between checkpoints; there is also one after each epoch", **POSITIVE)
    longest: int = option(
        150, "leave out training sentences with more tokens than this (they are counted and listed)", **POSITIVE
    )
    precision: Literal["no", "bf16"] = option(
        "no", "mixed precision: bf16 is faster on a GPU, and on a CPU with AVX-512 BF16"
    )


@dataclass(frozen=True)
class EvaluationSettings:
    """How dev scores steer the run."""

    every: int = option(1, "epochs between evaluations on dev", **POSITIVE)
    start: int = option(1, "the first epoch after which to evaluate", **POSITIVE)
    limit: int | None = option(None, "use only the first N dev graphs of each treebank", **POSITIVE)
    patience: int = option(0, "stop after this many evaluations without a better score; 0: never", **NOT_NEGATIVE)
    budget: float = option(2.0, "seconds that the scorer may spend on one graph", **POSITIVE)


@dataclass(frozen=True)
class Recipe:
    """A training run."""

    name: str = required("what the run is called")
    treebanks: tuple[TreebankRecipe, ...] = required("treebanks to learn, jointly if there are several")
    text: str = option("", "what the recipe is for, in one sentence")
    data: str = option("../shared/data", "folder of the treebanks, relative to where you are")
    seed: int = option(
        1, "of all random numbers", check=lambda value: 0 <= value < 2**32, must="at least 0 and below 4294967296"
    )
    start: str | None = option(
        None, "a model to start from: a path, a name, or one on the hub; weights that do not fit are new"
    )
    network: NetworkSettings = section(NetworkSettings, "sizes and dropouts of the network")
    learning: LearningSettings = section(LearningSettings, "the training loop")
    evaluation: EvaluationSettings = section(EvaluationSettings, "evaluation on dev")

    def path(self, name: str) -> Path:
        """A file of the recipe, found below its data folder."""
        return Path(self.data) / name


def recipe_files(recipe: Recipe) -> list[str]:
    """The names of all files that a recipe reads, each once."""
    return list(dict.fromkeys(name for treebank in recipe.treebanks for _, name in treebank.files()))


def recipes() -> list[str]:
    """The names of the recipes in the box."""
    return sorted(path.stem for path in BOX.glob("*.toml"))


def described_recipes() -> list[tuple[str, str]]:
    """The recipes in the box, each with what it is for."""
    return [(name, _parsed(BOX / f"{name}.toml").get("text", "")) for name in recipes()]


def load_recipe(name_or_path: str | os.PathLike[str], assignments: Sequence[str] = ()) -> Recipe:
    """A recipe from the box or from a file, with ``key=value`` assignments applied, and checked."""
    path = Path(name_or_path)
    boxed = BOX / f"{name_or_path}.toml"
    if not path.suffix and boxed.exists():
        path = boxed
    elif not path.exists():
        raise UsageError(f"no recipe {name_or_path}: neither a file nor one of {', '.join(recipes())}")
    try:
        recipe = build(Recipe, override(_parsed(path), assignments))
        _check(recipe)
    except UsageError as error:
        raise UsageError(f"{path.name}: {error}") from None
    except RecursionError:
        raise UsageError(f"{path.name}: a key or a value is nested too deeply") from None
    return recipe


def _parsed(path: Path) -> dict[str, Any]:
    """The TOML of a recipe; ``base = "other"`` takes everything that is not said from another recipe of the box."""
    toml = toml_module()
    try:
        data: dict[str, Any] = toml.loads(read_text(path))
    except toml.TOMLDecodeError as error:
        raise InputError(f"no valid TOML: {error}", source=str(path)) from None
    except RecursionError:
        raise InputError("no recipe: its values are nested too deeply", source=str(path)) from None
    base = data.pop("base", None)
    if base is None:
        return data
    if base not in recipes():
        raise UsageError(f"base must be one of {', '.join(recipes())}, not {base!r}")
    return _merged(_parsed(BOX / f"{base}.toml"), data)


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _check(recipe: Recipe) -> None:
    """Refuse combinations that can't work and files that are not there."""
    if not recipe.name or {"/", "\\"} & set(recipe.name):
        raise UsageError(f"name must be one that a folder can have, not {recipe.name!r}")
    if not recipe.treebanks:
        raise UsageError("treebanks is empty: there is nothing to learn")
    names = [(treebank.framework, treebank.language) for treebank in recipe.treebanks]
    if len(set(names)) < len(names):
        raise UsageError("two treebanks have the same framework and language; put their files into one 'train' list")
    for index, treebank in enumerate(recipe.treebanks):
        _check_treebank(recipe, treebank, f"treebanks.{index}")
    if recipe.evaluation.patience and not all(treebank.dev for treebank in recipe.treebanks):
        raise UsageError("evaluation.patience needs dev files for every treebank; give them, or set it to 0")
    network = recipe.network
    if network.width and network.width % network.heads:
        raise UsageError(f"network.width {network.width} can't be divided by network.heads {network.heads}")
    if network.encoder == CHARACTERS:
        if network.scratch_width % network.scratch_heads:
            raise UsageError(
                f"network.scratch_width {network.scratch_width} can't be divided by "
                f"network.scratch_heads {network.scratch_heads}"
            )
        if not network.width and network.scratch_width % network.heads:
            raise UsageError(
                f"network.scratch_width {network.scratch_width} is also the width of the decoder "
                f"and can't be divided by network.heads {network.heads}"
            )


def _check_treebank(recipe: Recipe, treebank: TreebankRecipe, where: str) -> None:
    from perin.frameworks import framework
    from perin.text.languages import LANGUAGES

    framework(treebank.framework)
    if treebank.language not in LANGUAGES:
        raise UsageError(f"{where}.language must be one of {', '.join(LANGUAGES)}, not {treebank.language!r}")
    if not treebank.train:
        raise UsageError(f"{where}.train is empty: there is nothing to learn from")
    for key, name in treebank.files():
        if not recipe.path(name).exists():
            raise UsageError(f"{where}.{key}: no file {recipe.path(name)}; set data=FOLDER to where the treebanks are")
    if treebank.translation not in TRANSLATIONS and treebank.language not in framework(treebank.framework).translated:
        raise UsageError(f"{where}.translation: labels of {treebank.framework} are in the language of the text there")
    for split in ("train", "dev"):
        graphs, tokens = getattr(treebank, split), getattr(treebank, f"{split}_tokens")
        if tokens and len(tokens) != len(graphs):
            raise UsageError(f"{where}: {len(graphs)} {split} files but {len(tokens)} {split}_tokens files")
    if bool(treebank.train_tokens) != bool(treebank.dev_tokens) and treebank.dev:
        raise UsageError(f"{where}: give tokens for both train and dev, or for neither")
