"""What becomes of a recipe's graphs before anything is learned from them."""

from __future__ import annotations

import pytest

from perin.errors import ModelError, UsageError
from perin.frameworks import framework
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs import dump
from perin.graphs.graph import Edge, Graph, Node, Property
from perin.learning import load_recipe
from perin.learning.data import in_the_case_of_the_text, load_corpus, spread, tempered
from perin.learning.data.prepared import content_key
from perin.text import MarianTranslator, tokenize


def named(text: str, *values: str | int) -> Graph:
    properties = tuple(Property(f"op{number}", value) for number, value in enumerate(values, start=1))
    nodes = (Node(0, "live-01"), Node(1, "name", properties))
    return Graph("1", "amr", "eng", input=text, tops=(0,), nodes=nodes, edges=(Edge(0, 1, "ARG0"),))


@pytest.mark.parametrize(
    ("text", "values", "written"),
    [
        ("He lives in Prague .", ("prague",), ("Prague",)),
        ("HE lives in new New York .", ("new", "york", 7), ("new", "York", 7)),
        ("The big man met the pope .", ("the", "pope"), ("the", "pope")),
        ("Tom lives there .", ("tom", "thomas"), ("Tom", "thomas")),
        ("They say McDonald and Q99 .", ("mcdonald", "q99", "McDonald"), ("McDonald", "Q99", "McDonald")),
    ],
)
def test_values_in_the_case_of_the_text(text, values, written):
    graph = named(text, *values)
    changed = in_the_case_of_the_text(graph, tokenize(text, "eng"))
    assert tuple(pair.value for pair in changed.nodes[1].properties) == written
    assert changed.nodes[0] == graph.nodes[0]
    assert changed.edges == graph.edges


def test_rules_then_keep_the_case():
    texts = ["He lives in Prague .", "Tom lives there ."]
    sentences = [tokenize(text, "eng") for text in texts]
    graphs = [named(texts[0], "prague"), named(texts[1], "tom")]
    cased = [in_the_case_of_the_text(graph, sentence) for graph, sentence in zip(graphs, sentences, strict=True)]
    spaces = [
        learn_from_treebank(framework("amr", "eng"), each, sentences, "eng", queries=3).rules.space
        for each in (graphs, cased)
    ]
    assert [space.value_case for space in spaces] == ["lower", "token"]
    assert [space.label_case for space in spaces] == ["lower", "lower"]


def test_every_example_is_seen_about_as_often_as_any_other():
    assert spread([1, 2, 3], 3) == [1, 2, 3]
    seen = spread(list(range(7)), 24)
    assert {seen.count(each) for each in range(7)} == {3, 4}
    assert spread([], 0) == []


def test_a_high_temperature_makes_treebanks_alike():
    sizes = [9000, 900, 90]
    shares = [tempered(sizes, temperature) for temperature in (1.0, 2.0, 1e6)]
    assert shares[0] == sizes
    assert shares[2] == [9000] * 3
    for low, middle, high in zip(*shares, strict=True):
        assert low <= middle <= high


def test_prepared_data_depend_on_the_case(shared):
    assignments = [f"data={shared / 'data'}", "network.encoder=characters"]
    keys = {
        content_key(load_recipe("small-amr", [*assignments, f"treebanks.0.text_case={case}"]))
        for case in ("true", "false")
    }
    assert len(keys) == 2


def test_temperatures_below_one_are_refused():
    with pytest.raises(UsageError, match=r"learning\.temperature.*1 or greater"):
        load_recipe("small-amr", ["learning.temperature=0.5"])


GERMAN = """
base = "small-drg-deu"
name = "toy"
data = "{data}"
[[treebanks]]
framework = "drg"
language = "deu"
train = "train.mrp"
"""


@pytest.fixture
def german(tmp_path, monkeypatch):
    """Three German sentences with English labels."""
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    pairs = (("Hund bellt .", "dog.n.01"), ("Hund geht .", "dog.n.01"), ("Katze geht .", "cat.n.01"))
    graphs = [
        Graph(
            str(number), "drg", "deu", input=text, tops=(0,), nodes=(Node(0), Node(1, label)), edges=(Edge(0, 1, "in"),)
        )
        for number, (text, label) in enumerate(pairs)
    ]
    dump(graphs, tmp_path / "train.mrp", "mrp")
    (tmp_path / "words.tsv").write_text("Hund\tdog\nHaus\thouse\n")
    (tmp_path / "toy.toml").write_text(GERMAN.format(data=tmp_path.as_posix()))
    return tmp_path


def glossary_of(folder, translation):
    recipe = load_recipe(folder / "toy.toml", [f"treebanks.0.translation={translation}"])
    [treebank] = load_corpus(recipe).treebanks
    [again] = load_corpus(recipe).treebanks  # from the cache
    assert again == treebank
    return treebank.vocabulary


def test_how_lemmas_are_translated(german, marian):
    assert glossary_of(german, "none").glossary == {}
    learned = glossary_of(german, "learned").glossary
    assert (learned["Hund"], learned["Katze"]) == ("dog", "cat")
    assert glossary_of(german, "words.tsv").glossary == {"Hund": "dog", "Haus": "house"}
    by_model = glossary_of(german, marian)
    lemmas = ["Hund", "Katze", "gehen"]
    expected = MarianTranslator(str(marian), german / "memory.tsv").translate([*lemmas, "Haus"])
    assert [by_model.glossary[lemma] for lemma in lemmas] == expected[:3]
    assert by_model.translator == str(marian)
    unseen = Vocabulary.from_json(by_model.to_json()).translated(tokenize("Haus", "deu"))
    assert [token.lemma for token in unseen.tokens] == expected[3:]


def test_translations_that_can_not_be_had(german, tmp_path):
    with pytest.raises(UsageError, match=r"treebanks.0.translation: no file .*missing.tsv"):
        glossary_of(german, "missing.tsv")
    with pytest.raises(ModelError, match=r"the translation model .*gone can't be loaded"):
        glossary_of(german, tmp_path / "gone")
    english = (german / "toy.toml").read_text().replace('"deu"', '"eng"')
    (german / "toy.toml").write_text(english + 'translation = "words.tsv"\n')
    with pytest.raises(UsageError, match="labels of drg are in the language of the text there"):
        load_recipe(german / "toy.toml")
