"""The verb train: what it lists and explains, and what it refuses before anything starts."""

from __future__ import annotations

import pytest

from perin.commands.main import main

RECIPE = """
name = "mine"
data = "{data}"
[[treebanks]]
framework = "eds"
language = "eng"
train = "train.mrp"
[network]
encoder = "characters"
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.mrp").touch()
    (tmp_path / "mine.toml").write_text(RECIPE.format(data=tmp_path.as_posix()))
    return str(tmp_path / "mine.toml")


def test_the_list_names_every_recipe_with_what_it_is_for(capsys):
    assert main(["train", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"eds-eng", "small-eds", "ucca-eng-deu", "ablation-focal"} <= {line.split()[0] for line in lines}
    assert all(len(line.split()) > 3 for line in lines)


def test_the_explanation_has_every_key_with_its_default(capsys):
    assert main(["train", "--explain"]) == 0
    output = capsys.readouterr().out
    assert "learning.epochs " in output
    assert "passes over the training data (a whole number; default: 100)" in output
    assert "[[treebanks]]" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say which recipe to train"),
        (["nonsense"], "no recipe nonsense: neither a file nor one of ablation-balance"),
        (["mine.toml", "--set", "learning.epoch=3"], "unknown key learning.epoch; did you mean epochs?"),
        (["mine.toml", "--set", "learning.epochs=many"], "learning.epochs must be a whole number, not 'many'"),
        (["mine.toml", "--set", "learning.epochs"], "an assignment looks like learning.epochs=20"),
        (["mine.toml", "--set", "treebanks.0.dev=none.mrp"], "no file"),
        (["mine.toml", "--set", "network.encoder=./nowhere"], "there is no folder ./nowhere"),
        (["mine.toml"], "no training graph of eds-eng can be used"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(recipe, tmp_path, arguments, message, capsys):
    assert main(["train", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"train.mrp", "mine.toml"}


def test_threads_are_at_least_one(recipe, capsys):
    with pytest.raises(SystemExit):
        main(["train", recipe, "--threads", "0"])
    assert "expected a number of at least 1" in capsys.readouterr().err
