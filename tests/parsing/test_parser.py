from __future__ import annotations

import datetime
import itertools
import random
import re
from dataclasses import replace

import pytest
import torch

from perin.errors import InputError, UsageError
from perin.frameworks.framework import Framework
from perin.graphs import Graph, dumps, loads
from perin.graphs.validation import findings
from perin.parsing.parser import Parser
from perin.text import tokenize

DATE = "2026-01-31"


def errors(graph):
    return [finding.message for finding in findings(graph) if finding.severity == "error"]


def test_a_string_is_a_sentence(parser):
    graph = parser.parse("The dog sleeps.")
    assert isinstance(graph, Graph)
    assert (graph.id, graph.framework, graph.language, graph.input) == ("1", "eds", "eng", "The dog sleeps.")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", graph.time)
    assert errors(graph) == []


def test_tokens_without_a_list_around_them_are_warned_of(parser):
    with pytest.warns(UserWarning, match=r"for the tokens of one sentence put the list into a list: \[tokens\]"):
        assert len(parser.parse(["Dogs", "bark", "."])) == 3
    assert [graph.input for graph in parser.parse([["Dogs", "bark", "."]])] == ["Dogs bark ."]
    assert len(parser.parse(["Rain!", "Go."])) == 2


def test_everything_is_shown_on_one_line(parser):
    [good, bad] = parser.stream(["The dog sleeps.", "dog " * 600], "eds")
    assert repr(good) == "<Parsed 1: 'The dog sleeps.', eds>"
    assert re.fullmatch(r"<Parsed 2: 'dog dog.*', error: .* tokens, more than .*>", repr(bad))
    assert re.fullmatch(r"<Graph 1 \(eds\): 'The dog sleeps.', nodes: \d+, edges: \d+>", repr(good.graphs[0]))
    shown = [parser, parser.model, *parser.treebanks.values(), parser.treebanks["eds-eng"].vocabulary]
    assert all(len(repr(each)) < 100 and "0x" not in repr(each) for each in shown), shown


def test_several_sentences_keep_their_order(parser, texts):
    graphs = parser.parse(texts, time=DATE)
    assert [graph.input for graph in graphs] == texts
    assert [graph.id for graph in graphs] == ["1", "2", "3", "4", "5"]
    assert {graph.time for graph in graphs} == {DATE}
    assert parser.parse([]) == []
    assert parser.parse(iter(texts), time=DATE) == graphs


def test_tokens_and_ids_can_be_given(parser):
    sentence = tokenize("The dog sleeps.", "eng", "x7")
    assert parser.parse(sentence).id == "x7"
    merged = replace(sentence, tokens=(replace(sentence.tokens[0], form="The dog", end=7), *sentence.tokens[2:]))
    assert [graph.id for graph in parser.parse([sentence, replace(merged, id=None)])] == ["x7", "2"]


def test_one_pass_of_the_encoder_gives_all_frameworks(parser, texts, monkeypatch):
    alone = {name: parser.parse(texts, name, time=DATE) for name in ("eds", "amr", "ucca")}
    calls = []
    encode = parser.model.network.encode
    monkeypatch.setattr(parser.model.network, "encode", lambda batch: calls.append(1) or encode(batch))
    graphs = parser.parse(texts, "all", time=DATE)
    assert len(calls) == 1
    assert graphs == [list(of_sentence) for of_sentence in zip(*alone.values(), strict=True)]
    assert [graph.framework for graph in parser.parse(texts[0], "all")] == ["eds", "amr", "ucca"]


@pytest.mark.parametrize("framework", ["eds", "amr", "ucca"])
def test_graphs_do_not_depend_on_batches_order_or_threads(model, texts, framework):
    sentences = [f"{one} {other}" for one in texts for other in texts] + texts * 4
    whole = Parser(model, threads=1).parse(sentences, framework, probabilities=False, time=DATE)
    by_text = {graph.input: replace(graph, id="") for graph in whole}
    assert len({len(graph.nodes) for graph in whole}) > 1
    for threads, most in ((1, 1), (2, 3), (2, 64)):
        shuffled = random.Random(most).sample(sentences, len(sentences))
        results = Parser(model, threads=threads).stream(
            shuffled, framework, probabilities=False, time=DATE, max_batch_size=most
        )
        graphs = [parsed.graphs[0] for parsed in results]
        assert [graph.input for graph in graphs] == shuffled
        assert [replace(graph, id="") for graph in graphs] == [by_text[text] for text in shuffled]


def test_every_graph_is_valid_and_can_be_written_and_read(parser, texts):
    for graph in itertools.chain(*parser.parse(texts, "all")):
        assert errors(graph) == []
        assert loads(dumps(graph)) == [graph]


