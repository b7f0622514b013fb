"""Sentences from files and objects, with small stand-ins for other packages and the real ones where installed."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import conllu
import pytest

from perin.errors import InputError, MissingDependencyError, ModelError, UsageError
from perin.text import Token, align, load_tokenizer, read_tokens, tokenize

CONLLU = """\
# sent_id = a1
# text = She  can't see Kim.
1\tShe\tshe\tPRON\t_\t_\t0\troot\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t0\t_\t_\t_
3\tn't\tnot\tPART\t_\t_\t0\t_\t_\t_
4\tsee\t_\tVERB\t_\t_\t0\t_\t_\t_
4.1\tsee\tsee\tVERB\t_\t_\t_\t_\t0:x\t_
5\tKim\tKim\tPROPN\t_\tA=b|C=d\t0\t_\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t0\t_\t_\t_


# sent_id = a2
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\t_\t_\t0\t_\t_\t_
2\tdem\tder\tDET\t_\t_\t0\t_\t_\t_
3\tHaus\tHaus\tNOUN\t_\t_\t0\t_\t_\tSpaceAfter=No
4\t!\t!\tPUNCT\t_\t_\t0\t_\t_\t_
"""


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_conllu(write) -> None:
    first, second = read_tokens(write("x.conllu", CONLLU), "eng")
    assert (first.id, first.text, first.language) == ("a1", "She  can't see Kim.", "eng")
    assert first.tokens == (
        Token("She", "she", 0, 3),
        Token("ca", "can", 5, 7),
        Token("n't", "not", 7, 10),
        Token("see", "see", 11, 14),
        Token("Kim", "Kim", 15, 18),
        Token(".", ".", 18, 19),
    )
    assert (second.id, second.text) == ("a2", "zum Haus!")
    assert second.tokens == (Token("zum", "zu", 0, 3), Token("Haus", "Haus", 4, 8), Token("!", "!", 8, 9))


def test_conllu_with_ranges_and_a_text_that_starts_with_a_space(write) -> None:
    text = "# text =  post  office\n" + row("post office", "TokenRange=1:13")
    [sentence] = read_tokens(write("x.conllu", text))
    assert sentence.tokens == (Token("post office", "post office", 1, 13),)
    assert (sentence.id, sentence.text) == (None, " post  office")


def test_comments_alone_and_empty_sentences(write) -> None:
    sentences = list(read_tokens(write("x.conllu", "# a file\n\n# sent_id = e\n# text = \n\n# text = a\n" + row("a"))))
    assert [(sentence.id, sentence.text, len(sentence)) for sentence in sentences] == [("e", "", 0), (None, "a", 1)]


def test_punctuation_may_be_written_otherwise(write) -> None:
    [sentence] = read_tokens(write("x.conllu", '# text = "\n' + row("``", "TokenRange=0:1")))
    assert sentence.tokens == (Token('"', '"', 0, 1),)


NOT_THOSE = "the tokens are not those of the text: token"


def row(form: str, misc: str = "_", id: str = "1") -> str:
    return f"{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "# sent_id = q\n# text = Kim\n" + row("Tom"),
            f"x.conllu:1: graph q: {NOT_THOSE} 1 is 'Tom', and at character 0 of the text there is 'K' instead of 'T'",
        ),
        (
            "# sent_id = q\n# text = Kim\n" + row("Kem", "TokenRange=0:3"),
            f"x.conllu:1: graph q: {NOT_THOSE} 'Kem' has the range 0:3, where the text has 'Kim'; "
            "they differ at character 1",
        ),
        (
            "# text = Kim\n" + row("Kim", "TokenRange=0:9"),
            "x.conllu:1: token 'Kim': the range 0:9 overlaps another or lies outside the text",
        ),
        ("\n\n# text = Kim\n1 Kim\n", "x.conllu:4: no CoNLL-U: a token needs 10 columns"),
        (row("Kim  Lee"), "x.conllu:1: no CoNLL-U: a token needs 10 columns"),
        (row("Kim", id="one"), "x.conllu:1: no CoNLL-U: the id of a token should be as 3, 3-4 or 3.1, found 'one'"),
    ],
)
def test_faults_of_conllu(write, text: str, message: str) -> None:
    path = write("x.conllu", text)
    with pytest.raises(InputError) as raised:
        list(read_tokens(path))
    assert str(raised.value).removeprefix(f"{path.parent}/").startswith(message)


def companion(nodes: list[dict[str, object]], **fields: object) -> str:
    graph = {
        "id": "7",
        "framework": "ud",
        "language": "eng",
        "input": "I can't.",
        "tops": [],
        "nodes": nodes,
        "edges": [],
    }
    return json.dumps(graph | fields) + "\n"


def node(id: int, label: str, start: int, end: int, lemma: str | None = None) -> dict[str, object]:
    fields: dict[str, object] = {"id": id, "label": label, "anchors": [{"from": start, "to": end}]}
    return fields | ({"properties": ["upos", "lemma"], "values": ["X", lemma]} if lemma else {})


def test_companion(write) -> None:
    nodes = [node(0, "I", 0, 1, "I"), node(2, "n't", 4, 7, "not"), node(1, "ca", 2, 4, "can"), node(3, ".", 7, 8)]
    [sentence] = read_tokens(write("x.mrp", companion(nodes)))
    assert sentence.tokens == (
        Token("I", "I", 0, 1),
        Token("ca", "can", 2, 4),
        Token("n't", "not", 4, 7),
        Token(".", ".", 7, 8),
    )
    assert (sentence.id, sentence.language, sentence.text) == ("7", "eng", "I can't.")


def test_companion_of_a_language_without_lemmatizer(write) -> None:
    [sentence] = read_tokens(write("x.mrp", companion([node(0, "Was", 0, 3)], input="Was", language="fra")))
    assert (sentence.language, sentence.tokens) == ("fra", (Token("Was", "Was", 0, 3),))


def test_overlapping_words_of_a_companion_are_one_token(write) -> None:
    nodes = [node(0, "I", 0, 1, "I"), node(1, "can", 2, 7, "can"), node(2, "not", 2, 7, "not"), node(3, ".", 7, 8, ".")]
    [sentence] = read_tokens(write("x.mrp", companion(nodes)))
    assert [(token.form, token.lemma) for token in sentence.tokens] == [("I", "I"), ("can't", "can"), (".", ".")]


def test_companion_without_anchors(write) -> None:
    nodes: list[dict[str, object]] = [{"id": i, "label": form} for i, form in enumerate(["I", "ca", "n't", "."])]
    [sentence] = read_tokens(write("x.mrp", companion(nodes)))
    assert [(token.form, token.lemma, token.start) for token in sentence.tokens][1:3] == [
        ("ca", "can", 2),
        ("n't", "not", 4),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"framework": "eds"}, "x.mrp:1: graph 7: no companion graph: its framework is 'eds' instead of 'ud'"),
        ({"input": None}, "x.mrp:1: graph 7: a companion graph needs the field 'input'"),
        ({"input": "A can't."}, "x.mrp:1: graph 7: the tokens are not those of the text: token 'I' has the range 0:1"),
    ],
)
def test_faults_of_companions(write, fields: dict[str, object], message: str) -> None:
    path = write("x.mrp", companion([node(0, "I", 0, 1)], **fields))
    with pytest.raises(InputError) as raised:
        list(read_tokens(path))
    assert str(raised.value).removeprefix(f"{path.parent}/").startswith(message)


def test_plain_text_one_sentence_a_line(write) -> None:
    sentences = list(read_tokens(write("x.txt", "It rains.\n\n  \nGo \u2028 on.\r\n"), "eng"))
    assert [sentence.text for sentence in sentences] == ["It rains.", "Go \u2028 on."]
    assert sentences[0].tokens[1] == Token("rains", "rain", 3, 8)


def test_compressed_and_named_formats(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(gzip.compress(CONLLU.encode()))
    assert len(list(read_tokens(path, format="conllu"))) == 2
    with pytest.raises(UsageError, match="unknown format 'xml' of tokens; known are: text, conllu, mrp"):
        read_tokens(path, format="xml")


def test_all_token_files_of_the_treebanks(shared: Path) -> None:
    """Every dev file is read, and has the rows that the library conllu finds."""
    for path in sorted((shared / "data").glob("*/dev.conllu.gz")):
        sentences = list(read_tokens(path))
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            rows = conllu.parse(stream.read())
        assert [sentence.id for sentence in sentences] == [row.metadata["sent_id"] for row in rows]
        assert [[token.form for token in sentence.tokens] for sentence in sentences] == [
            [token["form"] for token in row] for row in rows
        ]


def test_companion_fixture_matches_its_graphs(shared: Path) -> None:
    folder = shared / "fixtures" / "formats" / "companion"
    inputs = {
        graph["id"]: graph["input"] for graph in map(json.loads, (folder / "graphs.mrp").read_text().splitlines())
    }
    for sentence in read_tokens(folder / "companion.mrp"):
        assert align(sentence, inputs[sentence.id or ""]).tokens == sentence.tokens


def module(name: str, monkeypatch: pytest.MonkeyPatch, **members: object) -> None:
    fake = ModuleType(name)
    vars(fake).update(members)
    monkeypatch.setitem(sys.modules, name, fake)


@pytest.mark.parametrize(("name", "package"), [("spacy", "spacy"), ("stanza", "stanza"), ("udpipe", "ufal.udpipe")])
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    with pytest.raises(MissingDependencyError) as raised:
        load_tokenizer(name, "eng", "x")
    assert str(raised.value) == (
        f"the tokenizer {name!r} needs the package {package}, which is not installed; run: pip install 'perin[{name}]'"
    )


def test_the_own_tokenizer_and_unknown_names() -> None:
    assert load_tokenizer("perin", "de")("Ja!") == tokenize("Ja!", "deu")
    with pytest.raises(UsageError, match="unknown tokenizer 'nltk'; known are: perin, spacy, stanza, udpipe"):
        load_tokenizer("nltk", "eng")
    with pytest.raises(UsageError, match="unknown language"):
        load_tokenizer("perin", "xx")


def spacy_pipeline(text: str) -> list[SimpleNamespace]:
    words = [("Dogs", 0, "dog"), (" ", 4, " "), ("ran", 6, "")]
    return [SimpleNamespace(text=form, idx=start, lemma_=lemma, is_space=form == " ") for form, start, lemma in words]


def test_spacy_tokens_and_lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    module("spacy", monkeypatch, load=lambda name: loaded.append(name) or spacy_pipeline, blank=loaded.append)
    sentence = load_tokenizer("spacy", "eng")("Dogs  ran")
    assert sentence.tokens == (Token("Dogs", "dog", 0, 4), Token("ran", "run", 6, 9))
    assert (sentence.text, sentence.language) == ("Dogs  ran", "eng")
    load_tokenizer("spacy", "ces")
    load_tokenizer("spacy", "deu", "blank")
    load_tokenizer("spacy", "deu", "my_pipeline")
    assert loaded == ["en_core_web_sm", "cs", "de", "my_pipeline"]


def test_spacy_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError("[E050] Can't find model")

    module("spacy", monkeypatch, load=load)
    with pytest.raises(
        ModelError, match="spaCy's en_core_web_sm is not installed; run: python -m spacy download en_core_web_sm"
    ):
        load_tokenizer("spacy", "eng")


@pytest.mark.parametrize("language", ["eng", "deu", "ces"])
def test_real_spacy_without_a_model(language: str) -> None:
    pytest.importorskip("spacy", reason="spaCy is an optional package")
    text = "Čau,  „Kim“ 👍🏽!\n"
    sentence = load_tokenizer("spacy", language, "blank")(text)
    assert [text[token.start : token.end] for token in sentence.tokens] == [token.form for token in sentence.tokens]
    assert "".join(token.form for token in sentence.tokens) == "".join(text.split())


OUTPUT = """\
# text = I can't
1\tI\tI\tPRON\t_\t_\t_\t_\t_\tstart_char=0|end_char=1
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_

