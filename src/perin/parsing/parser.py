"""The parser: from text to graphs by a trained model."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, cast, overload

from perin.contract import Sentence
from perin.errors import InputError, ModelError, UsageError
from perin.files import check_distinct
from perin.graphs.graph import Graph
from perin.model import model_folder, spoken_by_name
from perin.model.batches import MAX_BATCH_SIZE
from perin.model.folder import Treebank
from perin.model.trained import Predictor, TrainedModel, load_model
from perin.parsing.reading import Item, as_sentences, read_sentences, split_texts
from perin.parsing.streaming import Parsed, in_order, parse_batch
from perin.parsing.writing import Tally, Unfinished, checked_format, fill_gaps, unfinished, write_parsed
from perin.text.adapters import OneText, SomeText, check_several, is_one, warn_of_tokens
from perin.text.languages import checked
from perin.text.tokenizer import tokenize

if TYPE_CHECKING:
    from typing_extensions import Unpack

Texts: TypeAlias = Iterable[SomeText | Item]
"""Sentences to be parsed; an error takes the place of one that could not be read."""
Frameworks: TypeAlias = list[str] | tuple[str, ...] | Literal["all"]
"""Several frameworks, by their names, or all of a model's."""

ALL = "all"
"""Stands for every framework of a model."""
LONGEST = 500
"""Tokens of the longest sentence that is parsed: memory grows with the square of the number of nodes."""
SUBWORDS, CHARACTERS = 8, 200
"""Subwords and characters that a sentence may have for each token that it may have: a token can be of any length."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \(\d\d:\d\d\))?")


class ParseOptions(TypedDict, total=False):
    """What :meth:`Parser.parse` can be told about graphs, see :meth:`Parser.stream`."""

    probabilities: bool
    alternatives: int
    time: str | None


class Parser:
    """A trained model, ready to parse.

    >>> parser = perin.load("eng")  # doctest: +SKIP
    >>> graph = parser.parse("The dog wants to sleep.")  # doctest: +SKIP

    ``threads``: cores to use, by default all.  ``longest``: a sentence of more tokens is an error.
    ``constraints`` false: graphs need not obey their framework's rules (for those who study the network).
    """

    def __init__(
        self,
        model: Predictor,
        *,
        threads: int | None = None,
        longest: int = LONGEST,
        constraints: bool = True,
        language: str | None = None,
    ) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise UsageError(f"a parser needs at least one thread, not {threads!r}")
        self.model = model
        self.threads = threads
        self.longest = longest
        self.constraints = constraints
        self.default_language = language
        """The language of texts where none is named; None: the model's, if it has only one."""

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str],
        *,
        revision: str | None = None,
        offline: bool = False,
        threads: int | None = None,
        longest: int = LONGEST,
        bits: int | None = None,
        constraints: bool = True,
        device: str | None = None,
    ) -> Parser:
        """Load a model by the path of its folder, its name in the box, or ``organisation/name`` on the hub.

        The code of a language (``"zho"``) loads the model in the box for it, with that as the language of all texts.
        From the hub, ``revision`` is a branch, tag or commit, and ``offline`` looks at the local cache only.
        ``bits``: 32, or 8, which is faster; by default what the model says is enough.  ``device`` such as ``"cuda"``
        needs PyTorch (``pip install 'perin[train]'``), and so do encoders that NumPy does not know.  ``constraints``:
        see :class:`Parser`.  A first word is parsed right away, so that no later sentence waits for dictionaries.
        """
        folder = model_folder(name, revision=revision, offline=offline)
        model = load_model(folder, bits=bits, device=device, offline=offline)
        word = tokenize("word", next(iter(model.treebanks.values())).vocabulary.language)
        parsed = parse_batch(model, [word], list(model.treebanks), probabilities=False)
        if parsed[0].error is not None:
            raise ModelError(f"{folder}: the model does not work ({parsed[0].error}); get it again")
        language = spoken_by_name(name)
        return cls(model, threads=threads, longest=longest, constraints=constraints, language=language)

    def __repr__(self) -> str:
        return f"Parser({', '.join(self.treebanks)})"

    @property
    def treebanks(self) -> Mapping[str, Treebank]:
        """What the model can parse to, by names such as ``eds-eng``."""
        return self.model.treebanks

    def chosen(self, framework: str | Frameworks | None = None, language: str | None = None) -> list[str]:
        """The names of the treebanks of a framework (None: the model's first; ``"all"``: every one) in a language.

        Several frameworks are a list, or a string with commas between them.  The language may be left out where only
        one fits.
        """
        framework = framework_names(framework)
        language = checked(language) if language is not None else self.default_language
        known = {name: treebank.vocabulary for name, treebank in self.treebanks.items()}
        spoken = [name for name, words in known.items() if language in (None, words.language)]
        alone = framework is None or isinstance(framework, str)
        if not (alone or isinstance(framework, Iterable)):
            raise UsageError(f"a framework is named by a string such as 'eds', several by a list, not by {framework!r}")
        asked: list[str | None] = [cast("str | None", framework)] if alone else list(framework or ())
        found: list[str] = []
        for each in asked:
            if not (isinstance(each, str) or alone):
                raise UsageError(f"a framework is named by a string such as 'eds', not by {each!r}")
            wanted = each.lower() if each is not None else None
            fitting = [name for name in spoken if wanted in (None, ALL, known[name].framework)]
            if not fitting:
                missing = " ".join(part for part in (each, language) if part)
                raise UsageError(f"the model has {', '.join(known)}; {missing} is none of them")
            if len({known[name].language for name in fitting}) > 1:
                raise UsageError(f"the model has several languages ({', '.join(fitting)}); name one (language)")
            found += fitting if wanted == ALL else fitting[:1]
        if not found:
            raise UsageError(f"no framework is named; the model has {', '.join(known)}")
        return list(dict.fromkeys(found))

    @overload
    def parse(  # type: ignore[overload-overlap]
        self,
        texts: OneText,
        framework: Frameworks,
        language: str | None = None,
        *,
        split: Literal[False] = False,
        **options: Unpack[ParseOptions],
    ) -> list[Graph]: ...

    @overload
    def parse(  # type: ignore[overload-overlap]
        self,
        texts: OneText,
        framework: str | None = None,
        language: str | None = None,
        *,
        split: Literal[False] = False,
        **options: Unpack[ParseOptions],
    ) -> Graph: ...

    @overload
    def parse(  # type: ignore[overload-overlap]
        self,
        texts: Texts,
        framework: Frameworks,
        language: str | None = None,
        *,
        split: Literal[False] = False,
        **options: Unpack[ParseOptions],
    ) -> list[list[Graph]]: ...

    @overload
    def parse(
        self,
        texts: Texts,
        framework: str | None = None,
        language: str | None = None,
        *,
        split: Literal[False] = False,
        **options: Unpack[ParseOptions],
    ) -> list[Graph]: ...

    @overload
    def parse(  # type: ignore[overload-overlap]
        self,
        texts: OneText | Texts,
        framework: Frameworks,
        language: str | None = None,
        *,
        split: Literal[True],
        **options: Unpack[ParseOptions],
    ) -> list[list[Graph]]: ...

    @overload
    def parse(
        self,
        texts: OneText | Texts,
        framework: str | None = None,
        language: str | None = None,
        *,
        split: Literal[True],
        **options: Unpack[ParseOptions],
    ) -> list[Graph]: ...

    def parse(
        self,
        texts: OneText | Texts,
        framework: str | Frameworks | None = None,
        language: str | None = None,
        *,
        split: bool = False,
        probabilities: bool = True,
        alternatives: int = 0,
        time: str | None = None,
    ) -> Graph | list[Graph] | list[list[Graph]]:
        """The graph of a sentence, or the graphs of several; the first that can't be parsed raises an error.

        A sentence is a string, a :class:`~perin.text.Sentence`, a spaCy ``Doc`` or ``Span``, or a ``TokenList`` of the
        package conllu; in a list of sentences it can also be a list of tokens.  With ``split``, a string is running
        text and a ``Doc`` has several sentences, so that the result is always a list.  Several frameworks (a list of
        names, ``"eds,amr"`` or ``"all"``) give a list of graphs for each sentence.  For the other parameters see
        :meth:`stream`.
        """
        alone = is_one(texts)
        items = cast(Texts, [texts] if alone else texts)
        check_several(items, "parse")
        warn_of_tokens(items)
        if split:
            items = split_texts(items, self.language(framework, language), self._characters)
        found: list[tuple[Graph, ...]] = []
        for parsed in self.stream(
            items, framework, language, probabilities=probabilities, alternatives=alternatives, time=time
        ):
            if parsed.error is not None:
                raise parsed.error
            found.append(parsed.graphs)
        framework = framework_names(framework)
        several = framework == ALL or not (framework is None or isinstance(framework, str))
        results = [list(graphs) for graphs in found] if several else [graphs[0] for graphs in found]
        return results[0] if alone and not split else results

    def stream(
        self,
        texts: Texts,
        framework: str | Frameworks | None = None,
        language: str | None = None,
        *,
        probabilities: bool = True,
        alternatives: int = 0,
        empty: bool = False,
        time: str | None = None,
        max_batch_size: int = MAX_BATCH_SIZE,
    ) -> Iterator[Parsed]:
        """Parse any number of sentences in constant memory; results come in the order of the sentences.

        Strings get the ids 1, 2, 3, …  A sentence that fails (or comes as an error already) yields its error and the
        next ones go on; with ``empty`` it also has the graphs of a sentence without words.  ``probabilities``: nodes
        and edges have them in ``extra``; so many ``alternatives`` to their labels, too: ``[[label, probability], …]``,
        the most probable first.  ``time`` is the ``time`` of the graphs (``YYYY-MM-DD``), by default today.
        ``max_batch_size`` sentences are parsed at once, at most; the graphs do not depend on it.
        """
        check_several(texts, "stream")
        treebanks = self.chosen(framework, language)
        spoken = self.language(framework, language)
        moment = _moment(time)
        if type(alternatives) is not int or alternatives < 0:
            raise UsageError(f"the number of alternatives can't be {alternatives!r}; give 0 or more")

        def parse(sentences: list[Sentence]) -> list[Parsed]:
            return parse_batch(
                self.model,
                sentences,
                treebanks,
                probabilities=probabilities,
                alternatives=alternatives,
                constraints=self.constraints,
            )

        def finished(parsed: Parsed) -> Parsed:
            graphs = parsed.graphs
            if parsed.error is not None and empty:
                bare = replace(parsed.sentence, tokens=())
                graphs = parse([bare])[0].graphs
            return replace(parsed, graphs=tuple(replace(graph, time=moment) for graph in graphs))

        def work(batch: list[Parsed]) -> list[Parsed]:
            sound = [item.sentence for item in batch if item.error is None]
            found = iter(parse(sound) if sound else ())
            return [finished(next(found) if item.error is None else item) for item in batch]

        # A network in PyTorch shares each product among all cores by itself.
        threads = self.threads if isinstance(self.model, TrainedModel) else 1
        return in_order(self._read(texts, spoken), _size, work, threads=threads, max_batch_size=max_batch_size)

    def parse_file(
        self,
        source: str | os.PathLike[str] | Texts,
        target: str | os.PathLike[str],
        format: str | None = None,
        framework: str | Frameworks | None = None,
        language: str | None = None,
        *,
        tokens: bool = False,
        split: bool = False,
        resume: bool = False,
        empty: bool = False,
        probabilities: bool = False,
        time: str | None = None,
        max_batch_size: int = MAX_BATCH_SIZE,
        report: Callable[[InputError], None] = lambda error: None,
        progress: Callable[[Iterator[Parsed]], Iterable[Parsed]] = iter,
    ) -> Tally:
        """Parse a file (``-``: standard input), or sentences, into a file (``-``: standard output).

        ``format`` is one of the graph or picture formats, by default what the name of the target says.  ``tokens`` and
        ``split``: see :func:`~perin.parsing.reading.read_sentences`.  ``resume`` goes on with an interrupted run that
        has written MRP to the target; sentences whose graphs are missing among those there are parsed again.
        ``report`` is called with what is wrong with a sentence, and ``progress`` is put around the results as they
        come.  For the other parameters see :meth:`stream`.  Returns how many sentences were parsed and how many failed.
        """
        target = os.fspath(target)
        check_distinct(source if isinstance(source, (str, os.PathLike)) else None, target)
        words = [self.treebanks[name].vocabulary for name in self.chosen(framework, language)]
        frameworks = [each.framework for each in words]
        format = checked_format(target, format, frameworks, probabilities=probabilities)
        texts: Texts
        if isinstance(source, (str, os.PathLike)):
            texts = read_sentences(source, words[0].language, tokens=tokens, split=split, characters=self._characters)
        else:
            texts = split_texts(source, words[0].language, self._characters) if split else source

        def parsed(items: Iterable[Item]) -> Iterator[Parsed]:
            return self.stream(
                items,
                framework,
                language,
                probabilities=probabilities,
                empty=empty,
                time=time,
                max_batch_size=max_batch_size,
            )

        left, earlier = Unfinished([], as_sentences(texts, words[0].language, self._characters), None), Tally()
        if resume:
            left = unfinished(left.rest, target, format, frameworks)
            earlier, left = fill_gaps(target, left, parsed(item for _, item in left.gaps), report)
        return earlier + write_parsed(progress(parsed(left.rest)), target, format, report, offset=left.offset)

    def language(self, framework: str | Frameworks | None, language: str | None) -> str | None:
        """The language that texts are taken to be in."""
        return self.treebanks[self.chosen(framework, language)[0]].vocabulary.language

    def _read(self, texts: Texts, language: str | None) -> Iterator[Parsed]:
        """The sentences, not parsed yet; those that won't be have an error."""
        for item in as_sentences(texts, language, self._characters):
            if isinstance(item, InputError):
                yield Parsed(Sentence("", (), item.graph, language), error=item)
            elif (problem := self._problem(item)) is None:
                yield Parsed(item)
            else:
                text = item.text.encode("utf-8", "replace").decode()
                yield Parsed(replace(item, text=text, tokens=()), error=InputError(problem, graph=item.id))

    @property
    def _characters(self) -> int:
        """Characters of the longest sentence."""
        return CHARACTERS * self.longest

    def _problem(self, sentence: Sentence) -> str | None:
        """Why a sentence is not parsed."""
        if len(sentence) > self.longest:
            return f"{len(sentence)} tokens, more than the limit of {self.longest}; split it or raise the limit"
        try:
            size = len(sentence.text.encode())
        except UnicodeEncodeError as error:
            character = f"U+{ord(sentence.text[error.start]):04X}"
            return f"the text contains an unpaired surrogate ({character}); remove it"
        limit = SUBWORDS * self.longest
        if size > limit and (count := self.model.preparation.count_subwords(sentence.text)) > limit:
            return f"{count} subwords, more than the limit of {limit} ({SUBWORDS} a token); split it or raise the limit"
        return None


load = Parser.load
"""Load a parser: :meth:`Parser.load` under a shorter name."""


def _size(item: Parsed) -> int:
    return len(item.sentence)


def framework_names(framework: str | Frameworks | None) -> str | Frameworks | None:
    """A string in lower case, or as a list if there are commas in it, as on the command line; others as they are."""
    if not isinstance(framework, str):
        return framework
    names = framework.lower()
    return [name for part in names.split(",") if (name := part.strip())] if "," in names else names


def _moment(time: str | None) -> str:
    if time is None:
        return datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if not isinstance(time, str) or not _TIME.fullmatch(time):
        raise UsageError(f"{time!r} is no date; give it as YYYY-MM-DD, with the time as YYYY-MM-DD (HH:MM)")
    return time
