"""What Python users have at hand, as sentences: strings, lists of tokens, spaCy's documents, CoNLL-U sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from perin.contract.sentence import Sentence, Token
from perin.errors import UsageError
from perin.text.lemmas import lemmatize
from perin.text.token_files import read_conllu
from perin.text.tokenizer import tokenize

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
    """UsageError for what is no collection of sentences."""
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
