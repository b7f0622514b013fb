"""Train a parser by a recipe: one from the box (--list) or a TOML file of your own.

An interrupted or killed run is resumed with --resume.  Several processes: 'accelerate launch -m perin train …'.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from perin.commands import add_threads


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin train``."""
    parser.add_argument("recipe", nargs="?", metavar="RECIPE", help="name of a recipe in the box, or a .toml file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of the run (default: runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="continue after the last checkpoint")
    add_threads(parser, "threads of one process (default: all cores)")
    parser.add_argument("--services", action="store_true", help="also log to TensorBoard and Weights & Biases")
    parser.add_argument("--list", action="store_true", help="list the recipes in the box")
    parser.add_argument("--explain", action="store_true", help="print every key with its default and meaning")


def run(arguments: argparse.Namespace) -> int:
    """Train, list or explain."""
    from perin.errors import MissingDependencyError, UsageError

    if arguments.list:
        return _list()
    if arguments.explain:
        return _explain()
    if arguments.recipe is None:
        raise UsageError("say which recipe to train; 'perin train --list' names those in the box")
    from perin.learning import load_recipe

    recipe = load_recipe(arguments.recipe, arguments.set)
    try:
        import torch
    except ImportError:
        raise MissingDependencyError("torch", "training", "train") from None
    from perin.learning.run import train
    from perin.learning.run.journal import services

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    found = services() if arguments.services else ()
    train(recipe, arguments.output or Path("runs") / recipe.name, resume=arguments.resume, services=found)
    return 0


def _list() -> int:
    from perin.learning import described_recipes

    for name, text in described_recipes():
        print(f"{name:<24}{text}")
    return 0


def _explain() -> int:
    from perin.learning import Recipe
    from perin.learning.schema import explain

    for key, kind, default, text in explain(Recipe):
        print(f"\n{key}  {text}" if key.startswith("[") else f"{key:<32}{text} ({kind}; default: {default})")
    return 0
