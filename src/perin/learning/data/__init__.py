"""The data of a run: graphs and tokens read, vocabularies learned, targets made, and what was wrong with any of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import torch

from perin.contract import Sentence
from perin.errors import InputError
from perin.files import cache_folder, read_lines
from perin.frameworks import framework
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.treebank import Unusable, read_pairs
from perin.graphs.graph import Graph, Node
from perin.learning import Recipe, TreebankRecipe
from perin.learning.data.batches import Example
from perin.learning.data.prepared import Prepared, Problem, content_key, load_prepared, save_prepared
from perin.model.folder import Treebank
from perin.network.inputs import Preparation
from perin.network.settings import KINDS
from perin.text.translation import Glossary, MarianTranslator

T = TypeVar("T")


@dataclass
class Split:
    """Graphs and the tokens of their sentences."""

    graphs: list[Graph] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.graphs)

    def add(self, graph: Graph, sentence: Sentence) -> None:
        """Add a graph with its tokens."""
        self.graphs.append(graph)
        self.sentences.append(sentence)


@dataclass
class Corpus:
    """The data of all treebanks of a recipe."""

    treebanks: list[Treebank]
    examples: list[Example]
    dev: dict[str, Split]
    problems: list[Problem]

    @property
    def has_dev(self) -> bool:
        """Whether there is anything to evaluate on."""
        return any(map(len, self.dev.values()))


def problem_counts(problems: Iterable[Problem]) -> list[tuple[tuple[str, str, str], int]]:
    """How many problems there are of each treebank, split and kind, the most frequent first."""
    return Counter((problem.treebank, problem.split, problem.kind) for problem in problems).most_common()


def load_corpus(recipe: Recipe, say: Callable[[str], None] = lambda text: None) -> Corpus:
    """Read and prepare all that a recipe names; what was prepared before comes from the cache."""
    preparation = Preparation(recipe.network)
    problems: list[Problem] = []
    dev = {f"{wanted.framework}-{wanted.language}": _dev_split(recipe, wanted, problems) for wanted in recipe.treebanks}
    key = content_key(recipe)
    place = cache_folder() / "prepared" / f"{key}.safetensors"
    prepared = load_prepared(place) if key is not None else None
    if prepared is None:
        prepared = _prepare(recipe, preparation, say)
        if key is not None and not save_prepared(place, prepared):
            say(f"what was prepared is not kept: {place.parent} can't be written; set PERIN_CACHE to another folder")
    examples: list[Example] = []
    sizes = [
        len(prepared.examples[treebank.name]) * wanted.repeat
        for treebank, wanted in zip(prepared.treebanks, recipe.treebanks, strict=True)
    ]
    shares = tempered(sizes, recipe.learning.temperature)
    for treebank, wanted, share in zip(prepared.treebanks, recipe.treebanks, shares, strict=True):
        made = prepared.examples[treebank.name]
        rules = len(treebank.vocabulary.rules)
        again = f" (seen {share / len(made):.1f} times an epoch)" if share > len(made) else ""
        say(f"{treebank.name}: {len(made)} training graphs{again}, {len(dev[treebank.name])} dev graphs, {rules} rules")
        examples += spread(made * wanted.repeat, share)
    return Corpus(prepared.treebanks, examples, dev, prepared.problems + problems)


def tempered(sizes: Sequence[int], temperature: float) -> list[int]:
    """How many examples of each treebank an epoch has: the largest keeps its size, smaller ones grow towards it.

    >>> tempered([10_000, 2_500, 100], 2.0)
    [10000, 5000, 1000]
    >>> tempered([10_000, 2_500, 100], 1.0)
    [10000, 2500, 100]
    """
    most = max(sizes, default=1)
    return [round(most * (size / most) ** (1 / temperature)) if size else 0 for size in sizes]


def spread(items: Sequence[T], count: int) -> list[T]:
    """``count`` of the items, each as often as any other or once more.

    >>> spread("abc", 7)
    ['a', 'a', 'a', 'b', 'b', 'c', 'c']
    """
    return [items[number * len(items) // count] for number in range(count)]


def in_the_case_of_the_text(graph: Graph, sentence: Sentence) -> Graph:
    """The graph with property values written as the first token that equals them but for case.

    The first word of the text, which may have its capital from there, comes last.
    """
    forms: dict[str, str] = {}
    for token in (*sentence.tokens[1:], *sentence.tokens[:1]):
        forms.setdefault(token.form.lower(), token.form)

    def written(node: Node) -> Node:
        pairs = tuple(
            pair._replace(value=forms.get(pair.value, pair.value)) if isinstance(pair.value, str) else pair
            for pair in node.properties
        )
        return node if pairs == node.properties else replace(node, properties=pairs)

    return replace(graph, nodes=tuple(map(written, graph.nodes)))


def _prepare(recipe: Recipe, preparation: Preparation, say: Callable[[str], None]) -> Prepared:
    """Learn vocabularies and make targets."""
    problems: list[Problem] = []
    splits: list[Split] = []
    treebanks: list[Treebank] = []
    for wanted in recipe.treebanks:
        name = f"{wanted.framework}-{wanted.language}"
        say(f"{name}: preparing {', '.join(wanted.train)}")
        train = _training_split(recipe, wanted, name, problems)
        if not len(train):
            raise InputError(f"no training graph of {name} can be used; the first problem: {_first(problems)}")
        vocabulary = learn_from_treebank(
            framework(wanted.framework, wanted.language),
            train.graphs,
            train.sentences,
            wanted.language,
            queries=wanted.queries,
            glossary=_glossary(recipe, wanted, train.sentences),
            vallex=None if wanted.vallex is None else recipe.path(wanted.vallex),
            processes=torch.get_num_threads(),
            progress=sys.stderr.isatty(),
            cache=cache_folder() / "rules",
        )
        splits.append(train)
        treebanks.append(Treebank(replace(vocabulary, translator=wanted.translator), wanted.queries))
    treebanks = with_families(treebanks)
    examples = {
        treebank.name: _examples(treebank, split, preparation, problems)
        for treebank, split in zip(treebanks, splits, strict=True)
    }
    return Prepared(treebanks, examples, problems)


def read_split(
    recipe: Recipe, wanted: TreebankRecipe, split: str, name: str, problems: list[Problem]
) -> Iterator[tuple[Graph, Sentence]]:
    """The graphs of a treebank's train or dev files, each with its tokens; what has none is a problem."""
    paths: Sequence[str] = getattr(wanted, split)
    token_paths: Sequence[str | None] = getattr(wanted, f"{split}_tokens") or [None] * len(paths)
    for path, token_path in zip(paths, token_paths, strict=True):
        tokens = None if token_path is None else recipe.path(token_path)
        for graph, found in read_pairs(recipe.path(path), wanted.language, tokens, treebank=name):
            if isinstance(found, Unusable):
                problems.append(Problem(name, split, graph.id, f"{found.kind}, not used", found.what))
            else:
                yield graph, found


