from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.graphs import Anchor, Graph, Node
from perin.text import Sentence, Token, align, refine, tokenize
from perin.text.alignment import Coverage, coverage, locate

WORDS = st.text(st.characters(exclude_categories=("Zs", "Zl", "Zp", "Cc", "Cs")), min_size=1).filter(
    lambda word: not any(character.isspace() for character in word)
)
GAPS = st.sampled_from(["", " ", "  ", "\t", "\n \u3000"])
TEXT = "Kim's sea-side, (he said)."


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(WORDS, GAPS, GAPS), max_size=10))
def test_tokens_are_found_on_text_with_other_spaces(parts: list[tuple[str, str, str]]) -> None:
    first, second = ("".join(part[0] + part[gap] for part in parts) for gap in (1, 2))
    ranges = locate([word for word, _, _ in parts], first)
    tokens = tuple(Token(word, word, *range) for (word, _, _), range in zip(parts, ranges, strict=True))
    moved = align(Sentence(first, tokens, "1"), second)
    assert moved.text == second
    assert [second[token.start : token.end] for token in moved.tokens] == [word for word, _, _ in parts]


def test_the_first_difference_is_reported() -> None:
    sentence = tokenize("Kim saw it.", "eng", id="s7")
    with pytest.raises(InputError) as raised:
        align(sentence, "Kim  sew it.", "t.conllu")
    assert str(raised.value) == (
        "t.conllu: graph s7: the tokens are not those of the text: token 2 is 'saw', "
        "and at character 6 of the text there is 'e' instead of 'a'"
    )
    with pytest.raises(
        InputError, match=r"token 3 is 'it', and at character 8 of the text there is its end instead of 't'"
    ):
        align(sentence, "Kim sawi")
    with pytest.raises(InputError, match=r"they end before character 12, where it goes on: 'Why\?'"):
        align(sentence, "Kim saw it. Why?")


def test_empty_tokens_are_refused() -> None:
    with pytest.raises(InputError, match="token 2 is empty"):
        locate(["a", " "], "a")


def test_the_same_text_is_left_alone() -> None:
    sentence = Sentence("a", (Token("b", "b", 0, 1),))
    assert align(sentence, "a") is sentence


def test_refined_pieces_take_the_lemma_of_the_whole_or_their_own() -> None:
    sentence = Sentence(
        "the Sea-side!", (Token("the", "the", 0, 3), Token("Sea-side", "sea-side", 4, 12), Token("!", "!", 12, 13))
    )
    pieces = refine(sentence, [0, 4, 7, 8, 12, 99]).tokens[1:4]
    assert pieces == (Token("Sea", "Sea", 4, 7), Token("-", "-", 7, 8), Token("side", "side", 8, 12))
    other = Sentence("seas", (Token("seas", "sea", 0, 4),))
    assert refine(other, [3]).tokens == (Token("sea", "sea", 0, 3), Token("s", "sea", 3, 4))


def test_refined_pieces_have_no_white_space_at_their_ends() -> None:
    sentence = Sentence("post office", (Token("post office", "post_office", 0, 11),), "i", "eng")
    refined = refine(sentence, [5])
    assert refined.tokens == (Token("post", "post_office", 0, 4), Token("office", "post_office", 5, 11))
    assert (refined.id, refined.language) == ("i", "eng")


@settings(deadline=None, max_examples=100)
@given(st.text(), st.lists(st.integers(-2, 60)))
def test_refining_by_brute_force(text: str, boundaries: list[int]) -> None:
    sentence = tokenize(text, None)
    covered = [position for token in sentence.tokens for position in range(token.start, token.end)]
    refined = refine(sentence, boundaries)
    pieces = [position for token in refined.tokens for position in range(token.start, token.end)]
    assert pieces == [position for position in covered if position in set(pieces)]
    assert all(text[position].isspace() for position in set(covered) - set(pieces))
    for token in refined.tokens:
        assert token.form == text[token.start : token.end]
        assert not any(token.start < boundary < token.end for boundary in boundaries)


def count(*anchors: tuple[int, int], sentence: Sentence | None = None) -> Coverage:
    graph = Graph("1", input=TEXT, nodes=(Node(0, anchors=tuple(Anchor(*anchor) for anchor in anchors)),))
    return coverage(graph, sentence or tokenize(TEXT, "eng"))


def test_ends_on_token_boundaries() -> None:
    assert count((0, 3)) == (1, 1)
    assert count((0, 2)) == (0, 1)
    assert count((6, 9), (15, 18)) == (1, 2)
    assert count((0, 14)) == (1, 1)


def test_punctuation_does_not_count() -> None:
    assert count((3, 5)) == count((4, 5)) == (1, 1)
    assert count((0, 16)) == count((0, 14))
    assert count((14, 15)) == (0, 0)
    glued = Sentence(TEXT, (Token("Kim's", "Kim", 0, 5), Token("sea-side,", "sea-side", 6, 15)))
    assert count((6, 14), sentence=glued) == (1, 1)


def test_touching_anchors_are_one() -> None:
    assert count((0, 2), (2, 3)) == (1, 1)


def test_nodes_without_anchors() -> None:
    assert coverage(Graph("1", nodes=(Node(0), Node(1, anchors=()))), tokenize(TEXT, "eng")) == (0, 0)


def test_counts_are_added() -> None:
    assert Coverage(1, 2).plus(Coverage(3, 5)) == Coverage(4, 7)
