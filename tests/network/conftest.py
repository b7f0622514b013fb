"""Small encoders of several families, made up on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from perin.contract import Sentence, Token
from perin.network.network import Network
from perin.network.settings import HeadSizes, NetworkSettings

TEXTS = [
    "The cat sat on the mat .",
    "Unbelievably , nobody believed the un#believable ▁ story of café owners .",
    "It 's raining cats and dogs again",
]


@pytest.fixture(scope="session")
def make_words() -> Callable[[str], Sentence]:
    """A text cut at spaces."""
    return words_of


def words_of(text: str) -> Sentence:
    tokens, position = [], 0
    for form in text.split(" "):
        if form:
            tokens.append(Token(form, form.lower(), position, position + len(form)))
        position += len(form) + 1
    return Sentence(text, tuple(tokens))


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BERT with WordPiece: lower-cases, strips accents and control characters."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    return saved(tmp_path_factory.mktemp("bert"), tokenizer, trainer, ("[CLS]", "[SEP]"), "bert", type_vocab_size=2)


@pytest.fixture(scope="session")
def roberta_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM-R with byte-level BPE."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    folder = tmp_path_factory.mktemp("roberta")
    return saved(folder, tokenizer, trainer, ("<s>", "</s>"), "xlm-roberta", type_vocab_size=1, pad_token_id=1)


@pytest.fixture(scope="session")
def electra_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A family that is left to the library, with a Unigram tokenizer that marks word beginnings by ▁."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=100, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], unk_token="[UNK]", show_progress=False
    )
    folder = tmp_path_factory.mktemp("electra")
    return saved(folder, tokenizer, trainer, ("[CLS]", "[SEP]"), "electra", embedding_size=12)


def saved(
    folder: Path, tokenizer: Tokenizer, trainer: object, marks: tuple[str, str], kind: str, **details: int
) -> Path:
    """A folder with a trained tokenizer and a random model as the library itself writes it."""
    from transformers import AutoConfig, AutoModel

    tokenizer.train_from_iterator(TEXTS * 20, trainer)
    first, last = marks
    ids = [(mark, tokenizer.token_to_id(mark)) for mark in marks]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=ids)
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    config = AutoConfig.for_model(
        kind,
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=40,
        **details,
    )
    model = AutoModel.from_config(config)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.3)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    assert json.loads((folder / "config.json").read_text())["model_type"] == kind
    return folder


@pytest.fixture(scope="session")
def small_settings() -> Callable[[str | Path], NetworkSettings]:
    """A small network around an encoder."""

    def make(encoder: str | Path = "characters") -> NetworkSettings:
        return NetworkSettings(
            encoder=str(encoder),
            scratch_width=16,
            scratch_layers=2,
            scratch_heads=2,
            buckets=256,
            gram_width=8,
            layers=2,
            heads=2,
            feedforward=16,
            mixture=2,
            anchor_width=4,
            presence_width=4,
            edge_label_width=4,
            attribute_width=4,
        )

    return make


@pytest.fixture(scope="session")
def treebanks() -> dict[str, HeadSizes]:
    return {
        "eds": HeadSizes(2, 5, 3, anchors=True, properties=True, tops=True),
        "ptg": HeadSizes(3, 4, 2, anchors=True, edge_attributes=2, property_classes=(("tfa", 3),)),
        "drg": HeadSizes(1, 6, 4, multi_label=True, properties=True),
    }


@pytest.fixture(scope="session")
def sentences() -> Sequence[Sentence]:
    return [words_of(text) for text in (TEXTS[0], "", "Hello", TEXTS[1], "a \u200b b")]


@pytest.fixture(scope="session")
def make_network(small_settings, treebanks) -> Callable[[], Network]:
    """A small network whose heads are far from saying the same of everything."""

    def make() -> Network:
        torch.manual_seed(0)
        network = Network(small_settings(), treebanks).eval()
        with torch.no_grad():
            for parameter in network.heads.parameters():
                parameter.normal_(std=0.6)
        return network

    return make
