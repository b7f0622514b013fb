"""The network in NumPy and C computes what the network in PyTorch does, layer by layer."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from perin.inference import InferenceNetwork
from perin.inference.arithmetic import Eager
from perin.inference.tape import Tape
from perin.model import bundled, model_folder
from perin.model.folder import ModelFolder
from perin.model.model import Model
from perin.model.trained import TrainedModel
from perin.native import LEVELS, library
from perin.network.encoders import read_config
from perin.network.inputs import Preparation
from perin.network.layers import InputTensors
from perin.network.network import Network, predict
from perin.text.tokenizer import tokenize

NEEDS_C = pytest.mark.skipif(library() is None, reason="the package's C code was not compiled")
KINDS = [
    pytest.param(Eager, id="numpy"),
    *(pytest.param(lambda number=number: Tape(number), id=name, marks=NEEDS_C) for number, name in enumerate(LEVELS)),
]


def random_network(settings, treebanks):
    torch.manual_seed(1)
    network = Network(settings, treebanks).eval()
    with torch.no_grad():
        for parameter in network.heads.parameters():
            parameter.normal_(std=0.6)
        for name, parameter in network.named_parameters():
            if "norm" in name or name.endswith("scores"):
                parameter.add_(0.3 * torch.randn_like(parameter))
    return network


def same(network, settings, treebanks, config=None, **options):
    weights = {name: weight.numpy() for name, weight in network.state_dict().items()}
    return InferenceNetwork(settings, treebanks, weights, config, **options)


def close(found, right, tolerance=1e-5):
    right = np.asarray(right)
    assert found.shape == right.shape
    assert np.abs(found - right).max(initial=0) <= tolerance * max(1, np.abs(right).max(initial=0))


def compare(network, twin, batch, kind, tolerance, treebanks=None):
    """Layer by layer, then what the heads say; of the networks' treebanks all or some."""
    names = list(treebanks or network.treebanks)
    arithmetic = kind()
    right = network.encode(batch)
    encoding = twin.encode(arithmetic, batch)
    close(arithmetic.array(twin.encoder(arithmetic, batch)), network.encoder(InputTensors.of(batch)))
    close(arithmetic.array(encoding.contextual), right.contextual)
    close(arithmetic.array(encoding.tokens), right.tokens)
    for name in names:
        close(arithmetic.array(twin.decode(arithmetic, encoding, name)), network.decode(right, name).queries)

    outputs, others = twin.predict(batch, names, kind()), predict(network, batch, names)
    for name in names:
        for output, other in zip(outputs[name], others[name], strict=True):
            assert output.accepted.tolist() == other.accepted.tolist()
            for field in fields(output):
                one, two = getattr(output, field.name), getattr(other, field.name)
                if isinstance(two, np.ndarray):
                    close(one, two, tolerance)
                elif isinstance(two, dict):
                    assert one.keys() == two.keys()
                    for key in two:
                        close(one[key], two[key], tolerance)
                else:
                    assert one == two


@pytest.fixture(params=["characters", "bert_folder", "roberta_folder"])
def settings(request, small_settings):
    name = request.param
    return small_settings(name if name == "characters" else request.getfixturevalue(name))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [{}, {"mixture": 1, "width": 24}, {"character_embeddings": False}])
@torch.no_grad()
def test_each_layer(kind, change, settings, treebanks, sentences):
    settings = replace(settings, **change)
    config = None if settings.encoder == "characters" else read_config_of(settings)
    network = random_network(settings, treebanks)
    batch = collated(settings, sentences)
    twin = same(network, settings, treebanks, config)

    compare(network, twin, batch, kind, 5e-5)  # scores of some ten magnify what is different in the last layer


TEXTS = {
    "eng": (
        "The old dog that my sister bought last year barked at twenty-one cats.",
        "Kim doesn't want to leave Prague before Tuesday, does she?",
        "Not really.",
    ),
    "deu": ("Der alte Mann, den Tom gestern sah, hatte zwei Hunde.", "Ich weiß es nicht."),
    "zho": ("小 王子 看见 了 一 只 狐狸 。", "他 也 要 吃 花 罗 ？"),
    "ces": ("Vláda loni návrh zákona o daních neschválila.", "Petr a Pavel, myslím, přijdou zítra."),
}
"""Sentences as in the dev data, by language."""


@pytest.fixture(scope="module", params=bundled())
def boxed(request):
    """A model in the box with PyTorch, and without it in 32 bits."""
    folder = model_folder(request.param)
    return Model.load(folder), TrainedModel.load(ModelFolder.read(folder), 32)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_each_layer_of_the_models_in_the_box(kind, boxed):
    with_torch, without = boxed
    names = {}
    for name, treebank in with_torch.treebanks.items():
        names.setdefault(treebank.vocabulary.language, []).append(name)
    for language, treebanks in names.items():
        batch = with_torch.preparation.batch([tokenize(text, language) for text in TEXTS[language]])
        compare(with_torch.network, without.network, batch, kind, 1e-5, treebanks)


@NEEDS_C
def test_all_processors_with_fused_products_give_the_same_bits(settings, treebanks, sentences):
    config = None if settings.encoder == "characters" else read_config_of(settings)
    network, batch = random_network(settings, treebanks), collated(settings, sentences)
    for bits in (8, 32):
        twin = same(network, settings, treebanks, config, bits=bits, quantized_heads=list(treebanks))
        one, two = (twin.predict(batch, list(treebanks), Tape(level)) for level in (1, 2))
        for name in treebanks:
            for left, right in zip(one[name], two[name], strict=True):
                assert np.array_equal(left.accepted, right.accepted)
                assert np.array_equal(left.labels, right.labels)
                assert np.array_equal(left.edge_labels, right.edge_labels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [8, 32])
def test_a_sentence_has_the_same_output_alone_and_in_a_batch(kind, bits, settings, treebanks, sentences):
    config = None if settings.encoder == "characters" else read_config_of(settings)
    twin = same(random_network(settings, treebanks), settings, treebanks, config, bits=bits, quantized_heads=["eds"])
    together = twin.predict(collated(settings, sentences), ["eds"], kind())["eds"]
    for sentence, output in zip(sentences, together, strict=True):
        alone = twin.predict(collated(settings, [sentence]), ["eds"], kind())["eds"][0]
        assert np.array_equal(alone.accepted, output.accepted)
        # The C code gives the same bits; NumPy's products depend on the number of rows.
        tolerance = 0 if kind is not Eager else (1e-5 if bits == 32 else 0.05)
        close(alone.labels, output.labels, tolerance)
        close(alone.edge_labels, output.edge_labels, tolerance)


def test_eight_bits_are_close_to_32(settings, treebanks, sentences):
    config = None if settings.encoder == "characters" else read_config_of(settings)
    network, batch = random_network(settings, treebanks), collated(settings, sentences)
    exact = same(network, settings, treebanks, config)
    rough = same(network, settings, treebanks, config, bits=8)
    for kind in (Eager(), *([Tape()] if library() else [])):
        first = kind.array(exact.decode(kind, exact.encode(kind, batch), "eds"))
        second = kind.array(rough.decode(kind, rough.encode(kind, batch), "eds"))
        assert 0 < np.abs(first - second).mean() < 0.1 * np.abs(first).mean()


def read_config_of(settings):
    return read_config(Path(settings.encoder))


def collated(settings, sentences):
    return Preparation(settings).batch(sentences)
