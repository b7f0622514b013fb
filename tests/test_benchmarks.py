"""Benchmarks whose output others build on: the rows of the ablation, training graphs from other notations."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perin.graphs import Anchor, Graph, Node, load, loads
from perin.learning import BOX, Recipe, TreebankRecipe
from perin.learning.schema import as_dict, build, override
from perin.scoring import score

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    """Benchmarks import each other by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in ("ablation", "amr_silver", "german_silver", "machine", "paper", "plain"):
        sys.modules.pop(name, None)


def test_each_row_of_the_ablation_changes_what_its_name_says():
    ablation = importlib.import_module("ablation")
    base = as_dict(Recipe("x", (TreebankRecipe("eds", "eng", ("train.mrp",)),)))

    def changed(variant: str) -> set[str]:
        full, other = (as_dict(build(Recipe, override(base, ablation.VARIANTS[name]))) for name in ("full", variant))
        return {
            f"{part}.{key}"
            for part in ("network", "learning")
            for key in full[part]
            if full[part][key] != other[part][key]
        }

    assert {variant: changed(variant) for variant in ablation.VARIANTS if variant.startswith("w/o")} == {
        "w/o mixture of softmaxes": {"network.mixture"},
        "w/o focal loss": {"learning.focal"},
        "w/o balanced losses": {"learning.balance"},
        "w/o balanced losses, by node": {"learning.balance", "learning.per_node"},
        "w/o anchor masking": {"learning.anchor_masking"},
        "w/o tie-breaking": {"learning.tie_breaking"},
        "w/o character embeddings": {"network.character_embeddings"},
        "w/o layer dropout": {"network.layer_dropout"},
    }
    assert (BOX / "small-eds.toml").exists()


