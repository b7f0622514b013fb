from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from perin.contract import Sentence, Token
from perin.contract.heads import Target
from perin.learning.data.batches import Example, collate
from perin.learning.objective import Objective, make_balances, training_step
from perin.learning.objective.losses import LossSettings
from perin.learning.run.start import count_frequencies
from perin.network.inputs import Preparation
from perin.network.network import Network, predict

TEXTS = ["the cat sat", "hello", "dogs bark at the moon tonight"]


def words_of(text):
    forms = text.split()
    starts = [text.index(form) for form in forms]
    tokens = (Token(form, form, start, start + len(form)) for start, form in zip(starts, forms, strict=True))
    return Sentence(text, tuple(tokens))


def empty_target(sizes, tokens):
    """The target of a graph without nodes."""
    none = np.zeros(0, dtype=np.int64)
    return Target(
        none,
        none,
        none,
        np.zeros((0, tokens), dtype=np.bool_),
        np.zeros((0, 2), dtype=np.int64),
        np.zeros((0, sizes.edge_labels), dtype=np.bool_),
        np.zeros((0, tokens), dtype=np.bool_) if sizes.anchors else None,
        none if sizes.edge_attributes else None,
        np.zeros(0, dtype=np.bool_) if sizes.properties else None,
        {name: none for name, _ in sizes.property_classes},
        np.zeros(0, dtype=np.bool_) if sizes.tops else None,
    )


def learner(settings, all_sizes, seed=0):
    torch.manual_seed(seed)
    return Network(settings, all_sizes), Preparation(settings)


def examples_of(preparation, treebank, texts, targets):
    inputs = preparation([words_of(text) for text in texts])
    return [Example(item, treebank, target) for item, target in zip(inputs, targets, strict=True)]


def queries(all_sizes):
    return {name: sizes.queries for name, sizes in all_sizes.items()}


@pytest.mark.parametrize("kind", ["hidden", "layer", "equal"])
@pytest.mark.parametrize("treebank", ["amr", "drg", "eds", "ptg", "ucca", "umr"])
@pytest.mark.parametrize("case", ["usual", "empty", "one node", "no rule", "no edges"])
def test_gradients_are_finite(settings, all_sizes, make_target, treebank, case, kind):
    sizes = all_sizes[treebank]
    network, preparation = learner(settings, all_sizes)
    targets = []
    for number, text in enumerate(TEXTS):
        tokens = len(text.split())
        target = make_target(number, sizes, 1 if case == "one node" else 5, tokens)
        if case == "empty":
            target = empty_target(sizes, tokens)
        if case == "no rule":
            none = np.zeros(0, dtype=np.int64)
            target = replace(target, rule_nodes=none, rule_tokens=none, rule_ids=none)
        if case == "no edges":
            attributes = np.zeros(0, dtype=np.int64) if sizes.edge_attributes else None
            target = replace(
                target, edges=target.edges[:0], edge_labels=target.edge_labels[:0], edge_attributes=attributes
            )
        targets.append(target)
    batch = collate(examples_of(preparation, treebank, TEXTS, targets), preparation, queries(all_sizes))
    balances = make_balances(network, kind)
    for _ in range(2):
        found = training_step(network, batch, Objective(), balances)
        assert set(found[treebank]) == set(sizes.kinds)
        assert all(np.isfinite(loss) for loss in found[treebank].values())
    for name, parameter in network.named_parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name
    assert network.heads_of(treebank).heads["labels"].output.weight.grad.abs().sum() > 0
    assert all(weight > 0 for weight in balances[treebank].weights.values())


