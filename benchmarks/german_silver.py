"""German DRG from the Sequence Box Notation of PMB 5.1, in the notation of the German training graphs.

python benchmarks/german_silver.py [--data ../shared/data] [--output train-silver.mrp.gz]

Without ``--output`` the rule is only checked: the gold documents, which are in both notations, are converted and scored
against the training graphs.  The output is a file that a recipe can name in ``train`` beside the gold one.

PMB 5.1 dropped what PMB 3.0 has: boxes of presuppositions, constants for speaker and hearer, measures, conditions.
They are put back: names, pronouns and nouns with a definite article are presupposed, and the German text says which
nouns have one.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from machine import describe

from perin.errors import InputError
from perin.graphs import Graph, dump, load, loads
from perin.graphs.graph import Edge, Node
from perin.scoring import score
from perin.text import Token, tokenize
from perin.text.languages import word_set
from perin.text.translation import learn_links

CONCEPT = re.compile(r"\S+\.[a-z]\.[0-9]+")
DEFINITE = word_set(
    """
    der die das den dem des dieser diese dieses diesen diesem jener jene jenes jenen jenem im am zum zur ins vom beim
    ans mein meine meinen meinem meiner meines dein deine deinen deinem deiner deines sein seine seinen seinem seiner
    seines ihr ihre ihren ihrem ihrer ihres unser unsere unseren unserem unserer unseres unsern unserm euer eure euren
    eurem eurer eures beide beiden derselbe dieselbe dasselbe
    """
)
INDEFINITE = word_set(
    """
    ein eine einen einem einer eines kein keine keinen keinem keiner keines viele vielen einige einigen jeder jede jedes
    jeden jedem manche alle allen mehr zwei drei vier fünf
    """
)
PRONOUNS = frozenset(("male.n.02", "female.n.02"))
UNKNOWN_THINGS = frozenset(("etwas", "nichts", "was", "alles"))
INVERSE = re.compile(r"\b(?!(?:Part|Sub|Member|Made)Of\b)([A-Z][A-Za-z]+)Of\b")
"""Roles that are turned round; the training graphs have the others, although they end like these."""
TURNED = "-turned"
"""Keeps the reader from turning them: which concept carries a role tells where it belongs."""
UNITS = word_set(
    """
    year.n.01 month.n.02 week.n.01 day.n.01 day.n.02 hour.n.01 minute.n.01 second.n.01 meter.n.01 centimeter.n.01
    centimetre.n.01 kilometer.n.01 mile.n.01 foot.n.02 inch.n.01 kilogram.n.01 kilo.n.01 gram.n.01 ton.n.01 pound.n.01
    liter.n.01 dollar.n.01 cent.n.01 euro.n.01 yen.n.02 peso.n.03 real.n.02 mark.n.07 degree.n.02
    """
)


@dataclass
class Role:
    """A role or operator between two nodes, and the box that it belongs to."""

    source: int
    label: str
    target: int
    box: int | None


@dataclass
class Draft:
    """A graph that can be changed: labels by node (None: a box), the box of each concept, roles, relations of boxes."""

    labels: dict[int, str | None]
    boxes: dict[int, int]
    roles: list[Role]
    relations: list[tuple[int, str, int]]
    inverted: list[Role] = field(default_factory=list)
    """Roles that the notation has the other way round: their box is that of the target."""

    @classmethod
    def of(cls, graph: Graph) -> Draft:
        """The parts of a graph."""
        labels = {node.id: node.label for node in graph.nodes}
        boxes = {edge.target: edge.source for edge in graph.edges if edge.label == "in"}
        relations = [(e.source, e.label, e.target) for e in graph.edges if e.label not in (None, "in")]
        before = {edge.target: edge.source for edge in graph.edges if edge.label is None}
        after = {edge.source: edge.target for edge in graph.edges if edge.label is None}
        roles = []
        for id, label in list(labels.items()):
            if label is not None and not label.startswith('"') and not CONCEPT.fullmatch(label):
                roles.append(Role(before[id], label, after[id], boxes.pop(id, boxes.get(before[id]))))
                del labels[id]
        return cls(labels, boxes, roles, relations)

    @property
    def concepts(self) -> list[int]:
        """The nodes of concepts."""
        return list(self.boxes)

    def graph(self, like: Graph) -> Graph:
        """The graph, with the header of another; boxes that hold nothing and relate to nothing are left out."""
        used = {*self.boxes.values(), *(role.box for role in self.roles)}
        used |= {box for source, _, target in self.relations for box in (source, target)}
        kept = {id: label for id, label in self.labels.items() if label is not None or id in used}
        edges = [Edge(box, concept, "in") for concept, box in self.boxes.items()]
        edges += [Edge(source, target, label) for source, label, target in dict.fromkeys(self.relations)]
        nodes = [Node(id, label) for id, label in kept.items()]
        for id, role in enumerate(self.roles, start=max(kept) + 1):
            nodes.append(Node(id, role.label))
            edges += [Edge(role.source, id), Edge(id, role.target)]
            if role.box is not None and role.box != self.boxes.get(role.source):
                edges.append(Edge(role.box, id, "in"))
        below = {target for _, _, target in self.relations}
        tops = tuple(id for id, label in kept.items() if label is None and id not in below)
        return replace(like, nodes=tuple(nodes), edges=tuple(edges), tops=tops)

    def merge(self, concept: int, other: int) -> None:
        """Take another node for a concept everywhere."""
        for role in self.roles:
            role.source = other if role.source == concept else role.source
            role.target = other if role.target == concept else role.target
        del self.labels[concept], self.boxes[concept]
        unique = {(role.source, role.label, role.target): role for role in reversed(self.roles)}
        self.roles = [role for role in reversed(unique.values()) if role.source != role.target]

    def role(self, concept: int, *labels: str) -> Role | None:
        """The first role of a concept with one of the labels."""
        return next((role for role in self.roles if role.source == concept and role.label in labels), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--output", type=Path, help="write the silver graphs in MRP")
    arguments = parser.parse_args()
    folder = arguments.data / "drg-deu"
    gold = {graph.input: graph for graph in load(folder / "train.mrp.gz")}
    known, silver = (list(documents(folder / f"train-{name}.sbn-lines.gz")) for name in ("gold", "silver"))
    strength = learn_links(
        ([token.lemma for token in tokenize(text, "deu").tokens], CONCEPT.findall(sbn))
        for _, text, sbn in known + silver
    )
    pairs = [
        (gold[text], replace(converted(*document, strength), id=gold[text].id))
        for document in known
        if (text := document[1]) in gold
    ]
    found = score([wanted for wanted, _ in pairs], [graph for _, graph in pairs], "mrp", budget=0.5).total.tallies
    print(describe())
    print(f"\n{len(pairs)} gold documents, MRP F1 against the training graphs:")
    print("  ".join(f"{kind} {100 * found[kind].f1:.2f}" for kind in ("tops", "labels", "edges", "all")))
    if arguments.output is not None:
        graphs = list(sound(silver, strength))
        dump(graphs, arguments.output, "mrp")
        print(f"{len(graphs)} graphs of {len(silver)} documents written to {arguments.output}")


def sound(silver: Sequence[tuple[str, str, str]], strength: Mapping[tuple[str, str], float]) -> Iterator[Graph]:
    """The graphs of all documents that can be read; automatic analyses may point to boxes that there are not."""
    for document in silver:
        with contextlib.suppress(InputError):
            yield converted(*document, strength)


def documents(path: Path) -> Iterator[tuple[str, str, str]]:
    """Id, text and SBN of the documents of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for block in stream.read().strip().split("\n\n"):
            id, text, sbn = block.split("\n")
            yield id, text, sbn


