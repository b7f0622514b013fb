"""The oracle, which predicts without errors, and the round trip of graphs through it.

Graphs become training targets, targets become oracle predictions, predictions become graphs again, which are scored:
what a treebank loses on the way is lost to every parser.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from tqdm import tqdm

from perin.contract import Sentence
from perin.contract.heads import Bools, Ints, Prediction, Scores, Target
from perin.errors import UsageError
from perin.frameworks.framework import Framework
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.treebank import LostAnchor, joined, lost_anchors, read_treebank
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Graph
from perin.graphs.validation import findings
from perin.labels.ruleset import ANY_TOKEN
from perin.scoring import score
from perin.scoring.result import Result

# The prediction that a faultless network would make: a target laid out on the queries of its sentence.


_OUTSIDE, _UNLABELLED, _DROPPED = 1, 10**3, 10**6


@dataclass(frozen=True)
class QueryAssignment:
    """Which query each node is laid on."""

    places: Ints
    """[N]: query numbers; -1 where there are more nodes than queries."""
    outside: Bools
    """[N]: nodes on a query of a token that the mask does not allow, because there all queries are taken."""
    unlabelled: Bools
    """[N]: nodes on a query from which no rule yields their label."""

    @property
    def dropped(self) -> Bools:
        """[N]: nodes that found no query."""
        return self.places < 0


def assign_queries(target: Target, queries: int) -> QueryAssignment:
    """Lay nodes on queries at the least loss.

    As few as possible are dropped, and those with the fewest edges; then as few as possible lie where none of their
    rules yields their label; then as few as possible lie outside the mask.
    """
    count, tokens = target.mask.shape
    reachable = _reachable(target)
    costs = np.where(target.mask, 0, _OUTSIDE) + np.where(reachable, 0, _UNLABELLED)
    costs = np.repeat(costs, queries, axis=1)
    surplus = count - tokens * queries
    if surplus > 0:
        degree = np.bincount(target.edges.ravel(), minlength=count)
        costs = np.concatenate([costs, np.tile(_DROPPED * (1 + degree)[:, None], surplus)], axis=1)
    rows, columns = linear_sum_assignment(costs)
    inside = columns < tokens * queries
    rows, columns = rows[inside], columns[inside]
    places = np.full(count, -1, dtype=np.int64)
    places[rows] = columns
    outside, unlabelled = np.zeros((2, count), dtype=np.bool_)
    outside[rows] = ~target.mask[rows, columns // queries]
    unlabelled[rows] = ~reachable[rows, columns // queries]
    return QueryAssignment(places, outside, unlabelled)


def oracle_prediction(
    framework: Framework, target: Target, sentence: Sentence, vocabulary: Vocabulary, queries: int, places: Ints
) -> Prediction:
    """One-hot scores of the shapes that the heads emit, with each node on its query; nodes of place -1 are missing.

    A node whose label no rule yields gets some rule that yields another, as a parser would have to.
    """
    kept = np.flatnonzero(places >= 0)
    kept = kept[np.argsort(places[kept])]
    accepted = places[kept]
    position = np.full(len(places), -1, dtype=np.int64)
    position[kept] = np.arange(len(kept))
    pairs = position[target.edges]
    present = (pairs >= 0).all(axis=1)
    sources, targets = pairs[present].T
    presence = np.zeros((len(kept), len(kept)), dtype=np.float32)
    presence[sources, targets] = 1
    edge_labels = np.zeros((*presence.shape, len(vocabulary.edge_labels)), dtype=np.float32)
    edge_labels[sources, targets] = target.edge_labels[present]
    edge_attributes = None
    if target.edge_attributes is not None:
        classes = np.zeros(presence.shape, dtype=np.int64)
        classes[sources, targets] = target.edge_attributes[present]
        edge_attributes = _one_hot(classes, len(vocabulary.edge_attributes) + 1)
    rules = _rules(framework, target, vocabulary, places // queries)[kept]
    return Prediction(
        sentence,
        queries,
        _one_hot(rules, len(vocabulary.rules) + 1),
        accepted,
        presence,
        edge_labels,
        _rows(target.anchors, kept),
        edge_attributes,
        _rows(target.properties, kept),
        {
            name: _one_hot(classes[kept], len(vocabulary.property_classes[name]) + 1)
            for name, classes in target.property_classes.items()
        },
        _rows(target.tops, kept),
    )


def _reachable(target: Target) -> Bools:
    """[N, T]: the tokens from whose queries some rule yields the node's label."""
    reachable = np.zeros(target.mask.shape, dtype=np.bool_)
    anywhere = target.rule_tokens == ANY_TOKEN
    reachable[target.rule_nodes[anywhere]] = True
    reachable[target.rule_nodes[~anywhere], target.rule_tokens[~anywhere]] = True
    return reachable


