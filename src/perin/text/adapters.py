"""Sentences from other people's objects and tools.

What Python users have at hand (strings, lists of tokens, spaCy's documents, CoNLL-U sentences), and the tokenizers and
lemmatizers of spaCy, Stanza and UDPipe, each of which needs its package and a model.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from perin.contract import Sentence, Token
from perin.errors import MissingDependencyError, ModelError, UsageError
from perin.text.alignment import locate
from perin.text.languages import LANGUAGES, checked
from perin.text.token_files import read_conllu
from perin.text.tokenizer import lemmatize, tokenize

WANTED = "a string, a list of tokens, a perin Sentence, a spaCy Doc or Span, or a CoNLL-U TokenList"


class Doc(Protocol):
    """What is used of a ``Doc`` or ``Span`` of spaCy."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def sents(self) -> Iterable[Any]:
        """Its sentences."""

    def __iter__(self) -> Iterator[Any]:
        """Its tokens."""


OneText: TypeAlias = str | Sentence | Doc
"""A single sentence."""
SomeText: TypeAlias = OneText | Sequence[str]
"""A sentence among others: inside a list, a list of strings is a list of tokens."""


def is_one(texts: object) -> bool:
    """Whether this is a single sentence: a list of strings is several."""
    return isinstance(texts, (str, Sentence)) or _is_doc(texts) or _is_token_list(texts)


def check_several(texts: object, verb: str) -> None:
    """UsageError for anything but a collection of sentences."""
    if is_one(texts):
        raise UsageError(f"{verb} takes several sentences, but this is a single one; put it in a list: [text]")
    if isinstance(texts, (bytes, dict)) or not isinstance(texts, Iterable):
        raise UsageError(f"{verb} takes sentences ({WANTED}), not {_kind(texts)}")


def as_sentence(text: object, language: str | None, id: str) -> Sentence:
    """A sentence with its tokens; ``id`` is that of one that has none.

    >>> as_sentence(["Dogs", "bark", "."], "eng", "1").text
    'Dogs bark .'
    """
    if isinstance(text, str):
        return tokenize(text, language, id)
    if isinstance(text, Sentence):
        return Sentence(text.text, text.tokens, text.id or id, language)
    if _is_doc(text):
        return _from_doc(text, language, id)
    if _is_token_list(text):
        [sentence] = read_conllu(text.serialize().splitlines(), "<TokenList>", language)  # type: ignore[attr-defined]
        return Sentence(sentence.text, sentence.tokens, sentence.id or id, language)
    if isinstance(text, (list, tuple)) and all(isinstance(form, str) for form in text):
        return _from_forms(text, language, id)
    raise UsageError(f"sentence {id} should be {WANTED}, not {_kind(text)}")


def sentences_of(text: object) -> Iterable[Any] | None:
    """The sentences of a spaCy document that has been split into some; None for anything else."""
    if _is_doc(text) and getattr(text, "has_annotation", lambda name: True)("SENT_START"):
        return text.sents  # type: ignore[attr-defined,no-any-return]
    return None


def _from_forms(forms: Sequence[str], language: str | None, id: str) -> Sentence:
    tokens = []
    start = 0
    for form in forms:
        tokens.append(Token(form, lemmatize(form, language), start, start + len(form)))
        start += len(form) + 1
    return Sentence(" ".join(forms), tuple(tokens), id, language)


def _from_doc(doc: Any, language: str | None, id: str) -> Sentence:
    words = [word for word in doc if not word.is_space]
    text, offset = doc.text, 0
    if hasattr(doc, "start_char") and words:  # a span, which may begin or end with white space
        offset = words[0].idx
        text = text[offset - doc.start_char :].rstrip()
    tokens = []
    for word in words:
        start = word.idx - offset
        tokens.append(Token(word.text, word.lemma_ or lemmatize(word.text, language), start, start + len(word)))
    return Sentence(text, tuple(tokens), id, language)


def _is_doc(text: object) -> bool:
    return type(text).__module__.startswith("spacy.tokens.") and hasattr(text, "sents")


def _is_token_list(text: object) -> bool:
    return type(text).__module__ == "conllu.models" and hasattr(text, "serialize") and hasattr(text, "metadata")


def _kind(text: object) -> str:
    if isinstance(text, (list, tuple)) and text:
        strange = next((item for item in text if not isinstance(item, str)), None)
        return f"a {type(text).__name__} that holds {type(strange).__name__}"
    return f"{type(text).__name__} ({text!r:.40})" if text is not None else "None"


# Other people's tokenizers and lemmatizers.


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
