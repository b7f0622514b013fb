"""What a framework is: a declaration, the way from graph to target, and the way from prediction to graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from perin.contract import Sentence
from perin.contract.heads import Bools, Prediction, Target
from perin.errors import InputError, UsageError
from perin.frameworks import encoding
from perin.frameworks.decoding.assembly import assembled, choose_properties, find_alternatives, with_probabilities
from perin.frameworks.decoding.nodes import (
    Labelling,
    NodeChoice,
    Nodes,
    absolute_rules,
    choose_flags,
    merge_twins,
)
from perin.frameworks.decoding.repair import choose_roles
from perin.frameworks.decoding.structure import Structure, choose_edge_labels, free_structure, one_family, one_way
from perin.frameworks.encoding import Anchoring
from perin.frameworks.rulebook import Rulebook, rulebook
from perin.frameworks.steps import Step
from perin.frameworks.steps.mends import Mend
from perin.frameworks.vocabulary import Vocabulary
from perin.graphs.constraints import Constraint
from perin.graphs.graph import Graph, Node
from perin.labels.rules import LabelItem, RuleSpace


@dataclass(frozen=True)
class Framework:
    """A framework in one language or in all.

    The fields are the whole declaration; the defaults are those of a framework whose graphs are anything at all.
    A framework that needs decisions of its own about structure overrides :meth:`allowed` or :meth:`structure`.
    """

    name: str
    flavor: int
    """1: nodes are anchored; 2: they are not."""
    queries: int = 4
    """Queries per token: enough for the nodes of every sentence in its treebanks."""
    steps: tuple[Step, ...] = ()
    """From the treebank's graphs to the network's, in this order."""
    rules: RuleSpace = field(default_factory=RuleSpace)
    """The rule space; number rules of the sentence's language are added to it if ``numbers``."""
    numbers: bool = False
    anchoring: Anchoring | None = None
    """None: no anchor head; nodes are anchored to where a relative rule yields their label."""
    has_tops: bool = True
    """Whether there is a top head."""
    has_flag: bool = False
    """Whether there is a flag head (properties, constants)."""
    owned: bool = False
    """Whether flagged nodes are leaves with exactly one parent."""
    has_classes: bool = False
    """Whether properties that the steps leave on nodes get a classifier each."""
    lexical_labels: str | None = None
    """A regular expression for labels made from words; its group is their kind, for example the part of speech."""
    words: str | None = None
    """A regular expression for labels in the sentence's language; its group are their words, which count for little if
    no dictionary has them."""
    lexical: tuple[str, ...] = ()
    """Properties that a lexicon lists by label."""
    multilabel: bool = True
    """Whether several labels between two nodes are possible."""
    markers: frozenset[str] = frozenset()
    """Edge labels that only stand beside another label."""
    has_attributes: bool = False
    """Whether edges have attributes."""
    least_joint: float = 0.0
    """The least probability of an edge that joins parts if no rule says it.  0: graphs are connected; .5: no joints."""
    required: str | None = None
    """A label (after the steps) that at least one node must have."""
    unique: bool = False
    """Whether the required label occurs exactly once."""
    empty: str = "empty"
    """The label (after the steps) of the only node of a sentence without tokens."""
    translated: frozenset[str] = frozenset()
    """Languages whose lemmas go through a glossary, since labels are in another language."""

    constraints: tuple[Constraint, ...] = ()
    """The rules that decoded graphs obey; those of all frameworks are in :mod:`perin.graphs.framework_rules`."""
    mends: tuple[Mend, ...] = ()
    """Changes of decoded graphs that make them obey what the choice of roles leaves to them."""
    fixed_edges: bool = False
    """Whether :meth:`structure` decides which edges there are, so that rules only decide about their labels."""

    def __post_init__(self) -> None:
        if self.rules.anchored != (self.anchoring is not None):
            raise UsageError(f"framework {self.name}: rules must be anchored if and only if nodes are (anchoring)")

    def space(self, language: str | None) -> RuleSpace:
        """The rule space for a language."""
        return replace(self.rules, number_language=language) if self.numbers else self.rules

    def simplified(self, graph: Graph) -> Graph:
        """A treebank's graph in the form that the network learns."""
        for step in self.steps:
            graph = step.encode(graph)
        return graph

    def restored(self, graph: Graph) -> Graph:
        """The inverse of :meth:`simplified`."""
        for step in reversed(self.steps):
            graph = step.decode(graph)
        return graph

    def label_items(self, graph: Graph, sentence: Sentence) -> list[LabelItem]:
        """The labels of a graph after the steps, with the tokens that their rules see: what rules are learned from."""
        simple = self.simplified(graph)
        return encoding.label_items(simple, sentence, self._tokens(simple, sentence))

    def encode(self, graph: Graph, sentence: Sentence, vocabulary: Vocabulary) -> Target:
        """What the network should learn for a sentence; what the vocabulary lacks is missing in it."""
        if graph.input is not None and graph.input != sentence.text:
            raise InputError("the tokens are those of another text than the graph's input", graph=graph.id)
        simple = self.simplified(graph)
        anchors = self._tokens(simple, sentence)
        items = encoding.label_items(simple, vocabulary.translated(sentence), anchors)
        nodes, tokens, ids = encoding.rule_table(items, vocabulary.rules)
        edges, edge_labels, edge_attributes = encoding.edge_arrays(simple, vocabulary)
        return Target(
            nodes,
            tokens,
            ids,
            encoding.mask(anchors, nodes, tokens, (len(simple.nodes), len(sentence))),
            edges,
            edge_labels,
            anchors,
            edge_attributes if vocabulary.edge_attributes else None,
            encoding.flags(simple) if self.has_flag else None,
            encoding.property_classes(simple, vocabulary),
            encoding.tops(simple) if self.has_tops else None,
        )

    def decode(
        self,
        prediction: Prediction,
        vocabulary: Vocabulary,
        *,
        probabilities: bool = False,
        alternatives: int = 0,
        constraints: bool = True,
    ) -> Graph:
        """The most probable graph that obeys the framework's rules; always the same for the same scores.

        With ``probabilities``, nodes and edges have them in ``extra``, and so many ``alternatives`` to their labels.
        Without ``constraints`` the graph is valid, but may break rules.
        """
        sentence = prediction.sentence
        bare = Graph(sentence.id or "0", self.name, sentence.language, self.flavor, version=1.1, input=sentence.text)
        if not len(prediction):
            return self.empty_graph(bare)
        flags = choose_flags(prediction.properties, len(prediction), owned=self.owned)
        words = self.words if constraints else None
        labelling = Labelling.of(vocabulary.rules, vocabulary.translated(sentence), words)
        nodes = NodeChoice(prediction, labelling, flags, self.anchoring).nodes(self.required, self.unique)
        book = rulebook(self, vocabulary) if constraints else None
        if book is not None:
            prediction, nodes = self.readings(prediction, nodes, book)
        allowed = self.allowed(nodes)
        structure = self.structure(prediction, vocabulary, nodes, allowed, book)
        if book is not None and book.return_cost and structure.labels is None:
            structure = one_way(structure, prediction, book.return_cost)
        if book is not None and book.families and len(structure.edges):
            prediction = one_family(prediction, structure, book.families)
        labels = structure.labels
        if labels is None:
            labels = self._edge_labels(prediction, vocabulary, structure, book)
        properties = choose_properties(prediction.property_classes, nodes.labels, vocabulary)
        if book is not None:
            traits = book.traits(nodes)
            if structure.labels is None:
                structure, labels = choose_roles(prediction, nodes, traits, book, structure, labels, allowed)
            if vocabulary.property_classes:
                properties = [own.possible(pairs) for own, pairs in zip(traits, properties, strict=True)]
            if not structure.keep.any():
                return self.empty_graph(bare)
        graph = assembled(bare, prediction, vocabulary, nodes, properties, structure, labels, self.anchoring)
        if probabilities:
            graph = with_probabilities(graph, prediction, nodes, structure, labels)
        others = None
        if alternatives:
            found = (prediction, vocabulary, labelling, nodes, structure, labels)
            others = find_alternatives(graph, *found, count=alternatives)
            graph = others.mark()
        graph = self._mended(graph, sentence, book, last=False)
        graph = self.restored(graph) if others is None else others.add_to(graph, self.restored)
        return self._mended(graph, sentence, book, last=True)

    def _mended(self, graph: Graph, sentence: Sentence, book: Rulebook | None, *, last: bool) -> Graph:
        for mend in self.mends if book is not None else ():
            if mend.last == last:
                graph = mend.mend(graph, sentence)
        return graph

    def empty_graph(self, bare: Graph) -> Graph:
        """The graph of a sentence in which nothing was found."""
        tops = (0,) if self.has_tops else ()
        return self.restored(replace(bare, nodes=(Node(0, self.empty),), tops=tops))

    def readings(self, prediction: Prediction, nodes: Nodes, book: Rulebook) -> tuple[Prediction, Nodes]:
        """Without the nodes that only repeat another one."""
        return merge_twins(prediction, nodes, book)

    def required_rules(self, vocabulary: Vocabulary) -> list[int]:
        """The rules that yield the required label."""
        return [] if self.required is None else absolute_rules(vocabulary.rules, self.required)

    def allowed(self, nodes: Nodes) -> Bools:
        """[K, K]: the pairs that may have an edge: no loops, and nothing from flagged nodes if these are owned."""
        allowed = ~np.eye(len(nodes.labels), dtype=np.bool_)
        if self.owned:
            allowed[nodes.flags] = False
        return allowed

    def structure(
        self, prediction: Prediction, vocabulary: Vocabulary, nodes: Nodes, allowed: Bools, book: Rulebook | None
    ) -> Structure:
        """The nodes and edges of the graph; here all nodes, the most probable edges, and what joins them.

        ``book``: the rules that the graph has to obey, None if it need not; with rules, parts are joined later.
        """
        least_joint = self.least_joint if book is None else 0.5
        return free_structure(prediction, nodes, allowed, least_joint=least_joint, owned=self.owned)

    def _edge_labels(
        self, prediction: Prediction, vocabulary: Vocabulary, structure: Structure, book: Rulebook | None
    ) -> Bools:
        sources, targets = structure.edges.T
        scores, markers = prediction.edge_labels[sources, targets], _marked(vocabulary.edge_labels, self.markers)
        further = 0.5 if book is None else book.further
        return choose_edge_labels(scores, multilabel=self.multilabel, markers=markers, further=further)

    def _tokens(self, graph: Graph, sentence: Sentence) -> Bools | None:
        if self.anchoring is None:
            return None
        return self.anchoring.tokens([node.anchors for node in graph.nodes], sentence)


@cache
def _marked(labels: tuple[str | None, ...], markers: frozenset[str]) -> Bools:
    """[L]: which edge labels are markers."""
    return np.array([label in markers for label in labels], dtype=np.bool_)