def _rules(framework: Framework, target: Target, vocabulary: Vocabulary, tokens: Ints) -> Ints:
    """[N]: a rule of each node that holds at the token it lies on."""
    required = framework.required_rules(vocabulary)
    other = next((number for number in range(1, len(vocabulary.rules) + 1) if number not in required), 1)
    rules = np.full(len(target), other, dtype=np.int64)
    fits = (target.rule_tokens == ANY_TOKEN) | (target.rule_tokens == tokens[target.rule_nodes])
    rules[target.rule_nodes[fits][::-1]] = target.rule_ids[fits][::-1]
    return rules


def _one_hot(classes: Ints, count: int) -> Scores:
    return np.eye(count, dtype=np.float32)[classes]


def _rows(array: Bools | None, rows: Ints) -> Scores | None:
    return None if array is None else array[rows].astype(np.float32)


# There and back: a graph to its target, the target to the oracle prediction, the prediction to a graph.


@dataclass(frozen=True)
class RoundTrip:
    """The graph that came back, with the header of the original, and what was lost on the way."""

    graph: Graph
    nodes: int
    """Nodes of the target."""
    dropped: int
    """Nodes that found no query."""
    outside: int
    """Nodes on a query of a token that the mask does not allow."""
    unlabelled: int
    """Nodes on a query from which no rule yields their label."""


def round_trip(
    framework: Framework, graph: Graph, sentence: Sentence, vocabulary: Vocabulary, queries: int | None = None
) -> RoundTrip:
    """Encode a graph and decode the oracle prediction of it; ``queries`` a token are the framework's if not given.

    Decoding is free: gold breaks the framework's soft rules now and then, and has to come back all the same.
    """
    queries = framework.queries if queries is None else queries
    target = framework.encode(graph, sentence, vocabulary)
    laid = assign_queries(target, queries)
    prediction = oracle_prediction(framework, target, sentence, vocabulary, queries, laid.places)
    decoded = framework.decode(prediction, vocabulary, constraints=False)
    header = {name: getattr(graph, name) for name in ("id", "language", "flavor", "version", "time", "source", "input")}
    counts = (int(nodes.sum()) for nodes in (laid.dropped, laid.outside, laid.unlabelled))
    return RoundTrip(replace(decoded, **header), len(target), *counts)