def converted(id: str, text: str, sbn: str, strength: Mapping[tuple[str, str], float]) -> Graph:
    """The graph of a document in the notation of the training graphs."""
    sbn = INVERSE.sub(rf"\1{TURNED}", sbn)
    [graph] = loads(f"%%% ::id {id}\n%%% ::snt {text}\n{sbn}\n", "sbn")
    draft = Draft.of(graph)
    for id_, label in draft.labels.items():
        if label is not None and label.startswith('"'):
            draft.labels[id_] = label.lower().replace(" ", "~")
    put_conditions(draft)
    put_propositions(draft)
    put_constants(draft)
    put_measures(draft)
    merge_times(draft)
    turn_roles(draft)
    box_presuppositions(draft, text, strength)
    return replace(draft.graph(graph), language="deu", input=text, source="pmb-5.1-silver", time="2024-01-01")


def put_conditions(draft: Draft) -> None:
    """A negation of a negation is a condition and its consequence."""
    negations = [(source, target) for source, label, target in draft.relations if label == "NEGATION"]
    for source, target in negations:
        for inner, last in negations:
            if inner == target:
                draft.relations.remove((source, "NEGATION", target))
                draft.relations.remove((inner, "NEGATION", last))
                draft.relations += [(source, "CONDITION", target), (inner, "CONSEQUENCE", last)]
                return put_conditions(draft)