def test_probabilities(parser, texts):
    for graph in itertools.chain(*parser.parse(texts, "all")):
        for part in (*graph.nodes, *graph.edges):
            assert 0 <= part.extra["probability"] <= 1
            assert 0 <= part.extra["label_probability"] <= 1
        if graph.framework != "ucca":
            assert all("top_probability" in node.extra for node in graph.nodes)
    for graph in itertools.chain(*parser.parse(texts, "all", probabilities=False)):
        assert all(part.extra is None for part in (*graph.nodes, *graph.edges))


def test_alternatives(parser, texts):
    graphs = list(itertools.chain(*parser.parse(texts, "all", alternatives=2)))
    parts = [part.extra for graph in graphs for part in (*graph.nodes, *graph.edges)]
    assert {len(extra.get("alternatives", ())) for extra in parts} == {0, 1, 2}
    assert [loads(dumps(graph)) for graph in graphs] == [[graph] for graph in graphs]
    with pytest.raises(UsageError, match="0 or more"):
        parser.parse("Rain!", alternatives=-1)


def test_several_frameworks_are_grouped_by_sentence(parser, texts):
    grouped = parser.parse(texts[:2], ["amr", "EDS"])
    assert [[graph.framework for graph in graphs] for graphs in grouped] == [["amr", "eds"]] * 2
    assert [graph.framework for graph in parser.parse(texts[0], ("ucca",))] == ["ucca"]
    assert [graph.framework for graph in parser.parse(texts[0], "AMR, eds")] == ["amr", "eds"]
    assert [len(graphs) for graphs in parser.parse(texts[:2], "amr,eds")] == [2, 2]
    assert parser.parse(texts[0], "Eds").framework == "eds"


@pytest.mark.parametrize("wrong", [["eds", "drg"], "drg", "eds,drg", ",", ["eds", None], [], 5])
def test_frameworks_that_the_model_does_not_have(parser, wrong):
    with pytest.raises(UsageError, match=r"the model has eds-eng, amr-eng, ucca-eng|named by a string"):
        parser.parse("Go.", wrong)


def test_running_text_is_split(parser):
    graphs = parser.parse("Dr. Kim saw\ndogs. It\nrained.\n\nA title\n\nGo.", split=True)
    assert [(graph.id, graph.input) for graph in graphs] == [
        ("1.1", "Dr. Kim saw dogs."),
        ("1.2", "It rained."),
        ("1.3", "A title"),
        ("1.4", "Go."),
    ]
    assert [len(group) for group in parser.parse(["Go. Stop.", "Run."], "all", split=True)] == [3, 3, 3]


def test_tokens_as_input(parser):
    [graph] = parser.parse([["Kim", "saw", "dogs", "."]], "eds")
    assert graph.input == "Kim saw dogs ."
    assert graph.nodes == parser.parse("Kim saw dogs .", "eds").nodes


def test_conllu_sentences_as_input(parser):
    conllu = pytest.importorskip("conllu")
    rows = "".join(f"{n}\t{form}\t{form}" + "\t_" * 7 + "\n" for n, form in enumerate(["Dogs", "bark"], start=1))
    [sentence] = conllu.parse(f"# sent_id = a7\n# text = Dogs bark\n{rows}\n")
    assert (parser.parse(sentence).id, parser.parse(sentence).input) == ("a7", "Dogs bark")
    assert [graph.id for graph in parser.parse([sentence, "Go."])] == ["a7", "2"]


def test_spacy_documents_as_input(parser):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    doc = pipeline("Kim saw dogs.  It rained.")
    assert parser.parse(doc).input == doc.text
    graphs = parser.parse(doc, "eds", split=True)
    assert [(graph.id, graph.input.strip()) for graph in graphs] == [("1.1", "Kim saw dogs."), ("1.2", "It rained.")]
    second = list(doc.sents)[1]
    assert parser.parse(second, "eds", time=DATE).nodes == parser.parse("It rained.", "eds", time=DATE).nodes


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (None, "parse takes sentences .*, not None"),
        (7, r"not int \(7\)"),
        (b"Go.", r"not bytes \(b'Go.'\)"),
        ({"a": 1}, "not dict"),
        (["Go.", 7], r"sentence 2 should be a string, a list of tokens, .* not int \(7\)"),
        ([["Go", 7]], "not a list that holds int"),
    ],
)
def test_wrong_types_are_told(parser, texts, message):
    with pytest.raises(UsageError, match=message):
        parser.parse(texts)


def test_a_stream_of_one_text_is_no_stream_of_letters(parser):
    with pytest.raises(UsageError, match=r"stream takes several sentences, .* put it in a list"):
        parser.stream("Go.")


