"""A vocabulary from a treebank, and a report on its label rules: how many it needs and what they cover."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from perin.contract import Sentence
from perin.errors import UsageError, one_line
from perin.frameworks import framework as find_framework
from perin.frameworks.encoding import attribute_class, class_of, class_properties, edges_by_pair
from perin.frameworks.framework import Framework
from perin.frameworks.treebank import TreebankFile, joined, read_treebank
from perin.frameworks.vocabulary import (
    AttributeClass,
    Lexicon,
    Vocabulary,
    count_signatures,
    lexicon,
    merged,
    read_vallex,
    usual_prefix,
)
from perin.graphs.graph import Graph
from perin.labels.minimal import LearnedRules, learn_rules
from perin.labels.rules import AbsoluteRule, LabelItem, fold
from perin.labels.ruleset import RuleCoverage, RuleSet, coverage
from perin.text.translation import Glossary, learn_glossary, translated

Class = TypeVar("Class", bound=Hashable)


def learn_from_treebank(
    framework: Framework,
    graphs: Sequence[Graph],
    sentences: Sequence[Sentence],
    language: str | None,
    *,
    queries: int | None = None,
    glossary: Mapping[str, str] | None = None,
    vallex: str | os.PathLike[str] | None = None,
    processes: int = 1,
    progress: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> Vocabulary:
    """The vocabulary of a treebank with the minimal set of rules.

    A framework without anchors gets absolute rules besides, for labels that are needed more often than there are
    ``queries`` of the tokens that yield them.  Where the framework needs one, ``glossary`` replaces lemmas before rules
    see them; it is learned from the treebank if none is given.  ``vallex`` is a valency lexicon (see
    :func:`learn_vocabulary`).  ``processes``, ``progress`` and ``cache`` are those of :func:`perin.labels.learn_rules`.
    """
    from perin.labels.minimal import learn_rules

    if glossary is None or language not in framework.translated:
        glossary = treebank_glossary(framework, graphs, sentences, language)
    items = treebank_items(framework, graphs, sentences, glossary)
    learned = learn_rules(items, framework.space(language), processes=processes, progress=progress, cache=cache)
    vocabulary = learn_vocabulary(framework, graphs, language, learned.rules, glossary=glossary, vallex=vallex)
    return vocabulary if framework.rules.anchored else _with_room(framework, graphs, sentences, vocabulary, queries)


def treebank_items(
    framework: Framework, graphs: Sequence[Graph], sentences: Sequence[Sentence], glossary: Mapping[str, str]
) -> Iterator[LabelItem]:
    """What the rules of a treebank are learned from; the glossary replaces lemmas."""
    for graph, sentence in zip(graphs, sentences, strict=True):
        yield from framework.label_items(graph, translated(sentence, Glossary(glossary)) if glossary else sentence)


def treebank_glossary(
    framework: Framework, graphs: Sequence[Graph], sentences: Sequence[Sentence], language: str | None
) -> Mapping[str, str]:
    """Translations of lemmas from the labels that go with them; empty where the framework needs none."""
    if language not in framework.translated:
        return {}
    return learn_glossary(
        (
            [token.lemma for token in sentence.tokens],
            [item.label for item in framework.label_items(graph, sentence) if item.label != framework.required],
        )
        for graph, sentence in zip(graphs, sentences, strict=True)
    ).entries


def learn_vocabulary(
    framework: Framework,
    graphs: Sequence[Graph],
    language: str | None,
    rules: RuleSet,
    *,
    glossary: Mapping[str, str] | None = None,
    vallex: str | os.PathLike[str] | None = None,
) -> Vocabulary:
    """All classes that occur in a treebank, the most frequent first; ``rules`` come from its label items.

    A ``vallex`` file adds its frames to those that the treebank has of each label, after them.
    """
    simple = [framework.simplified(graph) for graph in graphs]
    lexica = {name: _lexicon(simple, name) for name in framework.lexical}
    if vallex is not None:
        lexica = {name: merged(found, read_vallex(vallex, usual_prefix(found))) for name, found in lexica.items()}
    return Vocabulary(
        framework.name,
        language,
        rules,
        _by_frequency(edge.label for graph in simple for edge in graph.edges),
        _by_frequency(_attribute_classes(simple)) if framework.has_attributes else (),
        _property_classes(simple, lexica) if framework.has_classes else {},
        lexica,
        dict(glossary or {}),
        count_signatures(simple, framework.lexical_labels, framework.lexical),
    )


def learn_signatures(graphs: Iterable[Graph], vocabulary: Vocabulary) -> Vocabulary:
    """A vocabulary with the signatures of these training graphs, for a model that was trained without them."""
    framework = find_framework(vocabulary.framework, vocabulary.language)
    simple = (framework.simplified(graph) for graph in graphs)
    return replace(vocabulary, signatures=count_signatures(simple, framework.lexical_labels, framework.lexical))


def _with_room(
    framework: Framework,
    graphs: Sequence[Graph],
    sentences: Sequence[Sentence],
    vocabulary: Vocabulary,
    queries: int | None,
) -> Vocabulary:
    """The vocabulary with an absolute rule for each label that some node can't get from the query it has to lie on.

    Eight nodes ``level`` may all come from one word ``levels``, which has three queries.
    """
    from perin.frameworks.roundtrip import assign_queries

    labels: dict[str, str] = {}
    for graph, sentence in zip(graphs, sentences, strict=True):
        target = framework.encode(graph, sentence, vocabulary)
        unlabelled = assign_queries(target, queries or framework.queries).unlabelled
        if unlabelled.any():
            items = framework.label_items(graph, sentence)
            labels.update((fold(items[node].label), items[node].label) for node in np.flatnonzero(unlabelled))
    rules = vocabulary.rules
    return replace(vocabulary, rules=RuleSet(rules.space, (*rules, *map(AbsoluteRule, sorted(labels.values())))))


def _by_frequency(items: Iterable[Class]) -> tuple[Class, ...]:
    counts = Counter(items)
    return tuple(sorted(counts, key=lambda item: (-counts[item], str(item))))


def _attribute_classes(graphs: Iterable[Graph]) -> Iterable[AttributeClass]:
    classes = (attribute_class(between) for graph in graphs for between in edges_by_pair(graph).values())
    return (item for item in classes if item)


def _lexicon(graphs: Iterable[Graph], name: str) -> Lexicon:
    uses: dict[str, Counter[str]] = {}
    for graph in graphs:
        for node in graph.nodes:
            value = class_of(node, name, None)
            if value is not None:
                uses.setdefault(fold(node.label or ""), Counter())[value] += 1
    return lexicon(uses)


def _property_classes(graphs: Iterable[Graph], lexica: Mapping[str, Lexicon]) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for graph in graphs:
        for node in graph.nodes:
            for name in {pair.name for pair in class_properties(node)}:
                value = class_of(node, name, lexica.get(name))
                if value is not None:
                    values.setdefault(name, []).append(value)
    return {name: _by_frequency(found) for name, found in sorted(values.items())}


_SHOWN = 20
_EXAMPLES = 3


@dataclass(frozen=True)
class FrequentRule:
    """A rule, how many nodes it yields the label of, and some of these: the words and the label."""

    rule: str
    nodes: int
    examples: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class RuleReport:
    """The rules of a treebank."""

    sentences: int
    learned: LearnedRules
    frequent: Sequence[FrequentRule]
    coverage: RuleCoverage | None
    without_tokens: Sequence[tuple[str, Sequence[str]]]
    """Files of graphs, and the ids of those that have no tokens in the file of tokens; they got our own."""
    peak_mb: float | None
    """The most memory that this process and its helpers can have used together; None where the system does not tell."""

    def as_json(self) -> dict[str, Any]:
        """All of it but the rules, which are a file of their own."""
        learned = self.learned
        return {
            "sentences": self.sentences,
            "nodes": learned.nodes,
            "labels": learned.labels,
            "candidates": learned.candidates,
            "rules": len(learned.rules),
            "lower_bound": learned.lower_bound,
            "optimal": learned.optimal,
            "seconds": round(learned.seconds, 2),
            "peak_mb": self.peak_mb,
            "coverage": None if self.coverage is None else asdict(self.coverage),
            "frequent": [asdict(item) for item in self.frequent],
        }

    def __str__(self) -> str:
        learned = self.learned
        gap = "minimal" if learned.optimal else f"at most {len(learned.rules) - learned.lower_bound} too many"
        memory = "" if self.peak_mb is None else f", {self.peak_mb:,.0f} MB"
        lines = [
            f"{self.sentences:,} sentences, {learned.nodes:,} nodes, {learned.labels:,} labels",
            f"{len(learned.rules):,} rules of {learned.candidates:,} candidates; {learned.lower_bound:,} needed: {gap}",
            f"{learned.seconds:.1f} s{memory}",
        ]
        if self.coverage is not None:
            found = self.coverage
            by_rules, by_list, with_case = map(found.share, (found.rules, found.vocabulary, found.with_case))
            lines.append(
                f"labels of {found.nodes:,} other nodes: {by_rules:.2%} by rules ({with_case:.2%} with case), "
                f"{by_list:.2%} by a list of labels"
            )
        for item in self.frequent:
            examples = "  ".join(f"{words} > {label}" for words, label in item.examples)
            lines.append(one_line(f"{item.nodes:>9,}  {item.rule}  {examples}".rstrip()))
        return "\n".join(lines)


def report_rules(
    treebank: Sequence[str | Path],
    tokens: Sequence[str | Path] = (),
    *,
    dev: str | Path | None = None,
    dev_tokens: str | Path | None = None,
    split: bool = False,
    jobs: int = 1,
    cache: str | Path | None = None,
) -> RuleReport:
    """Learn the rules of a treebank, all files of which count as one.

    ``tokens``: one file for all of it, or as many as it has; without them tokens are our own.  ``split``: tokens are
    split where an anchor lies inside a word.  ``dev``: graphs whose labels the rules should yield, too.
    """
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least one process is needed")
    beside = list(tokens) if len(tokens) > 1 else [tokens[0] if tokens else None] * len(treebank)
    if dev_tokens is not None and dev is None:
        raise UsageError("--coverage-tokens are the tokens of --coverage, which is missing")
    if len(beside) != len(treebank):
        raise UsageError(f"--tokens names {len(beside)} files, TREEBANK {len(treebank)}; they belong together")
    files = [read_treebank(*pair, split=split) for pair in zip(treebank, beside, strict=True)]
    train = joined(files)
    other = None if dev is None else read_treebank(dev, dev_tokens, split=split)
    if other is not None and (other.framework, other.language) != (train.framework, train.language):
        raise UsageError("--coverage: the graphs are of another framework or language than those of TREEBANK")
    glossary = treebank_glossary(train.framework, train.graphs, train.sentences, train.language)

    def items(part: TreebankFile) -> list[LabelItem]:
        return list(treebank_items(part.framework, part.graphs, part.sentences, glossary))

    known = items(train)
    space = train.framework.space(train.language)
    learned = learn_rules(known, space, processes=jobs, progress=sys.stderr.isatty(), cache=cache)
    covered = None
    if other is not None:
        covered = coverage(learned.rules, {fold(item.label) for item in known}, items(other))
    read = [*zip(map(str, treebank), files, strict=True), *([] if other is None else [(str(dev), other)])]
    missing = [(path, part.without_tokens) for path, part in read if part.without_tokens]
    return RuleReport(len(train.graphs), learned, frequent_rules(learned, known), covered, missing, _peak_mb(jobs))


def frequent_rules(learned: LearnedRules, items: Iterable[LabelItem], count: int = _SHOWN) -> list[FrequentRule]:
    """The first rules of a set by their numbers of nodes, with the first distinct examples of each.

    A rule set has frequent rules first, counted without the nodes whose labels need absolute rules anyway.
    """
    first = RuleSet(learned.rules.space, learned.rules.rules[:count])
    nodes: Counter[int] = Counter()
    examples: dict[int, dict[tuple[str, str], None]] = {}
    for item, number_of_nodes in Counter(items).items():
        for number, token in {number: token for token, number in reversed(first.encodings(item))}.items():
            nodes[number] += number_of_nodes
            shown = examples.setdefault(number, {})
            if len(shown) < _EXAMPLES:
                words = item.forms if first.space.anchored else item.forms[token : token + 1] if token >= 0 else ()
                shown[_shortened(" ".join(words)), item.label] = None
    found = [
        FrequentRule(str(rule), nodes[number], list(examples.get(number, ())))
        for number, rule in enumerate(first, start=1)
    ]
    return sorted(found, key=lambda each: -each.nodes)


def _shortened(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _peak_mb(jobs: int) -> float | None:
    try:
        import resource
    except ImportError:
        return None
    own, helper = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return round((own + (jobs * helper if jobs > 1 else 0)) / unit, 1)
