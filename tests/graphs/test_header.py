from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.graphs import Graph
from perin.graphs.codecs import header, mrp

FULL = Graph("1", "eds", "eng", 1, 1.1, "2020-01-01", "wsj", "Dogs bark.", extra={"annotator": "Kim"})


def test_fields_as_lines():
    pairs = header.pairs(FULL, framework="eds", flavor=1)
    assert list(header.comment_lines(pairs)) == [
        "# ::id 1",
        "# ::version 1.1",
        "# ::time 2020-01-01",
        "# ::language eng",
        "# ::source wsj",
        "# ::snt Dogs bark.",
        "# ::annotator Kim",
    ]
    assert header.graph(pairs, framework="eds", flavor=1) == FULL


def test_only_what_is_implied_is_left_out():
    pairs = header.pairs(replace(FULL, flavor=0), framework="eds", flavor=1)
    assert pairs["flavor"] == "0"
    assert header.graph(pairs, framework="eds", flavor=1).flavor == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        " lead",
        "trail ",
        "two\nlines",
        "tab\there",
        "::snt x",
        "a ::id 2",
        "\u2028",
        "\x85",
        '{"a": 1}',
        "a\xa0b",
        "::",
    ],
)
def test_texts_that_do_not_fit_on_a_line_travel_as_json(text):
    graph = replace(FULL, input=text, source=text, extra={text: text, "id2": text})
    lines = list(header.comment_lines(header.pairs(graph)))
    assert all(len(line.splitlines()) == 1 for line in lines)
    pairs: dict[str, str] = {}
    for line in lines:
        pairs.update(header.comment_pairs(line))
    assert header.graph(pairs) == graph


@pytest.mark.parametrize("extra", [{"snt": "x"}, {"json": {}}, {"list": [1, None]}, {"a b": "c"}, {"n": 5}])
@pytest.mark.parametrize("version", [None, 1, 1.1, "1.1", "two", 1e-9, 1e300])
def test_odd_fields_keep_name_and_type(extra, version):
    graph = replace(FULL, extra=extra, version=version)
    again = header.graph(header.pairs(graph))
    assert again == graph
    assert type(again.version) is type(version)


def test_comment_lines_of_other_tools():
    assert header.comment_pairs("# ::id x ::preferred ::snt a  b ") == {"id": "x", "preferred": "", "snt": "a  b"}
    assert header.comment_pairs("#::id x") == {"id": "x"}
    assert header.comment_pairs("# not ::id x") == {}
    assert header.comment_pairs("# ::snt std::vector is a::b") == {"snt": "std::vector is a::b"}
    assert header.comment_pairs("#") == {}


@pytest.mark.parametrize(
    "pairs",
    [
        {"json": "5"},
        {"json": "{"},
        {"json": '{"nodes": []}'},
        {"json": '{"input": 7}'},
        {"json": '{"a": "\\ud800"}'},
        {"flavor": "x"},
        {"edges": "e"},
    ],
)
def test_malformed_fields(pairs):
    with pytest.raises(mrp.Malformed):
        header.graph({"id": "1", **pairs})


def test_no_id_is_malformed():
    with pytest.raises(mrp.Malformed):
        header.graph({"snt": "x"})


def test_any_header_survives(graphs):
    @given(graphs(framework="ptg", max_nodes=0), st.sampled_from([{}, {"flavor": 1}, {"framework": "ptg"}]))
    @settings(deadline=None, max_examples=100)
    def check(graph, implied):
        pairs: dict[str, str] = {}
        for line in header.comment_lines(header.pairs(graph, **implied)):
            pairs.update(header.comment_pairs(line))
        expected = replace(graph, flavor=1) if graph.flavor is None and "flavor" in implied else graph
        assert header.graph(pairs, **implied) == expected

    check()
