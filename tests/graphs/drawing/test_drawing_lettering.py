"""How wide text is taken to be, how it is broken into lines, and what happens to characters that can't be drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perin.graphs.drawing.lettering import columns, is_wide, printable, text_width, wrapped


@pytest.mark.parametrize(("narrow", "wide"), [("ill", "mmm"), ("dog", "小王子"), ("i", "ii"), ("ARG", "ARGÁ")])
def test_text_with_more_or_larger_letters_is_wider(narrow: str, wide: str) -> None:
    assert text_width(narrow, 13) < text_width(wide, 13)


def test_diacritics_take_no_room() -> None:
    assert text_width("žluťoučký", 10) == pytest.approx(text_width("zlutoucky", 10))
    assert text_width("e\u0301", 10) == pytest.approx(text_width("e", 10))


def test_helvetica_fits() -> None:
    # Widths of the standard Helvetica metrics, in thousandths of the font size: d 556, o 556, g 556; W 944, A 667.
    assert 1.668 <= text_width("dog", 1) <= 1.668 * 1.1
    assert 1.611 <= text_width("WA", 1) <= 1.611 * 1.1


def test_wide_characters_need_another_font_and_two_columns() -> None:
    assert is_wide("小王子")
    assert not is_wide("kůň")
    assert columns("a小") == 3


@given(st.text(), st.floats(min_value=15, max_value=400))
def test_lines_keep_the_text_and_the_limit(text: str, limit: float) -> None:
    lines = wrapped(text, 10, limit)
    assert "".join(lines) == text
    # A space may hang over the margin, where nobody sees it.
    assert all(text_width(line.rstrip(" "), 10) <= limit + 1e-6 for line in lines)


def test_what_follows_a_break_is_broken_again() -> None:
    assert wrapped(" 0小", 10, 15) == [" ", "0", "小"]


def test_lines_break_at_spaces_first() -> None:
    assert wrapped("one two three", 10, 50) == ["one two ", "three"]
    assert wrapped("abcdefgh", 10, 25) == ["abcd", "efgh"]


@given(st.text(st.characters(codec=None)))
def test_printable_text_is_legal_in_xml(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    shown.encode()
    for character in shown:
        code = ord(character)
        assert code >= 0x20
        assert not 0x7F <= code < 0xA0
        assert code & 0xFFFE != 0xFFFE
    assert printable(shown) == shown


def test_letters_stay_and_tricks_go() -> None:
    assert printable("Žižkov 小王子 <b>") == "Žižkov 小王子 <b>"
    assert printable("a\u202eb\x00\x9b") == "a�b␀�"