def test_joint_batch_is_each_treebank_by_its_share(settings, all_sizes, make_target):
    quiet = replace(settings, dropout=0.0, attention_dropout=0.0, word_dropout=0.0, label_dropout=0.0)
    quiet = replace(quiet, anchor_dropout=0.0, edge_dropout=0.0, property_dropout=0.0, top_dropout=0.0)
    network, preparation = learner(quiet, all_sizes)
    parts = {
        name: examples_of(
            preparation, name, texts, [make_target(3, all_sizes[name], 4, len(text.split())) for text in texts]
        )
        for name, texts in (("eds", TEXTS[:2]), ("drg", TEXTS[2:]))
    }

    def gradients(examples):
        network.zero_grad()
        batch = collate(examples, preparation, queries(all_sizes))
        found = training_step(network, batch, Objective(), make_balances(network, "equal"))
        missing = torch.zeros(())
        return found, [missing if p.grad is None else p.grad.clone() for p in network.encoder.parameters()]

    one, own = gradients(parts["eds"])
    other, others = gradients(parts["drg"])
    both, joint = gradients(parts["eds"] + parts["drg"])
    for kind, loss in both["eds"].items():
        assert loss == pytest.approx(one["eds"][kind], rel=1e-4)
    for kind, loss in both["drg"].items():
        assert loss == pytest.approx(other["drg"][kind], rel=1e-4)
    for mixed, first, second in zip(joint, own, others, strict=True):
        torch.testing.assert_close(mixed, first * 2 / 3 + second / 3, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("treebank", ["amr", "ptg"])
def test_a_few_random_graphs_are_learned_by_heart(settings, all_sizes, make_target, treebank):
    sizes = replace(all_sizes[treebank], queries=3)
    quiet = replace(
        settings,
        scratch_width=32,
        buckets=512,
        dropout=0.0,
        attention_dropout=0.0,
        word_dropout=0.0,
        label_dropout=0.0,
        anchor_dropout=0.0,
        edge_dropout=0.0,
        property_dropout=0.0,
        top_dropout=0.0,
        presence_width=16,
        edge_label_width=16,
        anchor_width=16,
    )
    network, preparation = learner(quiet, {treebank: sizes})
    targets = [make_target(number, sizes, 3, len(text.split())) for number, text in enumerate(TEXTS)]
    network.heads_of(treebank).initialise(count_frequencies(targets, sizes))
    batch = collate(examples_of(preparation, treebank, TEXTS, targets), preparation, {treebank: 3})
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    objective = Objective(LossSettings(label_smoothing=0.0))
    balances = make_balances(network)
    for _ in range(120):
        optimizer.zero_grad()
        training_step(network, batch, objective, balances)
        optimizer.step()
    inputs = preparation.batch([words_of(text) for text in TEXTS])
    outputs = predict(network.eval(), inputs, [treebank])[treebank]
    for target, output in zip(targets, outputs, strict=True):
        assert len(output.accepted) == len(target)
        assert int((output.presence > 0.5).sum() - np.trace(output.presence > 0.5)) == len(target.edges)
        chosen = output.labels.argmax(-1)
        assert set(chosen) <= set(target.rule_ids)


def test_frequencies_are_shares_of_what_occurs(all_sizes, make_target):
    sizes = all_sizes["ptg"]
    targets = [make_target(seed, sizes, 6, 4) for seed in range(300)]
    found = count_frequencies(targets, sizes)
    assert found.labels.sum() == pytest.approx(1)
    assert found.labels[0] == pytest.approx(6 / 12, abs=0.01)
    pairs = sum(len(target.edges) for target in targets)
    assert found.presence == pytest.approx(pairs / (300 * 30), abs=0.01)
    assert found.anchors == pytest.approx(np.mean([target.anchors.mean() for target in targets]), abs=0.01)
    assert found.edge_labels.sum() == pytest.approx(1)
    assert found.edge_attributes.sum() == pytest.approx(1)
    assert {name: len(shares) for name, shares in found.property_classes.items()} == {"sempos": 4, "tfa": 3}
    multi = count_frequencies(targets, replace(sizes, multi_label=True))
    labels = np.concatenate([target.edge_labels for target in targets]).mean(0)
    np.testing.assert_allclose(multi.edge_labels, labels, atol=0.01)


@pytest.mark.parametrize("kind", ["hidden", "layer", "equal"])
@pytest.mark.parametrize("treebank", ["amr", "drg", "eds", "ptg", "ucca", "umr"])
def test_training_in_bfloat16_learns_what_32_bits_learn(kind, treebank, settings, all_sizes, make_target):
    sizes = {treebank: all_sizes[treebank]}
    network, preparation = learner(settings, sizes)
    network.eval()
    targets = [make_target(seed, sizes[treebank], 4, len(text.split())) for seed, text in enumerate(TEXTS)]
    batch = collate(examples_of(preparation, treebank, TEXTS, targets), preparation, queries(sizes))

    def found(precision):
        balances = make_balances(network, kind)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            losses = training_step(network, batch, Objective(), balances)[treebank]
        gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        network.zero_grad()
        return losses

    exact, rough = found("no"), found("bf16")
    assert rough == pytest.approx(exact, rel=0.1, abs=0.05)
    assert rough != exact


@pytest.mark.parametrize("kind", ["hidden", "layer", "equal"])
@pytest.mark.parametrize("treebank", ["amr", "ptg"])
def test_losses_after_earlier_layers_are_added(kind, treebank, settings, all_sizes, make_target):
    sizes = {treebank: all_sizes[treebank]}
    network, preparation = learner(replace(settings, layers=3), sizes)
    network.eval()
    targets = [make_target(seed, sizes[treebank], 4, len(text.split())) for seed, text in enumerate(TEXTS)]
    batch = collate(examples_of(preparation, treebank, TEXTS, targets), preparation, queries(sizes))

    def found(weight):
        network.zero_grad()
        objective = Objective(earlier_layers=weight)
        losses = training_step(network, batch, objective, make_balances(network, kind))[treebank]
        return losses, network.decoder.layers[0].feedforward.norm.weight.grad.clone()

    (last, gradient), (half, _), (all_layers, other) = (found(weight) for weight in (0.0, 0.5, 1.0))
    for name, loss in last.items():
        assert all_layers[name] > half[name] > loss
        assert half[name] == pytest.approx((loss + all_layers[name]) / 2, rel=1e-4)
    assert not torch.allclose(gradient, other)
    hidden = network(batch.inputs, batch.sentences, every_layer=True)[treebank]
    assert len(hidden.earlier) == 2
    assert torch.equal(hidden.queries, network(batch.inputs, batch.sentences)[treebank].queries)
