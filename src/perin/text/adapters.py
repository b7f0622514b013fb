"""Sentences from other people's files, objects and tools.

Files of tokens (CoNLL-U, and MRP companion files, which are graphs of the framework ``ud``); what Python users have at
hand (strings, lists of tokens, spaCy's documents, CoNLL-U sentences); and the tokenizers and lemmatizers of spaCy,
Stanza and UDPipe, each of which needs its package and a model.
"""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from perin.contract import Sentence, Token
from perin.errors import InputError, MissingDependencyError, ModelError, UsageError
from perin.files import MAX_LINE, read_lines, source_name, within_limit
from perin.graphs.codecs import locate as graphs
from perin.graphs.graph import Graph, Node
from perin.text.alignment import Place, locate, placed
from perin.text.languages import LANGUAGES, checked
from perin.text.tokenizer import lemmatize, tokenize

# Tokens and lemmas from CoNLL-U.


_RANGE = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)
_TEXT = re.compile(r"# *text *= ?(.*)")
_COLUMNS = 10
_ID = re.compile(r"[0-9]{1,6}(?:[-.][0-9]{1,6})?\t")
_UNUSED = {name: lambda columns, index: None for name in ("xpos", "feats", "head", "deps")}


def read_conllu(lines: Iterable[str], source: str, language: str | None) -> Iterator[Sentence]:
    """Read sentences; ``sent_id`` becomes the id, ``text`` the text (without it the forms, spaced by ``SpaceAfter``).

    A token's range is ``TokenRange=from:to`` of its last column where that is given, otherwise it is found in the text.
    Words of a multiword token that spell it one after the other (``do`` ``n't``) are tokens of their own; other
    multiword tokens (``zum``) are one token with the lemma of their first word.  Empty nodes are left out.
    A lemma ``_`` is replaced by the own lemmatizer's, for which a language is needed; without one by the form.
    Comments that stand alone are skipped.
    """
    limited = within_limit(lines, source, "the sentence", MAX_LINE, blocks=True)
    for number, block in _blocks(limited):
        if not all(row.startswith("#") and not _TEXT.fullmatch(row) for row in block):
            yield _sentence(block, source, number, language)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The paragraphs of a file, each with the number of its first line."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def _sentence(block: list[str], source: str, line: int, language: str | None) -> Sentence:
    import conllu

    for number, row in enumerate(block, start=line):
        if not row.startswith("#") and (row.count("\t") != _COLUMNS - 1 or "  " in row):
            message = f"no CoNLL-U: a token needs {_COLUMNS} columns separated by tabs, without double spaces inside"
            raise InputError(message, source=source, line=number)
        if not row.startswith("#") and not _ID.match(row):
            found = row.partition("\t")[0]
            shown = found if len(found) <= 20 else f"{found[:17]}..."
            message = f"no CoNLL-U: the id of a token should be as 3, 3-4 or 3.1, found {shown!r}"
            raise InputError(message, source=source, line=number)
    try:
        [parsed] = conllu.parse("\n".join(block), field_parsers=_UNUSED)
    except conllu.exceptions.ParseException as error:
        raise InputError(f"no CoNLL-U: {error}", source=source, line=line) from None
    given = next((match[1] for row in block if (match := _TEXT.fullmatch(row))), None)
    rows = _surface(parsed)
    text = given if given is not None else _spaced(rows)
    place = Place(source, line, parsed.metadata.get("sent_id"))
    forms = [row["form"] for row in rows]
    tokens = placed(forms, [_lemma(row, language) for row in rows], _ranges(rows, text, place), text, place)
    return Sentence(text, tokens, place.id, language)


def _surface(rows: Iterable[Any]) -> list[Any]:
    """The rows that spell the text: words, or a multiword token where its words do not spell it."""
    words = {row["id"]: row for row in rows if isinstance(row["id"], int)}
    surface: list[Any] = []
    covered: set[int] = set()
    for row in rows:
        id = row["id"]
        if isinstance(id, int):
            if id not in covered:
                surface.append(row)
        elif id[1] == "-":
            inside = [words[number] for number in range(id[0], id[2] + 1) if number in words]
            covered.update(range(id[0], id[2] + 1))
            if inside and "".join(word["form"] for word in inside) == row["form"]:
                surface.extend(inside)
            else:
                surface.append(row | {"lemma": inside[0]["lemma"] if inside else row["form"]})
    return surface


def _ranges(rows: list[Any], text: str, place: Place) -> list[tuple[int, int]]:
    given = [_RANGE.fullmatch((row.get("misc") or {}).get("TokenRange") or "") for row in rows]
    if all(given):
        return [(int(match[1]), int(match[2])) for match in given if match]
    return locate([row["form"] for row in rows], text, place)


