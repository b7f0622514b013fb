from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer

from perin.errors import ModelError
from perin.network.encoders import pruning
from perin.network.encoders.sources import read_config

TEXT = "The cat sat on the mat ."


@pytest.fixture(scope="module")
def whole(electra_folder) -> Tokenizer:
    return read(electra_folder)


def read(folder) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def test_a_text_whose_pieces_are_kept_has_the_same_pieces(electra_folder, whole, tmp_path):
    needed = set(pruning.pieces_of(electra_folder, [TEXT]))
    kept = pruning.write_pruned(electra_folder, tmp_path, needed)
    pruned = read(tmp_path)
    assert pruned.get_vocab_size() == len(kept) < whole.get_vocab_size()
    before, after = whole.encode(TEXT), pruned.encode(TEXT)
    assert after.tokens == before.tokens
    assert after.offsets == before.offsets
    assert kept[after.ids].tolist() == before.ids
    assert read_config(tmp_path)["vocab_size"] == len(kept)


def test_an_unseen_word_falls_into_characters(electra_folder, whole, tmp_path):
    characters = pruning.characters_of(electra_folder, str.isalpha)
    assert {whole.id_to_token(number) for number in characters} > {"▁", "a", "t"}
    pruning.write_pruned(electra_folder, tmp_path, characters)
    word = "dogs again"
    pieces = read(tmp_path).encode(word, add_special_tokens=False)
    assert "".join(pieces.tokens) == "▁dogs▁again"
    assert len(pieces.tokens) > len(whole.encode(word, add_special_tokens=False).tokens)
    assert max(len(piece) for piece in pieces.tokens) <= 2


def test_scores_and_special_pieces_stay(electra_folder, tmp_path):
    kept = pruning.write_pruned(electra_folder, tmp_path, {20, 30})
    old, new = (json.loads((folder / "tokenizer.json").read_text()) for folder in (electra_folder, tmp_path))
    assert new["model"]["vocab"] == [old["model"]["vocab"][number] for number in kept]
    contents = [token["content"] for token in new["added_tokens"]]
    assert contents == [token["content"] for token in old["added_tokens"]]
    assert all(new["model"]["vocab"][token["id"]][0] == token["content"] for token in new["added_tokens"])
    assert new["model"]["vocab"][new["model"]["unk_id"]][0] == "[UNK]"


def test_other_vocabularies_are_kept_whole(bert_folder, electra_folder, tmp_path):
    assert pruning.can_be_pruned(electra_folder)
    assert not pruning.can_be_pruned(bert_folder)
    assert not pruning.can_be_pruned(tmp_path)
    with pytest.raises(ModelError, match="not of the kind"):
        pruning.write_pruned(bert_folder, tmp_path, {5})