# text = go.
1\tgo\tgo\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_

"""
TOKENS = (
    Token("I", "I", 0, 1),
    Token("ca", "can", 3, 5),
    Token("n't", "not", 5, 8),
    Token("go", "go", 9, 11),
    Token(".", ".", 11, 12),
)


class StanzaDocument:
    def __format__(self, spec: str) -> str:
        assert spec == "C"
        return OUTPUT


def test_stanza_tokens_and_lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[tuple[str, dict[str, object]]] = []

    def pipeline(language: str, **given: object):
        options.append((language, given))
        return lambda text: StanzaDocument()

    module("stanza", monkeypatch, Pipeline=pipeline)
    tokenize = load_tokenizer("stanza", "eng", "folder")
    assert tokenize("I  can't go.").tokens == TOKENS
    assert tokenize(" ").tokens == ()
    [(language, given)] = options
    assert language == "en"
    assert given["dir"] == "folder"
    assert given["download_method"] is None
    assert given["tokenize_no_ssplit"] is True
    with pytest.raises(InputError, match="the tokens are not those of the text"):
        tokenize("You can't go.")


def test_stanza_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipeline(language: str, **given: object) -> None:
        raise FileNotFoundError

    module("stanza", monkeypatch, Pipeline=pipeline)
    with pytest.raises(ModelError, match=r"run: python -c 'import stanza; stanza\.download\(\"de\"\)'"):
        load_tokenizer("stanza", "deu")


class UDPipePipeline:
    DEFAULT, NONE = "default", "none"

    def __init__(self, *arguments: object) -> None:
        assert arguments == ("model", "tokenizer=presegmented", "default", "none", "conllu")

    def process(self, text: str, problem: SimpleNamespace) -> str:
        assert text == "I can't go."
        return OUTPUT


def udpipe(monkeypatch: pytest.MonkeyPatch, *, failed: bool = False) -> None:
    module(
        "ufal.udpipe",
        monkeypatch,
        Model=SimpleNamespace(load=lambda path: "model" if path == "good.udpipe" else None),
        Pipeline=UDPipePipeline,
        ProcessingError=lambda: SimpleNamespace(occurred=lambda: failed, message="no memory"),
    )
    module("ufal", monkeypatch, udpipe=sys.modules["ufal.udpipe"])


def test_udpipe_tokens_and_lemmas(monkeypatch: pytest.MonkeyPatch) -> None:
    udpipe(monkeypatch)
    assert load_tokenizer("udpipe", "eng", "good.udpipe")("I  can't\ngo.").tokens == (
        *TOKENS[:3],
        Token("go", "go", 9, 11),
        Token(".", ".", 11, 12),
    )
    with pytest.raises(UsageError, match="needs a model file"):
        load_tokenizer("udpipe", "eng")
    with pytest.raises(ModelError, match=r"bad\.udpipe is no UDPipe model"):
        load_tokenizer("udpipe", "eng", "bad.udpipe")


def test_udpipe_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    udpipe(monkeypatch, failed=True)
    with pytest.raises(ModelError, match=r"UDPipe failed with the model good\.udpipe: no memory"):
        load_tokenizer("udpipe", "eng", "good.udpipe")("I can't go.")
