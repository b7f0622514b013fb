"""Beginning with another model's weights: all of the same treebank, the common ones of another."""

from dataclasses import replace

import pytest
import torch

from perin.frameworks.vocabulary import Vocabulary
from perin.labels.rules import AbsoluteRule, RuleSpace
from perin.labels.ruleset import RuleSet
from perin.learning.run.start import take_weights
from perin.model.folder import Treebank
from perin.model.model import Model
from perin.network.layers import Layout


def treebank(*labels: str, edges: tuple[str, ...] = ("ARG1", "BV")) -> Treebank:
    rules = RuleSet(RuleSpace(), map(AbsoluteRule, labels))
    return Treebank(Vocabulary("eds", "eng", rules, edges), queries=2)


@pytest.fixture
def make_model(settings):
    def make(seed, *treebanks):
        torch.manual_seed(seed)
        return Model.new(settings, treebanks)

    return make


def test_the_same_treebank_begins_with_all_weights(make_model):
    first, second = make_model(1, treebank("a", "b")), make_model(2, treebank("a", "b"))
    assert take_weights(second, first) == []
    theirs = first.network.state_dict()
    assert all(torch.equal(weight, theirs[name]) for name, weight in second.network.state_dict().items())


def test_a_label_head_takes_the_rules_it_knows(make_model):
    first, second = make_model(1, treebank("a", "b", "c")), make_model(2, treebank("c", "d", "a"))
    before = {name: weight.clone() for name, weight in second.network.state_dict().items()}
    left = take_weights(second, first)
    assert left == [name for name in before if name.startswith("heads.labels.eds-eng.")]
    for kind in ("weight", "bias"):
        name = f"heads.labels.eds-eng.output.{kind}"
        old, new, random = first.network.state_dict()[name], second.network.state_dict()[name], before[name]
        assert torch.equal(new, torch.stack((old[0], old[3], random[2], old[1])))


def test_a_label_head_over_another_rule_space_takes_null_only(make_model):
    other = treebank("a")
    rules = RuleSet(RuleSpace(("", "+")), other.vocabulary.rules)
    other = replace(other, vocabulary=replace(other.vocabulary, rules=rules))
    first, second = make_model(1, treebank("a")), make_model(2, other)
    before = second.network.state_dict()["heads.labels.eds-eng.output.bias"].clone()
    take_weights(second, first)
    after = second.network.state_dict()["heads.labels.eds-eng.output.bias"]
    assert after[0] == first.network.state_dict()["heads.labels.eds-eng.output.bias"][0]
    assert after[1] == before[1]


def test_an_edge_label_head_takes_the_labels_it_knows(make_model):
    first = make_model(1, treebank("a", edges=("ARG1", "ARG2", "BV")))
    second = make_model(2, treebank("a", edges=("BV", "L-INDEX", "ARG1")))
    head = "heads.edge_labels.eds-eng"
    before = {name: weight.clone() for name, weight in second.network.state_dict().items()}
    for part in ("pair", "single"):  # these begin at 0 in both
        first.network.state_dict()[f"{head}.{part}.weight"].normal_()
    left = take_weights(second, first)
    assert left == [name for name in before if name.startswith(f"{head}.")]
    for name in left:
        old, new = first.network.state_dict()[name], second.network.state_dict()[name]
        if ".source." in name or ".target." in name:
            assert torch.equal(new, old)
        else:
            old, new, random = (tensor.reshape(3, -1) for tensor in (old, new, before[name]))
            assert torch.equal(new, torch.stack((old[2], random[1], old[0])))


def test_other_heads_with_other_classes_stay_new(make_model):
    other = treebank("a")
    other = replace(other, vocabulary=replace(other.vocabulary, edge_attributes=((),)))
    first, second = make_model(1, treebank("a")), make_model(2, other)
    before = {name: weight.clone() for name, weight in second.network.state_dict().items()}
    left = take_weights(second, first)
    assert left
    assert all(name.startswith("heads.edge_attributes.eds-eng.") for name in left)
    assert all(torch.equal(second.network.state_dict()[name], before[name]) for name in left)


def test_fewer_queries_begin_with_the_first_ones(make_model):
    first, second = make_model(1, treebank("a")), make_model(2, replace(treebank("a"), queries=1))
    left = take_weights(second, first)
    assert left == ["queries.eds-eng.linear.weight", "queries.eds-eng.linear.bias"]
    for name in left:
        new = second.network.state_dict()[name]
        assert torch.equal(new, first.network.state_dict()[name][: len(new)])


def test_a_larger_decoder_begins_with_the_same_function_and_can_leave_it(make_model, settings):
    first = make_model(1, treebank("a"))
    torch.manual_seed(2)
    larger = replace(settings, layers=settings.layers + 1, feedforward=2 * settings.feedforward)
    second = Model.new(larger, [treebank("a")])
    left = take_weights(second, first)
    assert {name.split(".")[0] for name in left} == {"decoder"}
    width = first.network.width
    states, layout = torch.randn(7, width), Layout([3, 4])
    for model in (first, second):
        model.network.eval()
    expected = first.network.decoder(states, layout, states, layout)
    assert torch.allclose(second.network.decoder(states, layout, states, layout), expected, atol=1e-6)
    second.network.decoder(states, layout, states, layout).square().sum().backward()
    added = second.network.decoder.layers[-1].feedforward.sublayer.linear[1].weight
    wider = second.network.decoder.layers[0].feedforward.sublayer.linear[1].weight
    assert added.grad.any()
    assert wider.grad[:, settings.feedforward :].any()


def test_another_treebank_begins_with_encoder_and_decoder(make_model):
    other = treebank("a")
    other = replace(other, vocabulary=replace(other.vocabulary, framework="amr"))
    first, second = make_model(1, treebank("a", "b")), make_model(2, other)
    left = take_weights(second, first)
    assert {name.split(".")[0] for name in left} == {"queries", "heads"}
    assert torch.equal(first.network.decoder.norm.weight, second.network.decoder.norm.weight)