def _glossary(recipe: Recipe, wanted: TreebankRecipe, sentences: Sequence[Sentence]) -> Mapping[str, str] | None:
    """The translations of lemmas that a recipe asks for; None: learn them from the treebank."""
    if wanted.translation == "learned":
        return None
    if wanted.translation == "none":
        return {}
    if wanted.translator is None:
        return Glossary.load(recipe.path(wanted.translation)).entries
    lemmas = sorted({token.lemma for sentence in sentences for token in sentence.tokens})
    translations = MarianTranslator(wanted.translator).translate(lemmas)
    return {lemma: found for lemma, found in zip(lemmas, translations, strict=True) if found is not None}


def with_families(treebanks: Sequence[Treebank]) -> list[Treebank]:
    """Treebanks of one framework get common classes and share all heads that then are of one size.

    Labels are shared only where the rules are the same.
    """
    result = []
    for treebank in treebanks:
        words = treebank.vocabulary
        family = [other for other in treebanks if other.vocabulary.framework == words.framework]
        if len(family) == 1:
            result.append(treebank)
            continue
        common = replace(
            words,
            edge_labels=_union(other.vocabulary.edge_labels for other in family),
            edge_attributes=_union(other.vocabulary.edge_attributes for other in family),
            property_classes={
                key: _union(other.vocabulary.property_classes.get(key, ()) for other in family)
                for key in _union(tuple(other.vocabulary.property_classes) for other in family)
            },
        )
        alike = all(other.vocabulary.rules == words.rules for other in family)
        shared = tuple(kind for kind in KINDS if kind != "labels" or alike)
        result.append(replace(treebank, vocabulary=common, family=words.framework, shared=shared))
    return result


def _union(parts: Iterable[tuple]) -> tuple:  # type: ignore[type-arg]
    return tuple(dict.fromkeys(item for part in parts for item in part))


def _training_split(recipe: Recipe, wanted: TreebankRecipe, name: str, problems: list[Problem]) -> Split:
    excluded = set()
    if wanted.exclude is not None:
        excluded = {line.split()[-1] for line in read_lines(recipe.path(wanted.exclude)) if line.split()}
    longest = recipe.learning.longest
    result = Split()
    for graph, sentence in read_split(recipe, wanted, "train", name, problems):
        if graph.id in excluded:
            continue
        if not len(sentence):
            problems.append(Problem(name, "train", graph.id, "without tokens, not used", "the text is empty"))
        elif not len(graph):
            problems.append(Problem(name, "train", graph.id, "without nodes, not used", "the graph is empty"))
        elif len(sentence) > longest:
            what = f"{len(sentence)} tokens, more than learning.longest ({longest})"
            problems.append(Problem(name, "train", graph.id, "too long, not learned", what))
        else:
            result.add(in_the_case_of_the_text(graph, sentence) if wanted.text_case else graph, sentence)
            if len(result) == wanted.limit:
                break
    return result


def _dev_split(recipe: Recipe, wanted: TreebankRecipe, problems: list[Problem]) -> Split:
    name = f"{wanted.framework}-{wanted.language}"
    result = Split()
    for graph, sentence in islice(read_split(recipe, wanted, "dev", name, problems), recipe.evaluation.limit):
        result.add(graph, sentence)
    return result


def _examples(treebank: Treebank, split: Split, preparation: Preparation, problems: list[Problem]) -> list[Example]:
    inputs = preparation(split.sentences)
    examples = []
    for graph, sentence, prepared in zip(split.graphs, split.sentences, inputs, strict=True):
        try:
            target = treebank.framework.encode(graph, sentence, treebank.vocabulary)
        except InputError as error:
            problems.append(Problem(treebank.name, "train", graph.id, "can't be encoded, not learned", error.message))
            continue
        surplus = len(target) - len(sentence) * treebank.queries
        if surplus > 0:
            what = f"{len(target)} nodes for {len(sentence) * treebank.queries} queries: {surplus} not learned"
            problems.append(Problem(treebank.name, "train", graph.id, "more nodes than queries, learned in part", what))
        examples.append(Example(prepared, treebank.name, target))
    return examples


def _first(problems: list[Problem]) -> str:
    return f"graph {problems[0].graph}: {problems[0].what}" if problems else "the files are empty"