ODD = [
    "",
    "   ",
    "\x00\x01\x02 \x1b[31m",
    "a\u200bb\ufeff",
    "Здравствуй, мир! 你好，世界。 مرحبا بالعالم",
    "🏳️‍🌈👩‍👩‍👧‍👦 e\u0301",
    "x" * 5000,
    ". " * 400,
    "\u202eabc\u202c",
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_text_gives_valid_graphs(parser, text):
    for graph in parser.parse(text, "all"):
        assert errors(graph) == []
        assert graph.input == text
        assert loads(dumps(graph)) == [graph]


def test_a_sentence_that_fails_is_an_error_in_its_place(parser, texts):
    given = [texts[0], "word " * 5000, texts[1], "half \ud800", InputError("lost", "x.txt", 4), texts[2]]
    results = list(parser.stream(given))
    assert [parsed.error is None for parsed in results] == [True, False, True, False, False, True]
    assert [len(parsed.graphs) for parsed in results] == [1, 0, 1, 0, 0, 1]
    assert [parsed.sentence.id for parsed in results] == ["1", "2", "3", "4", "5", "6"]
    messages = [str(parsed.error) for parsed in results if parsed.error]
    assert messages[0] == "graph 2: 5000 tokens, more than the limit of 500; split it or raise the limit"
    assert messages[1] == "graph 4: the text contains an unpaired surrogate (U+D800); remove it"
    assert messages[2] == "x.txt:4: graph 5: lost"
    with pytest.raises(InputError, match="graph 2: 5000 tokens"):
        parser.parse(given)


def test_empty_graphs_for_sentences_that_fail(parser):
    results = list(parser.stream(["word " * 600, "half \ud800"], "all", empty=True, time=DATE))
    for parsed in results:
        assert parsed.error is not None
        assert [graph.framework for graph in parsed.graphs] == ["eds", "amr", "ucca"]
        for graph in parsed.graphs:
            assert len(graph.nodes) == 1
            assert errors(graph) == []
            assert (graph.id, graph.time) == (parsed.sentence.id, DATE)
            dumps(graph).encode()


@pytest.mark.parametrize(
    "error", [RuntimeError("can't allocate memory"), MemoryError(), IndexError("4"), InputError("no")]
)
def test_a_failure_in_a_batch_harms_its_sentence_only(parser, texts, monkeypatch, error):
    decode = Framework.decode

    def failing(self, prediction, *arguments, **options):
        if prediction.sentence.text == texts[1]:
            raise error
        return decode(self, prediction, *arguments, **options)

    expected = parser.parse(texts, time=DATE)
    monkeypatch.setattr(Framework, "decode", failing)
    results = list(parser.stream(texts, time=DATE))
    assert [parsed.graphs for parsed in results] == [(graph,) if graph.id != "2" else () for graph in expected]
    assert "can't be parsed" in str(results[1].error)


def test_memory_is_constant(parser):
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "It rains."

    results = parser.stream(endless())
    for number in range(3000):
        assert next(results).sentence.id == str(number + 1)
        assert taken - number < 1600
    results.close()


def test_choosing_a_treebank(parser, make_model, make_treebank):
    assert parser.chosen() == ["eds-eng"]
    assert parser.chosen("ucca") == ["ucca-eng"]
    assert parser.chosen("all", "en") == ["eds-eng", "amr-eng", "ucca-eng"]
    for asked in (("drg", None), (None, "deu"), ("eds", "zho")):
        with pytest.raises(UsageError, match=r"the model has eds-eng, amr-eng, ucca-eng; .* is none of them"):
            parser.chosen(*asked)
    with pytest.raises(UsageError, match="unknown language 'xyz'"):
        parser.chosen(None, "xyz")
    both = Parser(make_model([make_treebank("amr"), make_treebank("ucca", "deu"), make_treebank("ucca")]))
    assert both.chosen("amr") == ["amr-eng"]
    assert both.chosen("ucca", "deu") == ["ucca-deu"]
    assert both.chosen(None, "eng") == ["amr-eng"]
    for framework in (None, "ucca", "all"):
        with pytest.raises(UsageError, match="several languages"):
            both.chosen(framework)


def test_requests_that_make_no_sense(parser, model):
    with pytest.raises(UsageError, match="'yesterday' is no date"):
        parser.parse("Hello", time="yesterday")
    for time in (20260101, datetime.date(2026, 1, 1)):
        with pytest.raises(UsageError, match=r"is no date; give it as YYYY-MM-DD"):
            parser.parse("Hello", time=time)
    for alternatives in (-1, "3"):
        with pytest.raises(UsageError, match="the number of alternatives can't be"):
            parser.parse("Hello", alternatives=alternatives)
    for threads in (0, "2"):
        with pytest.raises(UsageError, match="at least one thread"):
            Parser(model, threads=threads)


def test_the_setting_of_torch_survives(parser, texts):
    before = torch.get_num_threads()
    parser.parse(texts * 30)
    assert torch.get_num_threads() == before