def _spaced(rows: list[Any]) -> str:
    """The text that forms and ``SpaceAfter=No`` stand for."""
    parts = []
    for row in rows:
        parts += [row["form"], "" if (row.get("misc") or {}).get("SpaceAfter") == "No" else " "]
    return "".join(parts).rstrip(" ")


def _lemma(row: Any, language: str | None) -> str:
    lemma: str = row["lemma"]
    return lemma if lemma != "_" or row["form"] == "_" else lemmatize(row["form"], language)


FORMATS = ("text", "conllu", "mrp")
"""What :func:`read_tokens` reads; ``text`` is one sentence per line."""


def read_tokens(
    path: str | os.PathLike[str], language: str | None = None, format: str | None = None
) -> Iterator[Sentence]:
    """Read tokenized sentences one by one from a file (``-``: standard input; gzip is recognised by content).

    The format is told from the name (``.conllu``, ``.mrp``, anything else is text) unless it is given.  Text is
    tokenized and lemmatized here; blank lines in it are skipped.  From the other formats tokens are taken as they are,
    and lemmas too where there are any.
    """
    language = checked(language) if language is not None else None
    format = format or _guess(path)
    if format == "text":
        return (tokenize(line, language) for line in read_lines(path) if not line.isspace() and line)
    if format == "conllu":
        return read_conllu(read_lines(path), source_name(path), language)
    if format == "mrp":
        found = graphs(path, "mrp")
        return (companion_sentence(graph, language, Place(source, line, graph.id)) for source, line, graph in found)
    raise UsageError(f"unknown format {format!r} of tokens; known are: {', '.join(FORMATS)}")


def _guess(path: str | os.PathLike[str]) -> str:
    suffix = Path(Path(path).name.removesuffix(".gz")).suffix
    return {".conllu": "conllu", ".mrp": "mrp"}.get(suffix, "text")


def companion_sentence(graph: Graph, language: str | None, place: Place) -> Sentence:
    """The sentence of a companion graph: its nodes in the order of their anchors are the tokens.

    Nodes whose anchors overlap (words of one token) make one token.  ``place`` is for error messages.
    """
    if graph.framework != "ud":
        raise place.error(f"no companion graph: its framework is {graph.framework!r} instead of 'ud'")
    if graph.input is None:
        raise place.error("a companion graph needs the field 'input'")
    language = language or graph.language
    given = [node.anchors or () for node in graph.nodes]
    if all(given):
        spans = [(min(anchors).start, max(anchor.end for anchor in anchors)) for anchors in given]
    else:
        spans = locate([node.label or "" for node in graph.nodes], graph.input, place)
    nodes, ranges = _merged(graph.nodes, spans)
    forms = [node.label or graph.input[start:end] for node, (start, end) in zip(nodes, ranges, strict=True)]
    known = language if language in LANGUAGES else None
    lemmas = [_node_lemma(node, form, known) for node, form in zip(nodes, forms, strict=True)]
    return Sentence(graph.input, placed(forms, lemmas, ranges, graph.input, place), graph.id, language)


def _merged(nodes: Iterable[Node], spans: Iterable[tuple[int, int]]) -> tuple[list[Node], list[tuple[int, int]]]:
    """Nodes in the order of their spans; overlapping ones are joined to one without a label, with the first's lemma."""
    kept: list[Node] = []
    ranges: list[tuple[int, int]] = []
    for (start, end), node in sorted(zip(spans, nodes, strict=True), key=lambda pair: pair[0]):
        if ranges and start < ranges[-1][1]:
            kept[-1] = replace(kept[-1], label=None)
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            kept.append(node)
            ranges.append((start, end))
    return kept, ranges


def _node_lemma(node: Node, form: str, language: str | None) -> str:
    lemma = node.get("lemma")
    return lemma if isinstance(lemma, str) and lemma not in ("", "_") else lemmatize(form, language)


# What Python users have at hand.


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


def warn_of_tokens(texts: object) -> None:
    """Warn if a list of sentences is clearly the tokens of one: single words, and a punctuation mark among them."""
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        return
    words = all(text and not any(map(str.isspace, text)) for text in texts)
    if words and len(texts) > 1 and not all(any(map(str.isalnum, text)) for text in texts):
        message = (
            "each string in a list is a sentence; for the tokens of one sentence put the list into a list: [tokens]"
        )
        warnings.warn(message, stacklevel=3)


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
