"""Czech number words with their cases."""

from __future__ import annotations

from collections.abc import Sequence

from perin.text.numbers.sums import NumberWords, Value, digit_value, numbered

_HARD = "ý á é ého ému ém ým ou í ých ými"
_SOFT = "í ího ímu ím ích ími"
_NOUN = "- u y e em ů ům ech"
_TEENS = "jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct osmnáct devatenáct"
_CARDINALS = (
    numbered("nul", 0, endings="a y e u ou")
    | numbered("jed", 1, endings="en na no noho nomu nom ním né nu nou")
    | numbered("dv", 2, endings="a ě ou ěma")
    | numbered("tř", 3, endings="i í em ech emi")
    | numbered("čtyř", 4, endings="i - em ech mi")
    | numbered("pět šest sedm osm devět deset", 5, endings="- i")
    | numbered("devíti desíti", 9)
    | numbered(_TEENS, 11, endings="- i")
    | numbered("dvacet třicet čtyřicet padesát šedesát sedmdesát osmdesát devadesát", 20, 10, endings="- i")
)
_ORDINALS = (
    numbered("prvn", 1, endings=_SOFT)
    | numbered("druh", 2, endings=_HARD)
    | numbered("třet", 3, endings=_SOFT)
    | numbered("čtvrt pát šest sedm osm devát desát", 4, endings=_HARD)
    | numbered(_TEENS, 11, endings=_HARD)
    | numbered("dvacát třicát čtyřicát padesát šedesát sedmdesát osmdesát devadesát", 20, 10, endings=_HARD)
)
_JOINED = {
    f"{unit}a{ten}": value + tens
    for unit, value in numbered("jedn dva tři čtyři pět šest sedm osm devět").items()
    for ten, tens in (_CARDINALS | _ORDINALS).items()
    if tens >= 20
}
"""The order of German: pětadvacet."""
_SCALES = (
    numbered("tisíc", 10**3, endings=f"- e i ů ům em {_SOFT}")
    | numbered("milion milión", 10**6, 0, endings=_NOUN)
    | numbered("miliont", 10**6, endings=_HARD)
    | numbered("miliard", 10**9, endings="a y ě u ou - ám ách ami")
    | numbered("bilion bilión", 10**12, 0, endings=_NOUN)
)
_WHOLE = (
    numbered("ledna února března dubna května června července srpna září října listopadu prosince")
    | numbered("leden únor březen duben květen červen červenec srpen září říjen listopad prosinec")
    | numbered("lednu únoru březnu dubnu květnu červnu červenci srpnu září říjnu listopadu prosinci")
)
"""Words that spell a number alone, and are no part of a longer one."""
_WORDS = NumberWords(
    _CARDINALS | _ORDINALS | _JOINED,
    numbered("st", 100, endings=f"o a u em ě ům ech y {_HARD}") | {"set": 100},
    _SCALES,
    lambda word: digit_value(word, "ces"),
)


def value(words: Sequence[str]) -> Value | None:
    """The number that lower-cased words spell, or None."""
    words = [word for word in words if word not in ("a", "-", ",")]
    if len(words) == 1:
        if words[0] in _WHOLE:
            return _WHOLE[words[0]]
        words = [words[0].removesuffix("krát")]
    return _WORDS.value(words)
