"""Settings: what is wrong is said before anything starts, with the key and the nearest valid one."""

from dataclasses import dataclass
from typing import Literal

import pytest

from perin.errors import UsageError
from perin.learning.schema import (
    POSITIVE,
    as_dict,
    as_toml,
    build,
    explain,
    option,
    override,
    required,
    section,
    toml_module,
)


@dataclass(frozen=True)
class Treebank:
    train: tuple[str, ...] = required("files")


@dataclass(frozen=True)
class Learning:
    epochs: int = option(10, "passes over the data", **POSITIVE)
    rate: float = option(0.5, "learning rate")
    balance: Literal["gradnorm", "equal"] = option("gradnorm", "how losses are weighted")
    limit: int | None = option(None, "at most so many")


@dataclass(frozen=True)
class Recipe:
    name: str = required("what it is called")
    treebanks: tuple[Treebank, ...] = option((), "what to learn from")
    learning: Learning = section(Learning, "the loop")


def test_defaults_and_nested_values():
    recipe = build(Recipe, {"name": "x", "treebanks": [{"train": "a.mrp"}], "learning": {"rate": 1, "limit": 3}})
    assert recipe == Recipe("x", (Treebank(("a.mrp",)),), Learning(rate=1.0, limit=3))
    assert isinstance(recipe.learning.rate, float)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "missing key name"),
        ({"name": "x", "lerning": {}}, "unknown key lerning; did you mean learning?"),
        ({"name": "x", "learning": {"epoch": 1}}, "unknown key learning.epoch; did you mean epochs?"),
        ({"name": "x", "learning": {"epochs": "3"}}, "learning.epochs must be a whole number, not '3'"),
        ({"name": "x", "learning": {"epochs": True}}, "learning.epochs must be a whole number, not True"),
        ({"name": "x", "learning": {"epochs": 0}}, "learning.epochs must be greater than 0, not 0"),
        ({"name": "x", "learning": {"balance": "gradnrm"}}, "did you mean gradnorm?"),
        ({"name": "x", "learning": 3}, "learning must be a table"),
        ({"name": "x", "treebanks": [{}]}, "missing key treebanks.0.train"),
        ({"name": "x", "treebanks": [{"train": [1]}]}, "treebanks.0.train.0 must be a string"),
    ],
)
def test_what_is_wrong_is_named(data, message):
    with pytest.raises(UsageError) as error:
        build(Recipe, data)
    assert message in str(error.value)


def test_override_reaches_tables_and_lists():
    data = {"name": "x", "treebanks": [{"train": ["a"]}]}
    changed = override(data, ["treebanks.0.train=['b', 'c']", "learning.rate=2.5", "name=small one"])
    assert changed == {"name": "small one", "treebanks": [{"train": ["b", "c"]}], "learning": {"rate": 2.5}}
    assert data["treebanks"] == [{"train": ["a"]}]


@pytest.mark.parametrize("assignment", ["epochs", "=3", "treebanks.7.train=1", "name.x.y=1"])
def test_bad_overrides(assignment):
    with pytest.raises(UsageError):
        override({"name": "x", "treebanks": [{}]}, [assignment])


def test_explain_lists_every_key_once():
    rows = list(explain(Recipe))
    keys = [key for key, *_ in rows]
    assert keys == [
        "name",
        "[[treebanks]]",
        "treebanks.train",
        "[learning]",
        "learning.epochs",
        "learning.rate",
        "learning.balance",
        "learning.limit",
    ]
    assert all(text for *_, text in rows)


def test_settings_survive_as_plain_values():
    recipe = build(Recipe, {"name": "x", "treebanks": [{"train": "a.mrp"}]})
    assert build(Recipe, as_dict(recipe)) == recipe


def test_settings_survive_as_toml():
    data = {
        "name": 'a "b"\n\\ é',
        "treebanks": [{"train": ["a.mrp", "b.mrp"]}, {"train": "c"}],
        "learning": {"rate": 1e-7},
    }
    recipe = build(Recipe, data)
    assert build(Recipe, toml_module().loads(as_toml(as_dict(recipe)))) == recipe
