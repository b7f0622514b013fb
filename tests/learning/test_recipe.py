"""Recipes: those in the box are sound, and whatever is wrong with one is said before anything starts."""

import pytest

from perin.errors import InputError, UsageError
from perin.learning import Recipe, load_recipe, recipes
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


JOINT = ["amr-eng-zho", "drg-eng-deu", "ptg-eng-ces", "ucca-eng-deu"]
PAPER = {
    "network": {
        "encoder": "xlm-roberta-large", "freeze_embeddings": True, "encoder_dropout": None, "layer_dropout": 0.1,
        "word_dropout": 0.1, "character_embeddings": True, "gram_width": 128, "width": 0, "layers": 3, "heads": 8,
        "feedforward": 3072, "dropout": 0.1, "attention_dropout": 0.1, "mixture": 15, "anchor_width": 128,
        "presence_width": 512, "edge_label_width": 256, "attribute_width": 128, "label_dropout": 0.5,
        "anchor_dropout": 0.5, "edge_dropout": 0.5, "property_dropout": 0.7, "top_dropout": 0.9, "middle_layers": False,
    },
    "learning": {
        "epochs": 100, "sentences": 16, "accumulation": 2, "encoder_rate": 6e-5, "rate": 6e-4, "encoder_decay": 1e-2,
        "decay": 1.2e-6, "encoder_delay": 2000, "warmup": 6000, "schedule": "inverse-sqrt", "beta2": 0.98,
        "average": 0.0, "label_smoothing": 0.1, "focal": 2.0, "per_node": False, "balance": "layer",
        "balance_alpha": 1.5, "balance_rate": 1e-3, "anchor_masking": True, "tie_breaking": True, "precision": "no",
        "null_weight": 1.0, "earlier_layers": 0.0, "temperature": 1.0, "clip": 1.0, "cost": 1600.0, "longest": 150,
    },
}  # fmt: skip
"""The table of hyperparameters of the paper's published configurations."""
FEWER = {("network", "layers"): 2, ("learning", "encoder_delay"): 250, ("learning", "warmup"): 1000}
SMALLER = {("learning", "sentences"): 8, ("learning", "accumulation"): 4}
BY_FRAMEWORK = {
    "amr": SMALLER,
    "drg": FEWER,
    "eds": SMALLER,
    "ptg": {},
    "ucca": {**FEWER, ("network", "character_embeddings"): False, ("learning", "label_smoothing"): 0.01},
}
QUERIES = {"amr": 3, "drg": 4, "eds": 4, "ptg": 3, "ucca": 4}
ABLATIONS = {
    "balance": ("learning", "balance", "equal"),
    "bert": ("network", "encoder", "bert-large-cased"),
    "characters": ("network", "character_embeddings", False),
    "focal": ("learning", "focal", 0.0),
    "layer-dropout": ("network", "layer_dropout", 0.0),
    "masking": ("learning", "anchor_masking", False),
    "mixture": ("network", "mixture", 1),
    "ties": ("learning", "tie_breaking", False),
}


BASE = {("network", "encoder"): "xlm-roberta-base", ("learning", "sentences"): 16, ("learning", "accumulation"): 2}


@pytest.mark.parametrize("name", [*NINE, *JOINT, "eds-eng-base"])
def test_the_settings_of_the_paper(shared, name):
    recipe = load_recipe(name, [f"data={(shared / 'data').as_posix()}"])
    found, framework = as_dict(recipe), name.partition("-")[0]
    own = BY_FRAMEWORK[framework] | (BASE if name.endswith("-base") else {})
    for part, settings in PAPER.items():
        for key, value in settings.items():
            assert found[part][key] == own.get((part, key), value), (part, key)
    for treebank in recipe.treebanks:
        assert treebank.queries == QUERIES[framework]
        assert treebank.train_tokens, "the paper learns from the tokens that come with the treebanks"
        assert treebank.dev_tokens
        is_german_drg = (treebank.framework, treebank.language) == ("drg", "deu")
        assert treebank.translation == ("Helsinki-NLP/opus-mt-de-en" if is_german_drg else "none")
        assert (treebank.exclude is not None) == (name == "drg-eng-deu" and treebank.language == "eng")
        assert (treebank.repeat, treebank.limit, treebank.text_case) == (1, None, False)


@pytest.mark.parametrize(("name", "change"), ABLATIONS.items())
def test_an_ablation_changes_what_its_name_says_and_nothing_else(shared, name, change):
    data = f"data={(shared / 'data').as_posix()}"
    base, changed = (as_dict(load_recipe(recipe, [data])) for recipe in ("eds-eng", f"ablation-{name}"))
    differences = [
        (part, key, changed[part][key])
        for part in ("network", "learning", "evaluation")
        for key in base[part]
        if base[part][key] != changed[part][key]
    ]
    assert differences == [change]
    assert changed["treebanks"] == base["treebanks"]


def test_every_ablation_is_known():
    assert {name for name in recipes() if name.startswith("ablation-")} == {f"ablation-{name}" for name in ABLATIONS}


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