def put_propositions(draft: Draft) -> None:
    """A role whose value is a box has a proposition for a topic, and the box is attributed."""
    for role in draft.roles:
        if draft.labels[role.target] is None and role.source in draft.boxes:
            box, proposition = draft.boxes[role.source], max(draft.labels) + 1
            draft.labels[proposition] = "proposition.n.01"
            draft.boxes[proposition] = box
            draft.relations.append((box, "ATTRIBUTION", role.target))
            role.label, role.target = "Topic", proposition


def put_constants(draft: Draft) -> None:
    """Speaker, hearer and numbers are constants, and what refers to something else is that thing."""
    for concept in draft.concepts:
        label = draft.labels[concept]
        role = draft.role(concept, "EQU", "Sub", "ANA")
        if role is None:
            continue
        value = draft.labels[role.target] or ""
        person = label == "person.n.01" and value in ('"speaker"', '"hearer"')
        if role.label == "ANA" or (person and role.label != "ANA") or (label == "number.n.02" and role.label == "EQU"):
            draft.roles.remove(role)
            draft.merge(concept, role.target)


def put_measures(draft: Draft) -> None:
    """A quantity of a unit is a measure; another that is a number is no concept of its own."""
    for quantity in draft.concepts:
        if draft.labels.get(quantity) != "quantity.n.01":
            continue
        counted = [role for role in draft.roles if role.target == quantity]
        own = [role for role in draft.roles if role.source == quantity]
        if len(counted) != 1 or counted[0].label != "Quantity" or counted[0].source not in draft.boxes:
            continue
        unit = counted[0].source
        number = own[0] if len(own) == 1 and own[0].label == "EQU" and own[0].target not in draft.boxes else None
        if draft.labels[unit] in UNITS:
            measure = quantity
            if number is None:
                measure = max(draft.labels) + 1
                draft.boxes[measure] = draft.boxes[unit]
            draft.labels[measure] = "measure.n.02"
            for role in draft.roles:
                role.target = measure if role.target == unit else role.target
            counted[0].source = measure
            draft.roles.append(Role(measure, "Unit", unit, draft.boxes[unit]))
            if number is not None:
                draft.roles.remove(counted[0])
                number.label = "Quantity"
        elif number is not None:
            draft.roles.remove(number)
            draft.merge(quantity, number.target)


def merge_times(draft: Draft) -> None:
    """An event has one time."""
    for concept in draft.concepts:
        times = [
            role.target
            for role in draft.roles
            if (role.source, role.label) == (concept, "Time") and draft.labels[role.target] == "time.n.08"
        ]
        for other in dict.fromkeys(times[1:]):
            if other != times[0] and other in draft.boxes:
                draft.merge(other, times[0])


def turn_roles(draft: Draft) -> None:
    """AttributeOf is Attribute the other way round, unless that would begin at a constant."""
    for role in draft.roles:
        if role.label.endswith(TURNED):
            role.label = role.label.removesuffix(TURNED)
            if role.target in draft.boxes:
                role.source, role.target = role.target, role.source
                draft.inverted.append(role)


