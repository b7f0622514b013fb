"""Recipes: those in the box are sound, and whatever is wrong with one is said before anything starts."""

import pytest

from perin.errors import InputError, UsageError
from perin.learning.recipe import Recipe, load_recipe, recipes
from perin.learning.schema import as_dict, as_toml, build, toml_module

NINE = ["amr-eng", "amr-zho", "drg-deu", "drg-eng", "eds-eng", "ptg-ces", "ptg-eng", "ucca-deu", "ucca-eng"]
SOUND = """
name = "mine"
data = "{data}"
[[treebanks]]
framework = "eds"
language = "eng"
train = "train.mrp"
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "train.mrp").touch()

    def write(text: str) -> str:
        path = tmp_path / "mine.toml"
        path.write_text(text.format(data=tmp_path.as_posix()), encoding="utf-8")
        return str(path)

    return write


def test_the_paper_settings_are_in_the_box(shared):
    assert set(NINE) <= set(recipes())
    for name in recipes():
        recipe = load_recipe(name, [f"data={(shared / 'data').as_posix()}"])
        assert recipe.name == name
        assert recipe.text
        assert build(Recipe, as_dict(recipe)) == recipe
        assert build(Recipe, toml_module().loads(as_toml(as_dict(recipe)))) == recipe
    eds = load_recipe("eds-eng", [f"data={(shared / 'data').as_posix()}"]).learning
    assert (eds.encoder_rate, eds.rate, eds.encoder_decay, eds.decay) == (6e-5, 6e-4, 1e-2, 1.2e-6)
    assert (eds.encoder_delay, eds.warmup, eds.schedule) == (2000, 6000, "inverse-sqrt")


def test_every_ablation_differs_from_its_base_in_one_key(shared):
    data = f"data={(shared / 'data').as_posix()}"
    base = as_dict(load_recipe("eds-eng", [data]))
    for name in recipes():
        if name.startswith("ablation-"):
            changed = as_dict(load_recipe(name, [data]))
            differences = [
                (part, key)
                for part in ("network", "learning", "evaluation")
                for key in base[part]
                if base[part][key] != changed[part][key]
            ]
            assert len(differences) == 1, name


def test_a_recipe_file_with_assignments(write):
    recipe = load_recipe(write(SOUND), ["learning.epochs=3", "treebanks.0.queries=2", "network.encoder=characters"])
    assert (recipe.learning.epochs, recipe.treebanks[0].queries, recipe.network.encoder) == (3, 2, "characters")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 'x'\ntreebanks = []", "treebanks is empty"),
        (SOUND.replace("train.mrp", "none.mrp"), "no file"),
        (SOUND + "[learning]\nepoch = 3", "unknown key learning.epoch; did you mean epochs?"),
        (SOUND + "[learning]\nepochs = 'x'", "learning.epochs must be a whole number"),
        (SOUND + "[learning]\nrate = true", "learning.rate must be a number, not True"),
        (SOUND + "[learning]\nschedule = 'liner'", "did you mean linear?"),
        (SOUND + "limit = 0", "treebanks.0.limit must be greater than 0, not 0"),
        (SOUND.replace('"mine"', '"a/b"'), "name must be one that a folder can have"),
        (SOUND.replace('"eds"', '"dm"'), "unknown framework 'dm'"),
        (SOUND.replace('"eng"', '"fra"'), "treebanks.0.language must be one of ces, deu, eng, zho, not 'fra'"),
        (SOUND.replace('"train.mrp"', "[]"), "treebanks.0.train is empty"),
        (SOUND + "exclude = 'none.txt'", "treebanks.0.exclude: no file"),
        (SOUND + "vallex = 'none.xml'", "treebanks.0.vallex: no file"),
        (SOUND + "dev = 'train.mrp'\ndev_tokens = 'train.mrp'", "give tokens for both train and dev, or for neither"),
        (SOUND + "[evaluation]\npatience = 3", "evaluation.patience needs dev files"),
        (SOUND + "[network]\nwidth = 100", "can't be divided by network.heads"),
        (SOUND + "[network]\nencoder = 'characters'\nscratch_heads = 3", "can't be divided by network.scratch_heads"),
        (SOUND + "[network]\nencoder = 'characters'\nheads = 5", "can't be divided by network.heads"),
        (SOUND + "train_tokens = ['train.mrp', 'train.mrp']", "1 train files but 2 train_tokens files"),
        (SOUND + SOUND[SOUND.index("[[") :], "the same framework and language"),
        ("base = 'nonsense'\n" + SOUND, "base must be one of"),
    ],
)
def test_what_is_wrong_is_said(write, text, message):
    with pytest.raises(UsageError) as error:
        load_recipe(write(text))
    assert message in str(error.value)
    assert str(error.value).startswith("mine.toml: ")


def test_no_toml_and_no_file(write):
    with pytest.raises(InputError, match="no valid TOML"):
        load_recipe(write("name = "))
    with pytest.raises(UsageError, match="no recipe missing"):
        load_recipe("missing.toml")
