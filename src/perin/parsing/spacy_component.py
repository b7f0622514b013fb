"""A component of spaCy pipelines: meaning graphs of every sentence of a document, in ``doc._.perin``.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("perin", config={"framework": "amr"})
    print(nlp("It rains. Dogs bark.")._.perin[1])

Needs the optional package spacy: pip install 'perin[spacy]'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from perin.errors import UsageError
from perin.graphs.codecs import dumps, loads
from perin.graphs.graph import Graph
from perin.model import default_model
from perin.parsing.parser import ALL, Parser, framework_names
from perin.text.languages import LANGUAGES

KEY = "perin"
"""Of the graphs in ``doc.user_data``: lines of MRP, so that documents can be stored and sent to other processes."""


class Component:
    """Parses the sentences of documents; a document that has not been split into some is taken as one sentence."""

    def __init__(self, parser: Parser, framework: str | list[str] | None, language: str | None) -> None:
        parser.chosen(framework, language)
        self.parser = parser
        self.framework = framework_names(framework)
        self.language = language

    def __call__(self, doc: Doc) -> Doc:
        """Parse one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 64) -> Iterator[Doc]:
        """Parse any number of documents, the sentences of ``batch_size`` of them at once."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            graphs: list[list[Graph]] = [[] for _ in batch]
            sentences = [(number, span) for number, doc in enumerate(batch) for span in _sentences(doc)]
            results = self.parser.stream([span for _, span in sentences], self.framework, self.language)
            for (number, _), parsed in zip(sentences, results, strict=True):
                if parsed.error is not None:
                    raise parsed.error
                graphs[number] += parsed.graphs
            for doc, found in zip(batch, graphs, strict=True):
                doc.user_data[KEY] = dumps(found)
                doc.user_data[f"{KEY}.several"] = self.framework == ALL or isinstance(self.framework, list)
                yield doc

    def to_disk(self, path: Any, exclude: Any = ()) -> None:
        """Nothing: the pipeline's configuration names the model."""

    def from_disk(self, path: Any, exclude: Any = ()) -> Component:
        """The component as it is."""
        return self


def _sentences(doc: Doc) -> list[Any]:
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc]
    return [span for span in spans if any(not token.is_space for token in span)]


def _graphs(doc: Doc) -> list[Graph] | list[list[Graph]] | None:
    """The graphs of each sentence (a list a sentence if several frameworks were asked for); None if not parsed."""
    if KEY not in doc.user_data:
        return None
    graphs = loads(doc.user_data[KEY])
    if not doc.user_data[f"{KEY}.several"]:
        return graphs
    return [list(group) for _, group in groupby(graphs, key=lambda graph: graph.id)]


if not Doc.has_extension(KEY):
    Doc.set_extension(KEY, getter=_graphs)


@Language.factory(
    "perin", assigns=["doc._.perin"], default_config={"model": None, "framework": None, "language": None, "threads": 1}
)
def create(
    nlp: Language,
    name: str,
    model: str | None,
    framework: str | list[str] | None,
    language: str | None,
    threads: int | None,
) -> Component:
    """The component with a model: by default the one in the box for the framework and the pipeline's language."""
    codes = {short: long for long, short in LANGUAGES.items()}
    spoken = language or codes.get(nlp.lang or "")
    if model is None:
        if spoken is None:
            raise UsageError(f"no model is known for spaCy's language {nlp.lang!r}; name one: config={{'model': …}}")
        names = framework_names(framework)
        first = names if isinstance(names, str) else next(iter(names or ()), None)
        model = default_model(None if first in (None, ALL) else first.lower(), spoken)
    parser = Parser.load(model, threads=threads)
    known = {treebank.vocabulary.language for treebank in parser.treebanks.values()}
    return Component(parser, framework, language or (spoken if spoken in known else None))
