"""What encoding and decoding lose of a treebank: to training targets, to oracle predictions, back to graphs, scored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from perin.errors import UsageError
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.oracle import RoundTrip, round_trip
from perin.frameworks.treebank import LostAnchor, joined, lost_anchors, read_treebank
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.graph import Graph
from perin.graphs.validation import findings
from perin.scoring import score
from perin.scoring.result import Result


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
