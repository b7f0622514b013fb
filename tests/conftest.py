"""What several tests need: the shared treebanks and format samples, where they are present.

Property tests draw the same examples in every run, so that a change is judged by what it changed;
``--hypothesis-profile=explore`` draws new ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of treebanks and fixtures beside the checkout; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder 'shared' with the treebanks is not beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translation model of the real classes with a real tokenizer and random weights."""
    sentencepiece = pytest.importorskip("sentencepiece")
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("marian")
    words = ("Hund", "Katze", "Haus", "gehen", "laufen", "dog", "cat", "house", "go", "run")
    for name in ("source", "target"):
        with (folder / f"{name}.spm").open("wb") as stream:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(words * 20),
                model_writer=stream,
                vocab_size=40,
                hard_vocab_limit=False,
                minloglevel=2,
            )
    reader = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    pieces = ["</s>", "<unk>", *(reader.id_to_piece(number) for number in range(3, reader.get_piece_size())), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    options = {"source_lang": "de", "target_lang": "en", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(options))
    sizes = {f"{side}_{size}": 2 for side in ("encoder", "decoder") for size in ("layers", "attention_heads")}
    padding = len(pieces) - 1
    config = transformers.MarianConfig(
        vocab_size=len(pieces),
        decoder_vocab_size=len(pieces),
        d_model=16,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=32,
        pad_token_id=padding,
        eos_token_id=0,
        decoder_start_token_id=padding,
        forced_eos_token_id=0,
        **sizes,
    )
    model = transformers.MarianMTModel(config)
    inputs = torch.tensor([[2, 3, 0], [7, 9, 0], [5, 11, 0]])
    random = torch.Generator().manual_seed(1)
    outputs = inputs[:1]
    while len(outputs.unique(dim=0)) < len(inputs):  # most random weights say the same to everything
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim > 1:
                    weight.normal_(0.0, 0.6, generator=random)
        outputs = model.generate(input_ids=inputs, num_beams=4, max_new_tokens=16)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: small products are no faster on several, and other tests run beside."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
