"""English AMR from English UMR, in the notation of the AMR training graphs.

python benchmarks/amr_silver.py [--data ../shared/data] [--output train-umr.mrp.gz]

Most of English UMR was converted from AMR by its makers; this goes back.  Without ``--output`` the rule is only
checked: The Little Prince is in both treebanks, and its graphs are converted and scored against AMR's.  The output has
the sentences that AMR's training files lack (forums, web logs, news), without the dialogues of Minecraft, whose
coordinates no AMR has.  A recipe can name it in ``train`` beside the AMR files.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from machine import describe

from perin.graphs import Graph, dump, load
from perin.graphs.graph import Edge, Node, Property
from perin.scoring import score

ROLES = {
    "place": "location",
    "temporal": "time",
    "possessor": "poss",
    "affectee": "beneficiary",
    "companion": "accompanier",
    "goal": "destination",
    "reason": "cause",
    "material": "consist-of",
    "start": "source",
    "quote": "ARG1",
    "color": "mod",
    "size": "mod",
    "configuration": "mod",
}
CONCEPTS = {
    "umr-unknown": "amr-unknown",
    "umr-choice": "amr-choice",
    "contrast-91": "contrast-01",
    "resemble-91": "resemble-01",
    "say-91": "say-01",
    "have-org-role-92": "have-org-role-91",
    "have-rel-role-92": "have-rel-role-91",
    "have-place-91": "be-located-at-91",
}
DROPPED = frozenset(
    (
        "refer-number",
        "refer-person",
        "refer-definiteness",
        "aspect",
        "modal-strength",
        "modstr",
        "wiki",
        "quote",
        "degree",
    )
)
PRONOUNS = {"1st": {"singular": "i", "plural": "we"}, "2nd": {"singular": "you", "plural": "you"}}
THIRD = {
    "he": ("he", "him", "his", "himself"),
    "she": ("she", "her", "hers", "herself"),
    "it": ("it", "its", "itself", "it's"),
    "they": ("they", "them", "their", "theirs", "themselves"),
}
"""Pronouns of AMR, and the words that they stand for: UMR does not say which it was."""
MODALS = (
    (
        "possible-01",
        re.compile(r"\b(can|could|may|might|cannot|able|possibl[ey]|perhaps|maybe)\b|\b(ca|could)n.t\b", re.I),
    ),
    ("recommend-01", re.compile(r"\b(should|ought)\b|\bshouldn.t\b", re.I)),
    ("obligate-01", re.compile(r"\b(must|have to|has to|had to|need to|needs to)\b|\bmustn.t\b", re.I)),
    ("likely-01", re.compile(r"\b(likely|probabl[ey])\b", re.I)),
)
"""Concepts that UMR turned into a modal strength, and the words that call for them."""
FOREIGN = frozenset(("cartesian-coordinate-entity", "cartesian-framework-91", "builder", "architect", "build-space"))
"""Concepts of the Minecraft dialogues."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    parser.add_argument("--output", type=Path, help="write the graphs that AMR lacks to this file")
    arguments = parser.parse_args()
    print(describe())
    treebank = list(load(arguments.data / "umr-eng/train.umr.gz", report=lambda finding: None))
    gold: dict[str, Graph] = {}
    for name in ("train", "train-more"):
        gold |= {plain(graph): graph for graph in load(arguments.data / f"amr-eng/{name}.mrp.gz")}
    known = [graph for graph in treebank if plain(graph) in gold and "lpp" in str(graph.extra)]
    print(f"{len(known)} sentences are in both treebanks; MRP F1 of the converted graphs against AMR's:")
    for what, convert in (("as they are", unchanged), ("converted", to_amr)):
        pairs = [(gold[plain(graph)], convert(graph)) for graph in known]
        result = score(
            [replace(wanted, id=str(number)) for number, (wanted, _) in enumerate(pairs)],
            [replace(found, id=str(number), input=pairs[number][0].input) for number, (_, found) in enumerate(pairs)],
            "mrp",
        )
        tallies = result.total.tallies
        kinds = ", ".join(f"{kind} {100 * tallies[kind].f1:.2f}" for kind in ("tops", "labels", "properties", "edges"))
        print(f"{what}: {100 * tallies['all'].f1:.2f} ({kinds})")
    if arguments.output:
        silver = list(new_graphs(treebank, set(gold)))
        dump(silver, arguments.output, "mrp")
        print(f"{len(silver)} graphs written to {arguments.output}")


