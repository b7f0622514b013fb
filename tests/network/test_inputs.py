from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from perin.errors import ModelError
from perin.network import encoders as pruning
from perin.network.encoders import read_config
from perin.network.inputs import SubwordTokenizer, encoder_text, overlaps, windows
from perin.text import tokenize


@st.composite
def token_spans(draw):
    borders = sorted(draw(st.sets(st.integers(0, 30), max_size=12)))
    return [(start, end) for start, end in zip(borders[::2], borders[1::2], strict=False)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=10), token_spans())
@settings(deadline=None)
def test_subwords_belong_to_the_tokens_that_they_share_characters_with(pieces, tokens):
    subwords = [(start, start + length) for start, length in pieces]
    expected = {
        (i, j)
        for i, (start, end) in enumerate(subwords)
        for j, (first, last) in enumerate(tokens)
        if set(range(start, end)) & set(range(first, last))
    }
    found = overlaps(np.array(subwords).reshape(-1, 2), np.array(tokens, dtype=np.int64).reshape(-1, 2))
    assert set(zip(*(array.tolist() for array in found), strict=True)) == expected
    assert len(found[0]) == len(expected)


@given(st.integers(0, 500), st.integers(1, 40))
@settings(deadline=None)
def test_windows_read_every_subword_once(count, room):
    found = windows(count, room)
    read = [position for window in found for position in range(window.first, window.last)]
    assert read == list(range(count))
    for window in found:
        assert 0 <= window.start <= window.first <= window.last <= window.end <= count
        assert window.end - window.start <= room


@given(st.integers(41, 500))
@settings(deadline=None)
def test_subwords_inside_a_long_input_have_context_on_both_sides(count):
    for window in windows(count, 40):
        assert window.start == 0 or window.first - window.start >= 9
        assert window.end == count or window.end - window.last >= 9


def spans(sentence):
    return [(token.start, token.end) for token in sentence.tokens]


@pytest.mark.parametrize("family", ["bert_folder", "roberta_folder", "electra_folder"])
def test_every_token_gets_its_own_characters(family, request, make_words):
    # The original stripped all '#' and '▁' of a token and aligned by string matching.
    tokenizer = SubwordTokenizer(request.getfixturevalue(family), limit=40)
    texts = ["The un#believable ▁ story", "café", "", "cats# ## again"]
    sentences = [make_words(text) for text in texts]
    for words, (ids, subwords, tokens) in zip(
        sentences, tokenizer(texts, [spans(words) for words in sentences]), strict=True
    ):
        encoding = tokenizer.tokenizer.encode(words.text, add_special_tokens=False)
        assert ids.tolist() == encoding.ids
        for token, (start, end) in enumerate(spans(words)):
            covered = {
                position for subword in subwords[tokens == token] for position in range(*encoding.offsets[subword])
            }
            assert covered >= set(range(start, end)) or not covered


def test_token_that_the_tokenizer_drops_has_no_subwords(bert_folder, make_words):
    words = make_words("a \u200b\x01 b")
    ((_, _, tokens),) = SubwordTokenizer(bert_folder, limit=40)([words.text], [spans(words)])
    assert set(tokens.tolist()) == {0, 2}


def test_subword_over_a_token_border_belongs_to_both(bert_folder):
    tokenizer = SubwordTokenizer(bert_folder, limit=40)
    ((ids, subwords, tokens),) = tokenizer(["cats"], [[(0, 3), (3, 4)]])
    whole = tokenizer.tokenizer.token_to_id("cats")
    if ids.tolist() == [whole]:
        assert (subwords.tolist(), tokens.tolist()) == ([0, 0], [0, 1])
    else:
        assert set(tokens.tolist()) == {0, 1}


def test_settings_of_truncation_and_padding_are_ignored(bert_folder):
    tokenizer = SubwordTokenizer(bert_folder, limit=40)
    ((ids, _, _),) = tokenizer(["cat " * 50], [[]])
    assert len(ids) >= 50
    assert tokenizer.room == 38
    assert [tokenizer.tokenizer.id_to_token(i) for i in tokenizer.before + tokenizer.after] == ["[CLS]", "[SEP]"]


def test_broken_tokenizer_file(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError, match=r"tokenizer\.json can't be read"):
        SubwordTokenizer(tmp_path, limit=10)


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


@pytest.mark.parametrize(
    ("language", "text", "read"),
    [
        ("zho", "我不饿。", "我 不 饿 。"),
        ("zho", "他 没有 书 。", "他 没有 书 。"),
        ("zho", "  我们在北京看书。他走了", "我们 在 北京 看书 。 他 走 了"),
        ("zho", "书", "书"),
        ("zho", "", ""),
        ("eng", "don't-touch(me)", "don't-touch(me)"),
    ],
)
def test_the_encoder_reads_chinese_with_spaces(language, text, read):
    sentence = tokenize(text, language)
    found, spans = encoder_text(sentence)
    assert found == read
    assert [found[start:end] for start, end in spans] == [text[token.start : token.end] for token in sentence.tokens]
