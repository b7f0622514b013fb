"""Whatever the text, a reader of text formats reads it or refuses it with a finding that has a line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError
from perin.graphs import Tolerant, loads

PENMAN = """\
# ::id a.1 ::date 2020-01-01 ::preferred
# ::snt The dogs of Kim want to bark .
# ::anchors w=16:20 d=4:8,9:11
# ::mrp {"flavor": 1, "tops": ["w", "d"], "nodes": {"d": {"values": [2]}}, "edges": {"0": {"label": "a b"}}}
(w / want-01~e.4
      :a_b (d / dog
            :quant 2
            :poss (p / person :wiki - :name (n / name :op1 "K\\u0022im")))
      :ARG1 (b / bark-01 :polarity -
            :ARG0 d))

# ::id a.2
(r / run-02 :mode imperative
      :ARG0 (y / you :ARG0-of (h / hear-01)))
"""
CHINESE = """\
# ::id 1 ::2016-06-05 23:42:47
# ::snt 他 没有 看 完 这 本 书
(x3_x4 / 看完-01
      :polarity(x2)  (x2_1 / -)
      :arg0()  (x1 / 他
            :name(x5/这)  (x90 / name :op1 x1/他 ))
      :arg1()  (x7 / 书
            :mod()  (x5 / x1)))

# ::snt 书
(x1 / 书)
"""
CLAUSES = """\
%%% bin/boxer --input out/p07/d0042/en.parse.tags --semantics drg
%%% Kim does n't own ø two~thousand books .
b1 REF x1             % Kim [0...3]
b1 Name x1 "kim"      % Kim [0...3]
b1 PRESUPPOSITION b2  % Kim [0...3]
b1 person "n.01" x1   % Kim [0...3]
b2 REF t1             % does [4...8] n't [8...11]
b2 EQU t1 "now"       % does [4...8]
b2 time "n.08" t1
b2 DIS b3 b4

%%% ::id 2 ::json {"a": [1]}
b1 NEGATION b2
"""
SEQUENCE = """\
%%% ::id 7
person.n.01 Name "Kim Lee"               % Kim    [0-3]
doubt.v.01  Experiencer -1 Proposition >1 Time +1 % doubts that [4-15]
            CONTINUATION <0
win.v.01    Agent -1 Value "-1"          % won [16-19]

rain.v.01 Time +1 time.n.08 EQU now NEGATION -1
"""
DOCUMENT = """\
################################################################################
# meta-info :: sent_id = a.1
# :: snt1
Index: 1  2
Words: Je zde
# sentence level graph:
(s1b1 / být-007 :ARG1 (s1x1 / #Forn :op1 "K\\u0022im" :quant 2) :mod-of s1z1 :place (s1z1 / zde))
# alignment:
s1b1: 1-1
s1x1: 0-0
s1z1: 1-2
# document level annotation:
(s1s0 / sentence :coref ((s1x1 :same-entity s1z1)))
################################################################################
# :: snt2
Words: a
# sentence level graph:
(s2a1 / a)
"""
SOUND = [("amr", PENMAN), ("amr", CHINESE), ("drg", CLAUSES), ("sbn", SEQUENCE), ("umr", DOCUMENT)]

pieces = st.one_of(st.text('()/:~"\\# \n%.,=+-<>[]{}ab1xNEG_é书\x00\u2028', max_size=12), st.text(max_size=6))


@st.composite
def damaged(draw: st.DrawFn, sound: str) -> str:
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(sound)))
        end = draw(st.integers(start, min(len(sound), start + 20)))
        sound = sound[:start] + draw(pieces) + sound[end:]
    return sound


@pytest.mark.parametrize(("format", "text"), SOUND)
def test_sound_text_has_no_fault(format: str, text: str) -> None:
    assert len(loads(text, format)) == 2


@pytest.mark.parametrize(("format", "sound"), SOUND)
@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_any_text_is_read_or_refused(format: str, sound: str, data: st.DataObject) -> None:
    text = data.draw(st.one_of(pieces, damaged(sound)))
    tolerant = Tolerant()
    read = loads(text, format, report=tolerant)
    if any(finding.severity == "error" for finding in tolerant.findings):
        assert all(finding.line for finding in tolerant.findings)
        with pytest.raises(InputError):
            loads(text, format)
    else:
        assert loads(text, format) == read