def box_presuppositions(draft: Draft, text: str, strength: Mapping[tuple[str, str], float]) -> None:
    """Give what is presupposed a box of its own, with what belongs to it."""
    home = dict(draft.boxes)
    chosen = presupposed(draft, text, strength)
    for concept in chosen:
        box = max(draft.labels) + 1
        draft.labels[box] = None
        draft.boxes[concept] = box
    for concept in chosen:
        take_along(draft, concept, home, chosen)
    for role in draft.roles:
        turned = any(role is each for each in draft.inverted)
        carrier = role.target if turned else role.source
        if carrier in draft.boxes and role.box == home.get(carrier):
            role.box = draft.boxes[carrier]
    for concept in chosen:
        draft.relations.append((draft.boxes[concept], "PRESUPPOSITION", governing_box(draft, concept, home)))


def take_along(draft: Draft, concept: int, home: Mapping[int, int], chosen: Sequence[int]) -> None:
    """Move what only a presupposed concept refers to into its box: roles, attributes, parts."""
    waiting = [concept]
    while waiting:
        current = waiting.pop()
        for role in draft.roles:
            other = role.target
            if role.source != current or other not in draft.boxes or other in chosen:
                continue
            label = draft.labels[other] or ""
            alone = all(each.source == current for each in draft.roles if each.target == other)
            timed = draft.role(other, "Time") is not None
            inside = draft.boxes[other] == home[current]
            if alone and inside and not timed and ".v." not in label and label != "time.n.08":
                draft.boxes[other] = draft.boxes[concept]
                waiting.append(other)


def governing_box(draft: Draft, concept: int, home: Mapping[int, int]) -> int:
    """The box of what refers to a presupposed concept."""
    own = draft.boxes[concept]
    for role in draft.roles:
        turned = any(role is each for each in draft.inverted)
        carrier, other = (role.target, role.source) if turned else (role.source, role.target)
        if other == concept and carrier in draft.boxes and draft.boxes[carrier] != own:
            return draft.boxes[carrier]
    return home[concept]


def presupposed(draft: Draft, text: str, strength: Mapping[tuple[str, str], float]) -> list[int]:
    """The concepts that are presupposed: names, pronouns, nouns with a definite article."""
    tokens = tokenize(text, "deu").tokens
    links = linked(tokens, [draft.labels[concept] or "" for concept in draft.concepts], strength)
    seen: Counter[str] = Counter()
    found = []
    for concept in draft.concepts:
        label = draft.labels[concept] or ""
        name = draft.role(concept, "Name")
        role = draft.role(concept, "Role")
        if name is not None:
            certain = draft.labels[name.target] != '"?"'
        elif label == "person.n.01" and role is not None:
            certain = has_article(tokens, links, draft.labels[role.target] or "", seen)
        elif label == "entity.n.01":
            certain = not UNKNOWN_THINGS & {token.form.lower() for token in tokens}
        else:
            taken = any(each.label == "Role" and each.target == concept for each in draft.roles)
            certain = label in PRONOUNS or (".n." in label and not taken and has_article(tokens, links, label, seen))
        if certain:
            found.append(concept)
    return found


def linked(
    tokens: Sequence[Token], labels: Sequence[str], strength: Mapping[tuple[str, str], float]
) -> dict[str, list[int]]:
    """The tokens of each label: those with the lemma that goes together with it best, each lemma for one label."""
    lemmas = {token.lemma for token in tokens}
    pairs = sorted((strength.get((lemma, label), 0.0), lemma, label) for lemma in lemmas for label in set(labels))
    result: dict[str, list[int]] = {}
    free = set(lemmas)
    for value, lemma, label in reversed(pairs):
        if value >= 0.02 and lemma in free and label not in result:
            free.remove(lemma)
            result[label] = [place for place, token in enumerate(tokens) if token.lemma == lemma]
    return result


def has_article(tokens: Sequence[Token], links: Mapping[str, Sequence[int]], label: str, seen: Counter[str]) -> bool:
    """Whether the next occurrence of a noun has a definite article, with adjectives between them at most."""
    places = links.get(label, ())
    if not places:
        return False
    place = places[min(seen[label], len(places) - 1)]
    seen[label] += 1
    for before in range(place - 1, max(-1, place - 5), -1):
        form = tokens[before].form
        if form.lower() in DEFINITE:
            return True
        if form.lower() in INDEFINITE or not form[0].isalpha() or (form[0].isupper() and before > 0):
            return False
    return False


if __name__ == "__main__":
    main()
