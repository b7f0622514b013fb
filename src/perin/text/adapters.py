"""Other people's tokenizers and lemmatizers: spaCy, Stanza, UDPipe.  Each needs its package and a model."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from perin.contract.sentence import Sentence, Token
from perin.errors import MissingDependencyError, ModelError, UsageError
from perin.text.alignment import locate
from perin.text.languages import LANGUAGES, checked
from perin.text.lemmas import lemmatize
from perin.text.token_files import read_conllu
from perin.text.tokenizer import tokenize

Tokenizer: TypeAlias = Callable[[str], Sentence]
"""From the text of a sentence to its tokens."""

TOKENIZERS = ("perin", "spacy", "stanza", "udpipe")

_SPACY_MODELS = {"deu": "de_core_news_sm", "eng": "en_core_web_sm", "zho": "zh_core_web_sm"}


def load_tokenizer(name: str, language: str, model: str | None = None) -> Tokenizer:
    """The tokenizer of this name (one of :data:`TOKENIZERS`).

    ``model`` is a spaCy pipeline (``blank``: one without a model), a folder of Stanza models, or a UDPipe model file.

    >>> [token.form for token in load_tokenizer("perin", "eng")("It rains.").tokens]
    ['It', 'rains', '.']
    """
    language = checked(language)
    if name == "perin":
        return lambda text: tokenize(text, language)
    if name == "spacy":
        return _spacy(language, model)
    if name == "stanza":
        return _stanza(language, model)
    if name == "udpipe":
        return _udpipe(language, model)
    raise UsageError(f"unknown tokenizer {name!r}; known are: {', '.join(TOKENIZERS)}")


def _package(module: str, package: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(package, f"the tokenizer {extra!r}", extra) from error


def _spacy(language: str, model: str | None) -> Tokenizer:
    spacy = _package("spacy", "spacy", "spacy")
    model = model or _SPACY_MODELS.get(language, "blank")
    try:
        pipeline = spacy.blank(LANGUAGES[language]) if model == "blank" else spacy.load(model)
    except OSError:
        raise ModelError(f"spaCy's {model} is not installed; run: python -m spacy download {model}") from None

    def tokenized(text: str) -> Sentence:
        tokens = (
            Token(token.text, token.lemma_ or lemmatize(token.text, language), token.idx, token.idx + len(token.text))
            for token in pipeline(text)
            if not token.is_space
        )
        return Sentence(text, tuple(tokens), language=language)

    return tokenized


def _stanza(language: str, model: str | None) -> Tokenizer:
    stanza = _package("stanza", "stanza", "stanza")
    code = LANGUAGES[language]
    options = {"dir": model} if model else {}
    try:
        pipeline = stanza.Pipeline(
            code,
            processors="tokenize,pos,lemma" if language == "zho" else "tokenize,mwt,pos,lemma",
            tokenize_no_ssplit=True,
            download_method=None,
            verbose=False,
            **options,
        )
    except FileNotFoundError:
        command = f"python -c 'import stanza; stanza.download(\"{code}\")'"
        raise ModelError(f"Stanza's models for {language} are not in its folder; run: {command}") from None
    return lambda text: (
        _from_conllu(f"{pipeline(text):C}", text, language) if text.strip() else Sentence(text, (), language=language)
    )


def _udpipe(language: str, model: str | None) -> Tokenizer:
    udpipe = _package("ufal.udpipe", "ufal.udpipe", "udpipe")
    if model is None:
        raise UsageError("the tokenizer 'udpipe' needs a model file (--model on the command line)")
    loaded = udpipe.Model.load(model)
    if loaded is None:
        raise ModelError(f"{model} is no UDPipe model; get one from https://ufal.mff.cuni.cz/udpipe/1/models")
    pipeline = udpipe.Pipeline(
        loaded, "tokenizer=presegmented", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.NONE, "conllu"
    )

    def tokenized(text: str) -> Sentence:
        problem = udpipe.ProcessingError()
        output = pipeline.process(" ".join(text.split()), problem)
        if problem.occurred():
            raise ModelError(f"UDPipe failed with the model {model}: {problem.message}")
        return _from_conllu(output, text, language)

    return tokenized


def _from_conllu(output: str, text: str, language: str) -> Sentence:
    """The tokens of all sentences of a CoNLL-U output, found in the text that it came from."""
    sentences = read_conllu(output.splitlines(), "<tokenizer>", language)
    words = [token for sentence in sentences for token in sentence.tokens]
    ranges = locate([word.form for word in words], text)
    tokens = (replace(word, start=start, end=end) for word, (start, end) in zip(words, ranges, strict=True))
    return Sentence(text, tuple(tokens), language=language)