def plain(graph: Graph) -> str:
    """A sentence without case, spaces and punctuation."""
    return re.sub(r"\W+", "", (graph.input or "").lower())


def unchanged(graph: Graph) -> Graph:
    """The UMR graph under the name of AMR."""
    return replace(graph, framework="amr", extra=None)


def new_graphs(treebank: list[Graph], known: set[str]) -> Iterator[Graph]:
    """The graphs of sentences that AMR lacks, converted."""
    for graph in treebank:
        labels = {node.label for node in graph.nodes}
        if graph.nodes and plain(graph) not in known and not labels & FOREIGN and len(graph.components()) == 1:
            yield to_amr(graph)


def to_amr(graph: Graph) -> Graph:
    """An AMR graph from a UMR graph."""
    text = graph.input or ""
    nodes = [
        replace(node, label=label(node, text), properties=properties(node), anchors=None, extra=None)
        for node in graph.nodes
    ]
    edges = [role(edge) for edge in graph.edges]
    tops = list(graph.tops)
    for node in graph.nodes:
        modal = modality(node, text)
        if modal:
            new = len(nodes)
            nodes.append(Node(new, modal))
            edges = [
                replace(edge, target=new) if edge.target == node.id and edge.normal is None else edge for edge in edges
            ]
            edges.append(Edge(new, node.id, "ARG2" if modal == "obligate-01" else "ARG1"))
            tops = [new if top == node.id else top for top in tops]
    return Graph(
        id=f"umr-{graph.id}", framework="amr", language="eng", flavor=2, version=1.1, time="2025-01-01", source="umr",
        input=text, tops=tuple(tops), nodes=tuple(nodes), edges=tuple(edges),
    )  # fmt: skip


def label(node: Node, text: str) -> str:
    """The concept in AMR: frames under their AMR names, pronouns as words."""
    person = node.get("refer-person")
    if node.label in ("person", "thing") and person is not None:
        number = str(node.get("refer-number", "singular"))
        if person in PRONOUNS:
            return PRONOUNS[str(person)].get(number, "i")
        words = set(re.findall(r"[\w']+", text.lower()))
        wanted = ["it"] if node.label == "thing" else ["he", "she", "they"]
        order = [*(["they"] if number == "plural" else wanted), "they", "he", "she", "it"]
        return next((pronoun for pronoun in order if words & set(THIRD[pronoun])), order[0])
    return CONCEPTS.get(node.label or "", node.label or "").lower()


def properties(node: Node) -> tuple[Property, ...]:
    """What AMR has of a node's attributes."""
    return tuple(property for property in node.properties if property.name not in DROPPED)


def role(edge: Edge) -> Edge:
    """The edge under its AMR name, with the un-inverted label of an inverse one."""
    name = edge.label or ""
    if name in ROLES:
        name = ROLES[name]
    elif name.endswith("-of") and name[:-3] in ROLES:
        name = ROLES[name[:-3]] + "-of"
    normal = "domain" if name == "mod" else name[:-3] if name.endswith("-of") else None
    return replace(edge, label=name, normal=normal, attributes=(), extra=None)


def modality(node: Node, text: str) -> str | None:
    """The modal concept that stands above a node in AMR, if the sentence has a word for it."""
    strength = str(node.get("modal-strength", ""))
    if not strength.startswith(("neutral", "partial")):
        return None
    return next((concept for concept, words in MODALS if words.search(text)), None)


if __name__ == "__main__":
    main()
