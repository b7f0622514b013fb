"""The adapters with small stand-ins for the packages, and with the real ones where they are installed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from perin.errors import InputError, MissingDependencyError, ModelError, UsageError
from perin.text import Token, load_tokenizer, tokenize


def module(name: str, monkeypatch: pytest.MonkeyPatch, **members: object) -> None:
    fake = ModuleType(name)
    vars(fake).update(members)
    monkeypatch.setitem(sys.modules, name, fake)


@pytest.mark.parametrize(("name", "package"), [("spacy", "spacy"), ("stanza", "stanza"), ("udpipe", "ufal.udpipe")])
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
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


CONLLU = """\
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
        return CONLLU


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
        return CONLLU


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
