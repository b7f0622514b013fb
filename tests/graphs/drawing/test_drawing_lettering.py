"""How wide text is taken to be, how it is broken into lines, and what happens to characters that can't be drawn."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perin.graphs import drawing
from perin.graphs.drawing.lettering import columns, is_wide, printable, text_width, wrapped


@pytest.mark.parametrize(("narrow", "wide"), [("ill", "mmm"), ("dog", "小王子"), ("i", "ii"), ("ARG", "ARGÁ")])
def test_text_with_more_or_larger_letters_is_wider(narrow: str, wide: str) -> None:
    assert text_width(narrow, 13) < text_width(wide, 13)


def test_diacritics_take_no_room() -> None:
    assert text_width("žlučový kůň", 10) == pytest.approx(text_width("zlucovy kun", 10))
    assert text_width("e\u0301", 10) == pytest.approx(text_width("e", 10))


def test_helvetica_fits() -> None:
    # Widths of the standard Helvetica metrics, in thousandths of the font size: d 556, o 556, g 556; W 944, A 667.
    assert 1.668 <= text_width("dog", 1) <= 1.668 * 1.1
    assert 1.611 <= text_width("WA", 1) <= 1.611 * 1.1


FONTS = Path(drawing.__file__).parent / "fonts"


def advances(path: Path) -> dict[str, float]:
    """The widths of a font's characters in parts of its size, read from the tables of the file (cmap 4, hmtx)."""
    data = path.read_bytes()
    tables = {}
    for number in range(struct.unpack(">H", data[4:6])[0]):
        tag, _, start, _ = struct.unpack(">4sIII", data[12 + 16 * number : 28 + 16 * number])
        tables[tag] = start
    unit = struct.unpack(">H", data[tables[b"head"] + 18 : tables[b"head"] + 20])[0]
    count = struct.unpack(">H", data[tables[b"hhea"] + 34 : tables[b"hhea"] + 36])[0]

    def advance(glyph: int) -> float:
        start = tables[b"hmtx"] + 4 * min(glyph, count - 1)
        return struct.unpack(">H", data[start : start + 2])[0] / unit

    base = tables[b"cmap"]
    for number in range(struct.unpack(">H", data[base + 2 : base + 4])[0]):
        start = base + struct.unpack(">I", data[base + 8 + 8 * number : base + 12 + 8 * number])[0]
        if struct.unpack(">H", data[start : start + 2])[0] == 4:
            break
    segments = struct.unpack(">H", data[start + 6 : start + 8])[0] // 2
    parts = struct.unpack(f">{4 * segments + 1}H", data[start + 14 : start + 16 + 8 * segments])
    ends, starts = parts[:segments], parts[segments + 1 : 2 * segments + 1]
    deltas, offsets = parts[2 * segments + 1 : 3 * segments + 1], parts[3 * segments + 1 :]
    found = {}
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offsets[number]:
                place = start + 16 + 6 * segments + 2 * number + offsets[number] + 2 * (code - first)
                glyph = struct.unpack(">H", data[place : place + 2])[0]
            found[chr(code)] = advance((glyph + deltas[number]) % 65536)
    return found


@pytest.mark.parametrize("face", ["Regular", "Italic"])
def test_the_font_of_pictures_is_as_wide_as_the_layout_reckons(face: str) -> None:
    """PNG and PDF are set in a font of our own, so that nothing is cut or overlaps, whatever the system has."""
    widths = advances(FONTS / f"LiberationSans-{face}.ttf")
    assert widths["m"] == pytest.approx(0.833, abs=0.001)
    for character in map(chr, (*range(0x20, 0x7F), *range(0xC0, 0x180), *range(0x391, 0x3CA), *range(0x410, 0x450))):
        if character in widths:
            assert text_width(character, 1) >= widths[character] - 0.001, character
    for text in ("The quick brown fox jumps over the lazy dog.", "_want_v_1 ARG1 proper_q", "Příliš žluťoučký kůň"):
        exact = sum(widths[character] for character in text)
        assert exact <= text_width(text, 1) <= 1.08 * exact


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


def test_long_names_are_broken_behind_hyphens() -> None:
    assert wrapped("a-long-role-name-of-an-edge", 10, 90) == ["a-long-role-name-", "of-an-edge"]
    assert wrapped("a-longrolenameofanedge", 10, 90)[0].startswith("a-longrolename")