def test_the_table_of_the_ablation_has_means_and_ranges(tmp_path):
    ablation = importlib.import_module("ablation")
    budget = {"recipe": "r", "sentences": 9, "epochs": 1, "dev": 3, "precision": "no"}
    run = {**budget, "minutes": 1.0, "machine": "a laptop"}
    lines = [
        {**run, "variant": "full", "seed": 1, "scores": {"all": 50.0, "tops": 1.0}},
        {**run, "variant": "full", "seed": 2, "scores": {"all": 60.0, "tops": 3.0}},
        {**run, "variant": "w/o focal loss", "seed": 1, "scores": {"all": 40.0, "tops": 2.0}, "machine": "a tower"},
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    [table] = ablation.tables(ablation.read(tmp_path / "runs.jsonl"))
    assert "| full | 2.00 | 55.00 (50.0 to 60.0) | 1.0 |" in table
    assert "| w/o focal loss | 2.00 | 40.00 | 1.0 |" in table
    assert "trained on a laptop and on a tower\n" in table


def test_the_runs_of_the_ablation_say_where_they_were_trained():
    ablation = importlib.import_module("ablation")
    runs = ablation.read(BENCHMARKS / "results" / "ablation" / "runs.jsonl")
    assert runs
    assert all("machine" in run for run in runs)


def test_pages_have_the_tables_of_the_cards():
    paper = importlib.import_module("paper")
    for path, text in paper.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is stale: run python benchmarks/paper.py --write"


UMR = """\
# document = one.umr
################################################################################
# meta-info :: sent_id = one.1
# :: snt1
Index: 1    2       3       4        5   6     7
Words: She  already knew    you      can leave Prague

# sentence level graph:
(s1k / know-01
    :ARG0 (s1p / person :refer-person 3rd :refer-number singular)
    :ARG1 (s1l / leave-11
        :ARG0 (s1y / person :refer-person 2nd :refer-number singular)
        :ARG1 (s1c / city :wiki "Prague" :name (s1n / name :op1 "Prague"))
        :modal-strength neutral-affirmative)
    :temporal (s1a / already)
    :aspect state)

# alignment:

# document level annotation:
"""


def test_umr_becomes_amr():
    amr_silver = importlib.import_module("amr_silver")
    [graph] = loads(UMR, "umr")
    [expected] = loads(
        """(k / know-01 :ARG0 (s / she) :ARG1 (p / possible-01 :ARG1 (l / leave-11 :ARG0 (y / you)
        :ARG1 (c / city :name (n / name :op1 "Prague")))) :time (a / already))""",
        "amr",
    )
    found = amr_silver.to_amr(graph)
    assert (found.framework, found.input) == ("amr", "She already knew you can leave Prague")
    result = score(*([replace(graph, id="1", language="eng", input="x")] for graph in (expected, found)), "mrp")
    assert result.total.tallies["all"].f1 == 1


def triples(graph: Graph) -> set[tuple[str | None, ...]]:
    """Roles by the labels at their ends, and for boxes by what they hold."""
    labels = {node.id: node.label for node in graph.nodes}
    held = {
        node.id: " ".join(
            sorted(labels[e.target] or "" for e in graph.edges if e.source == node.id and e.label == "in")
        )
        for node in graph.nodes
    }
    roles = {
        (labels[a.source], labels[a.target], labels[b.target])
        for a in graph.edges
        for b in graph.edges
        if a.label is None and b.label is None and a.target == b.source
    }
    boxes = {(held[e.source], e.label, held[e.target]) for e in graph.edges if e.label not in (None, "in")}
    return roles | boxes


STRENGTH = {("Bier", "beer.n.01"): 1.0, ("Teich", "pond.n.01"): 1.0, ("Arzt", "doctor.n.01"): 1.0}


@pytest.mark.parametrize(
    ("text", "sbn", "expected"),
    [
        (
            "Ich trank das Bier.",
            "person.n.01 EQU speaker drink.v.01 Agent -1 Time +1 Patient +2 time.n.08 TPR now beer.n.01",
            {("drink.v.01", "Agent", '"speaker"'), ("beer.n.01", "PRESUPPOSITION", "drink.v.01 time.n.08")},
        ),
        (
            "Tom trank ein Bier.",
            'male.n.02 Name "Tom Lee" drink.v.01 Agent -1 Time +1 Patient +2 time.n.08 TPR now beer.n.01',
            {
                ("male.n.02", "Name", '"tom~lee"'),
                ("male.n.02", "PRESUPPOSITION", "beer.n.01 drink.v.01 time.n.08"),
            },
        ),
        (
            "Der Teich ist drei Meter tief.",
            "pond.n.01 time.n.08 EQU now quantity.n.01 EQU 3 meter.n.01 Quantity -1 "
            "deep.a.03 AttributeOf -4 Time -3 Value -1",
            {
                ("pond.n.01", "Attribute", "deep.a.03"),
                ("measure.n.02", "Quantity", '"3"'),
                ("measure.n.02", "Unit", "meter.n.01"),
                ("deep.a.03", "Value", "measure.n.02"),
            },
        ),
        (
            "Alle lachten.",
            "NEGATION <1 person.n.01 NEGATION <1 laugh.v.01 Agent -1 Time +1 time.n.08 TPR now",
            {("", "CONDITION", "person.n.01"), ("person.n.01", "CONSEQUENCE", "laugh.v.01 time.n.08")},
        ),
        (
            "Der Arzt lacht.",
            "person.n.01 Role +1 doctor.n.01 laugh.v.01 Agent -2 Time +1 time.n.08 EQU now",
            {("doctor.n.01 person.n.01", "PRESUPPOSITION", "laugh.v.01 time.n.08")},
        ),
    ],
)
def test_what_the_newer_notation_dropped_is_put_back(text, sbn, expected):
    silver = importlib.import_module("german_silver")
    found = triples(silver.converted("1", text, sbn, STRENGTH))
    assert expected <= found, found


@pytest.mark.slow
def test_converted_documents_agree_with_the_training_graphs(shared):
    silver = importlib.import_module("german_silver")
    folder = shared / "data" / "drg-deu"
    gold = {graph.input: graph for graph in load(folder / "train.mrp.gz")}
    known = list(silver.documents(folder / "train-gold.sbn-lines.gz"))
    strength = silver.learn_links(
        ([token.lemma for token in silver.tokenize(text, "deu").tokens], silver.CONCEPT.findall(sbn))
        for _, text, sbn in known
    )
    pairs = [(gold[document[1]], silver.converted(*document, strength)) for document in known if document[1] in gold]
    graphs = [silver.replace(graph, id=wanted.id) for wanted, graph in pairs]
    found = score([wanted for wanted, _ in pairs], graphs, "mrp", budget=0.5)
    assert found.total.tallies["all"].f1 >= 0.95


def spanned(*nodes: tuple[str | None, tuple[int, int] | None]) -> Graph:
    made = (Node(id, label, (), None if span is None else (Anchor(*span),)) for id, (label, span) in enumerate(nodes))
    return Graph("1", "eds", "eng", input="He persuaded her", nodes=tuple(made))


def test_words_without_a_node():
    without_node = importlib.import_module("plain").without_node
    one = spanned(("pron", (0, 2)), ("_persuade_v_of", (3, 8)), ("top", None))
    assert without_node(one, [(0, 2), (3, 12), (13, 16)]) == [(13, 16)]
    assert without_node(spanned(), [(0, 2)]) == [(0, 2)]


def test_nodes_that_repeat_another():
    repeated_nodes = importlib.import_module("plain").repeated_nodes
    assert repeated_nodes(spanned(("_leave_v_1", (0, 2)), ("_leave_v_cause", (0, 2)), ("_leave_v_1", (3, 5)))) == 1
    assert repeated_nodes(spanned(("pron", (0, 2)), ("pronoun_q", (0, 2)), ("x", None), ("x", None))) == 0
    assert repeated_nodes(spanned((None, (0, 2)), (None, (0, 2)), (None, (0, 2)))) == 2
    assert repeated_nodes(spanned(("出现-01", (0, 2)), ("出现-02", (0, 2)))) == 1
