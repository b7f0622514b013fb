from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import UsageError
from perin.text import to_number, tokenize


def below_20(words: str) -> list[str]:
    found = words.split()
    assert len(found) == 20
    return found


def tens(words: str) -> list[str]:
    return ["", "", *words.split()]


ENGLISH_UNITS = below_20(
    """
    zero one two three four five six seven eight nine ten
    eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    """
)
ENGLISH_TENS = tens("twenty thirty forty fifty sixty seventy eighty ninety")
GERMAN_UNITS = below_20(
    """
    null eins zwei drei vier fünf sechs sieben acht neun zehn
    elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
    """
)
GERMAN_TENS = tens("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
CZECH_UNITS = below_20(
    """
    nula jeden dva tři čtyři pět šest sedm osm devět deset
    jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct
    """
)
CZECH_TENS = tens("dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát")


def english(n: int) -> str:
    """A number in words; written for this test."""
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if n >= size:
            return f"{english(n // size)} {name}" + (f" and {english(n % size)}" if n % size else "")
    if n < 20:
        return ENGLISH_UNITS[n]
    return ENGLISH_TENS[n // 10] + (f"-{ENGLISH_UNITS[n % 10]}" if n % 10 else "")


def german(n: int) -> str:
    for size, one, many in ((10**9, "eine Milliarde", "Milliarden"), (10**6, "eine Million", "Millionen")):
        if n >= size:
            head = one if n // size == 1 else f"{german(n // size)} {many}"
            return head + (f" {german(n % size)}" if n % size else "")
    for size, name in ((1000, "tausend"), (100, "hundert")):
        if n >= size:
            head = german(n // size)
            head = head.removesuffix("s") if head.endswith("eins") else head
            return head + name + (german(n % size) if n % size else "")
    if n < 20:
        return GERMAN_UNITS[n]
    return (GERMAN_UNITS[n % 10].replace("eins", "ein") + "und" if n % 10 else "") + GERMAN_TENS[n // 10]


def czech(n: int) -> str:
    for size, one, few, many in ((10**9, "miliarda", "miliardy", "miliard"), (10**6, "milion", "miliony", "milionů")):
        if n >= size:
            count = n // size
            head = one if count == 1 else f"{czech(count)} {few if count < 5 else many}"
            return head + (f" {czech(n % size)}" if n % size else "")
    if n >= 1000:
        count = n // 1000
        head = "tisíc" if count == 1 else f"{czech(count)} {'tisíce' if count < 5 else 'tisíc'}"
        return head + (f" {czech(n % 1000)}" if n % 1000 else "")
    if n >= 100:
        hundreds = [
            "",
            "sto",
            "dvě stě",
            "tři sta",
            "čtyři sta",
            "pět set",
            "šest set",
            "sedm set",
            "osm set",
            "devět set",
        ]
        return hundreds[n // 100] + (f" {czech(n % 100)}" if n % 100 else "")
    return CZECH_UNITS[n] if n < 20 else CZECH_TENS[n // 10] + (f" {CZECH_UNITS[n % 10]}" if n % 10 else "")


def chinese(n: int) -> str:
    for size, name in ((10**8, "亿"), (10**4, "万")):
        if n >= size:
            rest = n % size
            gap = "零" if 0 < rest < size // 10 else ""
            return chinese(n // size) + name + (gap + chinese(rest) if rest else "")
    digits = "零一二三四五六七八九"
    if n < 10:
        return digits[n]
    size, name = next((size, name) for size, name in ((1000, "千"), (100, "百"), (10, "十")) if n >= size)
    rest = n % size
    gap = "零" if 0 < rest < size // 10 else ""
    return digits[n // size] + name + (gap + chinese(rest) if rest else "")


SPELLERS: dict[str, Callable[[int], str]] = {"eng": english, "deu": german, "ces": czech, "zho": chinese}
NUMBERS = st.one_of(
    st.integers(0, 10**12 - 1), st.integers(0, 9999), st.sampled_from([10**n * m for n in range(11) for m in (1, 2, 7)])
)


@pytest.mark.parametrize("language", SPELLERS)
@settings(deadline=None, max_examples=400)
@given(number=NUMBERS)
def test_numbers_there_and_back(language: str, number: int) -> None:
    words = SPELLERS[language](number)
    assert to_number(words.split(), language) == str(number)
    tokens = [token.form for token in tokenize(words.capitalize(), language).tokens]
    assert to_number(tokens, language) == str(number)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6 - 1))
@pytest.mark.parametrize("language", ["eng", "deu"])
def test_text2num_reads_the_same(language: str, number: int) -> None:
    """Below a million: text2num does not know ``eine Million``."""
    text_to_num = pytest.importorskip("text_to_num")
    words = SPELLERS[language](number)
    assert str(text_to_num.text2num(words.lower(), language[:2])) == to_number(words.split(), language)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**12))
def test_cn2an_writes_and_reads_the_same(number: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cn2an = pytest.importorskip("cn2an")
    assert to_number([cn2an.an2cn(number, "low")], "zho") == str(number)
    assert to_number([cn2an.an2cn(number, "up")], "zho") == str(number)
    assert cn2an.cn2an(chinese(number), "normal") == number


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("eng", "twenty-first", "21"),
        ("eng", "two hundred million", "200000000"),
        ("eng", "a hundred", "100"),
        ("eng", "hundreds", "100"),
        ("eng", "one hundred and fifth", "105"),
        ("eng", "nineteen eighty-four", "1984"),
        ("eng", "twenty oh five", "2005"),
        ("eng", "nineteen hundred", "1900"),
        ("eng", "three point one four", "3.14"),
        ("eng", "1.5 million", "1500000"),
        ("eng", "$ 5 k", None),
        ("eng", "5 k", "5000"),
        ("eng", "two dozen", "24"),
        ("eng", "twice", "2"),
        ("eng", "the seventies", None),
        ("eng", "seventies", "70"),
        ("eng", "May", "5"),
        ("eng", "20,000", "20000"),
        ("eng", "1990s", "1990"),
        ("eng", "22nd", "22"),
        ("eng", "0.50", "0.50"),
        ("eng", "- 401", "-401"),
        ("eng", "minus two", "-2"),
        ("eng", "two three", None),
        ("eng", "twenty eleven", "2011"),
        ("eng", "hundred hundred", None),
        ("eng", "a", None),
        ("eng", "k", None),
        ("eng", "and", None),
        ("eng", "dog", None),
        ("deu", "zweiundvierzig", "42"),
        ("deu", "dritte", "3"),
        ("deu", "einundzwanzigsten", "21"),
        ("deu", "siebter", "7"),
        ("deu", "achtes", "8"),
        ("deu", "hundertste", "100"),
        ("deu", "neunzehnhundertvierundachtzig", "1984"),
        ("deu", "tausendundeine", "1001"),
        ("deu", "zwei Millionen dreihunderttausend", "2300000"),
        ("deu", "1,5 Millionen", "1500000"),
        ("deu", "eine Milliarde neunundachtzig Millionen", "1089000000"),
        ("deu", "8.586", "8586"),
        ("deu", "19,3", "19.3"),
        ("deu", "31.", "31"),
        ("deu", "zweimal", "2"),
        ("deu", "einer", "1"),
        ("deu", "Oktober", "10"),
        ("deu", "Hunderte", "100"),
        ("deu", "zweidrei", None),
        ("deu", "weiteste", None),
        ("ces", "pětadvacet", "25"),
        ("ces", "pětadvacátého", "25"),
        ("ces", "dvacátý třetí", "23"),
        ("ces", "dvou set", "200"),
        ("ces", "první", "1"),
        ("ces", "třikrát", "3"),
        ("ces", "1,5 milionu", "1500000"),
        ("ces", "20 000", "20000"),
        ("ces", "31 .", "31"),
        ("ces", "ledna", "1"),
        ("ces", "dva tři", None),
        ("ces", "pes", None),
        ("zho", "三百二十", "320"),
        ("zho", "第二十一", "21"),
        ("zho", "两", "2"),
        ("zho", "一百二", "120"),
        ("zho", "三万五", "35000"),
        ("zho", "三万零五", "30005"),
        ("zho", "一九八四", "1984"),
        ("zho", "三点一四", "3.14"),
        ("zho", "1.5亿", "150000000"),
        ("zho", "百 万", "1000000"),
        ("zho", "五亿一百六十二万二千七百三十一", "501622731"),
        ("zho", "六月", "6"),
        ("zho", "几百万", None),
        ("zho", "二十十", None),
        ("zho", "人", None),
    ],
)
def test_ordinals_years_months_and_what_is_no_number(language: str, text: str, number: str | None) -> None:
    assert to_number(text.split(), language) == number


@pytest.mark.parametrize("language", SPELLERS)
@settings(deadline=None, max_examples=150)
@given(
    words=st.lists(
        st.one_of(st.text(), st.sampled_from(["one", "hundred", "-", "zwei", "tisíc", "万", "3", ".", "點"]))
    )
)
def test_any_words_are_a_number_or_none(language: str, words: list[str]) -> None:
    number = to_number(words, language)
    assert number is None or float(number) is not None


def test_limits() -> None:
    assert to_number([], "eng") is None
    assert to_number(["one"] * 101, "eng") is None
    assert to_number(["9" * 101], "eng") is None
    assert to_number(["9" * 100], "eng") == "9" * 100
    with pytest.raises(UsageError, match="unknown language 'xx'"):
        to_number(["1"], "xx")
