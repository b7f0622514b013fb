"""Every switch of a recipe reaches the training: turning it changes the first losses, the loss weights or the rules."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from perin.frameworks import framework
from perin.graphs import Edge, Graph, Node
from perin.learning import load_recipe
from perin.learning.data import load_corpus
from perin.learning.run import Trainer, train
from perin.learning.run.journal import Console, read_journal
from perin.learning.run.optimisation import Processes
from perin.network.layers import Attention
from perin.network.network import Network
from perin.network.settings import HeadSizes

RECIPE = """
name = "toy"
data = "{data}"
[[treebanks]]
framework = "eds"
language = "eng"
train = "train.mrp"
queries = 3
[network]
encoder = "characters"
scratch_width = 16
scratch_layers = 2
scratch_heads = 2
buckets = 64
gram_width = 8
layers = 1
heads = 2
feedforward = 16
mixture = 1
anchor_width = 8
presence_width = 8
edge_label_width = 8
word_dropout = 0.0
dropout = 0.0
attention_dropout = 0.0
label_dropout = 0.0
anchor_dropout = 0.0
edge_dropout = 0.0
property_dropout = 0.0
top_dropout = 0.0
[learning]
epochs = 4
sentences = 4
accumulation = 1
warmup = 1
rate = 1e-2
balance = "equal"
label_smoothing = 0.1
"""


def graph(number: int, noun: str) -> dict[str, Any]:
    """Two nodes that labels and anchors can't tell apart, and one that could be matched with any token."""
    text = f"{noun} dogs bark"
    middle, end = len(noun) + 1, len(noun) + 5
    nodes = [
        {"id": 0, "label": "compound", "anchors": [{"from": 0, "to": end}]},
        {"id": 1, "label": "compound", "anchors": [{"from": 0, "to": end}]},
        {"id": 2, "label": f"_{noun}_n_1", "anchors": [{"from": 0, "to": len(noun)}]},
        {"id": 3, "label": "_dog_n_1", "anchors": [{"from": middle, "to": end}]},
        {"id": 4, "label": "_bark_v_1", "anchors": [{"from": end + 1, "to": end + 5}]},
    ]
    edges = [(0, 2, "ARG1"), (1, 3, "ARG1"), (1, 2, "ARG2"), (4, 3, "ARG1")]
    head = {"id": str(number), "flavor": 1, "framework": "eds", "version": 1.1, "language": "eng", "input": text}
    listed = [{"source": source, "target": target, "label": label} for source, target, label in edges]
    return {**head, "tops": [4], "nodes": nodes, "edges": listed}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("switches")
    words = ("house", "farm", "street", "city", "police", "sheep")
    (folder / "train.mrp").write_text("".join(json.dumps(graph(n, word)) + "\n" for n, word in enumerate(words)))
    (folder / "toy.toml").write_text(RECIPE.format(data=folder.as_posix()))
    return folder


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, data, one_thread):
    monkeypatch.setenv("PERIN_CACHE", str(data / "cache"))


@pytest.fixture
def first_steps(data, tmp_path):
    """Losses and loss weights of all steps of a short run."""

    def run(*changes: str) -> list[Any]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        train(load_recipe(data / "toy.toml", list(changes)), folder)
        steps = [entry for entry in read_journal(folder / "log.jsonl") if entry["event"] == "step"]
        return [(entry["losses"], entry["weights"]) for entry in steps]

    return run


def test_the_same_run_twice_is_the_same(first_steps):
    assert first_steps() == first_steps()


@pytest.mark.parametrize(
    "change",
    [
        "learning.focal=0.0",
        "learning.label_smoothing=0.0",
        "learning.anchor_masking=false",
        "learning.tie_breaking=false",
        "learning.balance=hidden",
        "learning.balance=layer",
        "learning.per_node=true",
        "learning.null_weight=0.5",
        "learning.decay=0.5",
        "learning.beta2=0.5",
        "learning.clip=0.01",
        "network.mixture=3",
        "network.dropout=0.3",
        "network.word_dropout=0.5",
        "network.label_dropout=0.5",
    ],
)
def test_a_switch_changes_what_is_learned(first_steps, change):
    assert first_steps() != first_steps(change)


@pytest.mark.parametrize(
    ("change", "circumstances"),
    [
        ("learning.earlier_layers=0.5", "network.layers=2"),
        ("learning.balance_rate=0.1", "learning.balance=hidden"),
        ("learning.balance_alpha=0.0", "learning.balance=hidden"),
    ],
)
def test_a_switch_that_needs_another_one_changes_what_is_learned(first_steps, change, circumstances):
    assert first_steps(circumstances) != first_steps(circumstances, change)


