"""The models in the box say the same with PyTorch and without it, and what can't be loaded says why."""

import itertools
import sys
from dataclasses import replace

import pytest

from perin.errors import MissingDependencyError, UsageError
from perin.graphs.codecs import load
from perin.model import bundled, model_folder
from perin.model.folder import write_description
from perin.model.model import Model
from perin.model.trained import TrainedModel, load_model
from perin.parsing.streaming import graphs_of
from perin.text.tokenizer import tokenize


def compare(name, shared, count):
    folder = model_folder(name)
    with_torch, without = Model.load(folder), load_model(folder, bits=32)
    assert isinstance(without, TrainedModel)
    differing = total = 0
    for treebank, known in with_torch.treebanks.items():
        path = shared / "data" / treebank / "dev.mrp.gz"
        if not path.is_file():
            continue
        texts = [graph.input or "" for graph in itertools.islice(load(path), count)]
        sentences = [tokenize(text, known.vocabulary.language) for text in texts]
        one, two = (graphs_of(model, sentences, treebank) for model in (with_torch, without))
        differing += sum(left != right for left, right in zip(one, two, strict=True))
        total += len(sentences)
    if not total:
        pytest.skip(f"there is no dev data for {name}")
    assert differing <= total / 50  # decisions that are closer than rounding


@pytest.mark.parametrize("name", bundled())
def test_graphs_of_some_dev_sentences(name, shared):
    compare(name, shared, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled())
def test_graphs_of_all_dev_sentences(name, shared):
    compare(name, shared, None)


def test_bits_and_devices_that_there_are_not():
    folder = model_folder("zho")
    with pytest.raises(UsageError, match="8 or 32 bits, not with 4"):
        load_model(folder, bits=4)
    with pytest.raises(UsageError, match="there is no device nonsense"):
        load_model(folder, device="nonsense")


def test_a_device_needs_the_extra_for_training(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'perin\[train\]'"):
        load_model(model_folder("zho"), device="cuda")


def test_an_encoder_that_numpy_does_not_know_needs_the_extra_for_training(model, tmp_path, monkeypatch):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    (encoder / "config.json").write_text('{"model_type": "electra"}')
    (encoder / "tokenizer.json").write_text("{}")
    settings = replace(model.settings, encoder="someone/electra")
    write_description(tmp_path, settings, model.treebanks, model.quantization, {})
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r"the encoder of .*, which NumPy can't compute, needs the package torch.* pip install 'perin\[train\]'"
    with pytest.raises(MissingDependencyError, match=message):
        load_model(tmp_path)