@dataclass(frozen=True)
class RoundTripReport:
    """What came back of a treebank."""

    result: Result
    trips: Sequence[RoundTrip]
    queries: int
    vocabulary: Vocabulary
    lost_anchors: Sequence[LostAnchor]
    without_tokens: Sequence[str]
    """Ids of graphs that the file of tokens lacks; they have our own."""

    def as_json(self) -> dict[str, Any]:
        """The score under the keys of ``perin score --json``, and the losses under ``roundtrip``."""
        return {**self.result.as_json(), "roundtrip": self.losses}

    @property
    def losses(self) -> dict[str, Any]:
        """How many nodes found no query, no rule or no tokens that fit, and in which graphs anything differs."""
        return {
            "queries": self.queries,
            "rules": len(self.vocabulary.rules),
            "nodes": sum(trip.nodes for trip in self.trips),
            "without_query": self._counted("dropped"),
            "outside_mask": self._counted("outside"),
            "without_rule": self._counted("unlabelled"),
            "lost_anchors": {"nodes": len(self.lost_anchors), "list": [asdict(lost) for lost in self.lost_anchors]},
            "without_tokens": list(self.without_tokens),
            "invalid": [trip.graph.id for trip in self.trips if _is_invalid(trip.graph)],
            "differences": self.differences,
        }

    @property
    def differences(self) -> list[dict[str, Any]]:
        """The graphs that did not come back as they were: how many items of each type are missing or surplus."""
        found = []
        for graph in self.result.graphs:
            tallies = {
                name: tally for name, tally in graph.comparison.tallies.items() if name != "all" and not tally.equal
            }
            if tallies:
                missing = {name: tally.g - tally.c for name, tally in tallies.items() if tally.g > tally.c}
                surplus = {name: tally.s - tally.c for name, tally in tallies.items() if tally.s > tally.c}
                found.append({"id": graph.id, "missing": missing, "surplus": surplus})
        return found

    def _counted(self, name: str) -> dict[str, Any]:
        counts = {trip.graph.id: getattr(trip, name) for trip in self.trips if getattr(trip, name)}
        return {"nodes": sum(counts.values()), "graphs": list(counts)}

    def __str__(self) -> str:
        losses, tallies = self.losses, self.result.total.tallies
        lines = [f"{name:<12}{100 * tally.f1:7.2f}" for name, tally in tallies.items() if tally.g or tally.s]
        lines += [
            f"{len(self.trips)} graphs, {losses['nodes']} nodes, {losses['rules']} rules, Q = {self.queries}",
            f"nodes without a query: {losses['without_query']['nodes']}",
            f"nodes without a rule: {losses['without_rule']['nodes']}",
            f"nodes outside the mask: {losses['outside_mask']['nodes']}",
            f"lost anchors: {len(self.lost_anchors)}",
            f"graphs that differ: {len(losses['differences'])}, invalid: {len(losses['invalid'])}",
        ]
        return "\n".join(lines)


def roundtrip(
    treebank: str | Path,
    *,
    rules: Sequence[str | Path] = (),
    tokens: str | Path | None = None,
    split: bool = False,
    rules_tokens: Sequence[str | Path] | None = None,
    queries: int | None = None,
    jobs: int = 1,
    cache: str | Path | None = None,
) -> RoundTripReport:
    """Encode a treebank, decode the oracle's predictions, and score what comes back.

    Rules and classes are learned from the treebank itself, or from the files ``rules``: then the score is the ceiling
    of a parser that is trained on them.  ``tokens``: a file of tokens, as training reads it; ``split``: they are split
    further where an anchor lies inside a word.  Without ``tokens`` they are our own.
    """
    if queries is not None and queries < 1:
        raise UsageError(f"--queries {queries}: a token needs at least one query")
    data = training = read_treebank(treebank, tokens, split=split)
    if rules:
        beside = _beside(rules, rules_tokens, wanted=tokens is not None)
        training = joined([read_treebank(*pair, split=split) for pair in zip(rules, beside, strict=True)])
        if (training.framework, training.language) != (data.framework, data.language):
            raise UsageError("--rules: the graphs are of another framework or language than those of the treebank")
    form = data.framework
    vocabulary = learn_from_treebank(
        form,
        training.graphs,
        training.sentences,
        data.language,
        queries=queries,
        processes=jobs,
        progress=sys.stderr.isatty(),
        cache=cache,
    )
    pairs = list(zip(data.graphs, data.sentences, strict=True))
    shown = tqdm(pairs, "there and back", unit=" graphs", disable=None)
    trips = [round_trip(form, graph, sentence, vocabulary, queries) for graph, sentence in shown]
    lost = [item for graph, sentence in pairs for item in lost_anchors(form, graph, sentence)]
    result = score(data.graphs, [trip.graph for trip in trips], "mrp", jobs=jobs)
    return RoundTripReport(result, trips, queries or form.queries, vocabulary, lost, data.without_tokens)


def _beside(
    rules: Sequence[str | Path], tokens: Sequence[str | Path] | None, *, wanted: bool
) -> Sequence[str | Path | None]:
    """The files of tokens of the training files."""
    if tokens is None:
        paths = [Path(str(path).replace(".mrp", ".conllu")) for path in rules]
        return [path if wanted and path.is_file() else None for path in paths]
    if len(tokens) != len(rules):
        raise UsageError(f"--rules-tokens names {len(tokens)} files, --rules {len(rules)}; they belong together")
    return tokens


def _is_invalid(graph: Graph) -> bool:
    return any(finding.severity == "error" for finding in findings(graph))