@pytest.mark.parametrize(
    ("change", "head"), [("network.property_dropout=0.5", "properties"), ("network.top_dropout=0.5", "tops")]
)
def test_the_dropout_of_a_head_changes_the_first_loss_of_that_head_only(first_steps, change, head):
    (plain, _), *_ = first_steps("learning.tie_breaking=false")
    (other, _), *_ = first_steps("learning.tie_breaking=false", change)
    assert {kind for kind, loss in plain["eds-eng"].items() if loss != other["eds-eng"][kind]} == {head}


def test_attention_dropout_reaches_the_decoder(data):
    """The encoder has attention, too, so losses would change without the decoder's."""
    settings = replace(load_recipe(data / "toy.toml").network, layers=2, attention_dropout=0.25)
    decoder = Network(settings, {"eds": HeadSizes(queries=2, rules=3, edge_labels=2)}).decoder
    rates = {name: part.rate for name, part in decoder.named_modules() if isinstance(part, Attention)}
    attentions = ("self_attention", "cross_attention")
    assert rates == {f"layers.{layer}.{name}.sublayer": 0.25 for layer in (0, 1) for name in attentions}


def test_the_decay_of_the_average_reaches_it(data, tmp_path):
    def averaged(decay: float) -> torch.Tensor:
        recipe, folder = load_recipe(data / "toy.toml", [f"learning.average={decay}"]), tmp_path / str(decay)
        folder.mkdir()
        trainer = Trainer(recipe, load_corpus(recipe), folder, Processes(), Console())
        trainer.run()
        with trainer.state.average.applied():
            return trainer.model.network.decoder.norm.weight.detach().clone()

    last, short, long = (averaged(decay) for decay in (0.0, 0.1, 0.4))
    assert not torch.equal(last, short)
    assert not torch.equal(last, long)
    assert not torch.equal(short, long)


def test_gradients_at_the_hidden_states_give_other_weights_than_those_at_the_last_layer(first_steps):
    assert first_steps("learning.balance=hidden") != first_steps("learning.balance=layer")


@pytest.mark.parametrize("balance", ["hidden", "layer", "equal"])
def test_bfloat16_learns_with_steps_of_the_optimizer_and_dropout(first_steps, balance):
    settings = (f"learning.balance={balance}", "network.dropout=0.1", "learning.epochs=12")
    rough, fine = first_steps("learning.precision=bf16", *settings), first_steps(*settings)
    assert rough != fine
    sums = [sum(losses["eds-eng"].values()) for losses, _ in rough]
    assert all(math.isfinite(loss) for loss in sums)
    assert sum(sums[-3:]) < 0.9 * sum(sums[:3])


@pytest.mark.parametrize("kind", ["layer_dropout", "encoder_dropout"])
def test_dropouts_of_a_pretrained_encoder_reach_it(kind):
    from perin.network.encoders.encoder import Bert, LayerMixture
    from perin.network.layers import Layout

    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 8}
    config = {**sizes, "vocab_size": 9, "max_position_embeddings": 9, "model_type": "bert"}
    torch.manual_seed(1)
    if kind == "layer_dropout":
        states = [torch.randn(4, 8) for _ in range(3)]
        quiet, noisy = (LayerMixture(3, rate).train()(states, torch.zeros(4, dtype=torch.long), 1) for rate in (0, 0.9))
    else:
        quiet, noisy = (Bert(config, rate).train() for rate in (0.0, 0.5))
        noisy.load_state_dict(quiet.state_dict())
        quiet, noisy = (body(torch.arange(4), Layout([4]))[-1] for body in (quiet, noisy))
    assert not torch.allclose(quiet, noisy)


@pytest.mark.parametrize("name", ["amr", "drg", "eds", "ptg"])
def test_frameworks_with_numbers_have_rules_for_them(name):
    assert framework(name).space("eng").number_language == "eng"


def test_amr_learns_inverse_edges_as_they_are_meant():
    nodes = (Node(0, label="dog"), Node(1, label="bark-01"))
    inverse = Graph("1", nodes=nodes, edges=(Edge(0, 1, "ARG0-of", normal="ARG0"),), tops=(0,), framework="amr")
    (step, *_) = framework("amr").steps
    (edge,) = step.encode(inverse).edges
    assert (edge.source, edge.target, edge.label) == (1, 0, "ARG0")
