"""Named entities of AMR and UMR, relation nodes of DRG, quantifiers of EDS."""

from __future__ import annotations

from perin.contract import Sentence, Token
from perin.frameworks.amr import AMR
from perin.frameworks.steps import FLAG
from perin.frameworks.steps.mends import BoundNouns, EntityNames, LinkedNames, SubjectPronouns, WholeRelations
from perin.graphs import Anchor, Edge, Graph, Node, Property, dumps
from perin.graphs.framework_rules import broken


def sentence(text: str) -> Sentence:
    words, start, tokens = text.split(), 0, []
    for word in words:
        lemma = word if word.istitle() else word.rstrip("s")
        tokens.append(Token(word, lemma, start, start + len(word)))
        start += len(word) + 1
    return Sentence(text, tuple(tokens), "1", "eng")


def restored(nodes: list[Node], edges: list[Edge], text: str) -> Graph:
    graph = Graph("1", "amr", "eng", 2, input=text, nodes=tuple(nodes), edges=tuple(edges), tops=(0,))
    return AMR.restored(EntityNames().mend(graph, sentence(text)))


def penman(graph: Graph) -> str:
    return " ".join(line.strip() for line in dumps([graph], "amr").splitlines() if not line.startswith("#")).strip()


def test_pronouns_have_the_form_of_subjects_unless_they_are_strings() -> None:
    graph = Graph("1", "amr", nodes=(Node(0, "see-01"), Node(1, "her"), Node(2, "it"), Node(3, "us", (FLAG,))))
    assert [node.label for node in SubjectPronouns().mend(graph, sentence("")).nodes] == ["see-01", "she", "it", "us"]
    assert SubjectPronouns() in AMR.mends


def test_strings_and_proper_nouns_become_persons_with_names() -> None:
    nodes = [Node(0, "love-01"), Node(1, "john", (FLAG,)), Node(2, "mary")]
    graph = restored(nodes, [Edge(0, 1, "ARG0"), Edge(0, 2, "ARG1")], "John loves Mary")
    assert list(broken(graph)) == []
    assert (
        penman(graph) == '(l / love-01 :ARG0 (p2 / person :name (n / name :op1 "John")) '
        ':ARG1 (p / person :name (n2 / name :op1 "Mary")))'
    )


def test_numbers_and_common_nouns_stay() -> None:
    nodes = [Node(0, "equal-01"), Node(1, "5", (FLAG,)), Node(2, "dog")]
    graph = restored(nodes, [Edge(0, 1, "ARG2"), Edge(0, 2, "ARG1")], "dogs equal 5")
    assert len(graph) == 2
    assert graph.node(0).get("ARG2") == "5"


def test_a_predicate_has_no_name() -> None:
    nodes = [Node(0, "go-01"), Node(1, "name"), Node(2, "tom", (FLAG,)), Node(3, "boy")]
    graph = restored(nodes, [Edge(0, 1, "name"), Edge(1, 2, "op1"), Edge(0, 3, "ARG0")], "Tom goes")
    assert list(broken(graph)) == []
    (person,) = (node for node in graph.nodes if node.label == "person")
    assert [(edge.source, edge.label) for edge in graph.incoming(person.id)] == [(0, "ARG1")]
    assert graph.node(1).get("op1") == "Tom"


def test_names_are_written_as_in_the_sentence() -> None:
    nodes = [Node(0, "city"), Node(1, "name"), Node(2, "prague", (FLAG,))]
    graph = restored(nodes, [Edge(0, 1, "name"), Edge(1, 2, "op1")], "Prague")
    assert graph.node(1).get("op1") == "Prague"


def test_a_string_with_two_roles_is_a_part_of_one_name_only() -> None:
    nodes = [Node(0, "happy-01"), Node(1, "name", (FLAG,))]
    graph = restored(nodes, [Edge(0, 1, "ARG0"), Edge(0, 1, "domain")], "Tom")
    assert list(broken(graph)) == []
    assert penman(graph) == '(h / happy-01 :domain "name" :ARG0 (p / person :name (n / name :op1 "name")))'


def test_the_roles_of_a_string_keep_their_owner() -> None:
    nodes = [Node(0, "happy-01"), Node(1, "name", (FLAG,))]
    graph = restored(nodes, [Edge(0, 1, "domain"), Edge(0, 1, "name")], "Tom")
    assert [message for rule, message in broken(graph) if not rule.rate] == []
    assert len(graph) == 1


def test_coordinations_have_members_and_no_name() -> None:
    nodes = [Node(0, "love-01"), Node(1, "and"), Node(2, "name"), Node(3, "john", (FLAG,)), Node(4, "boy")]
    edges = [Edge(0, 1, "ARG0"), Edge(1, 2, "name"), Edge(2, 3, "op1"), Edge(1, 4, "op1")]
    graph = restored(nodes, edges, "John and boys love")
    assert list(broken(graph)) == []
    assert ':ARG0 (a / and :op1 (b / boy) :op2 (p / person :name (n / name :op1 "John")))' in penman(graph)


def test_parts_of_names_are_strings() -> None:
    nodes = [Node(0, "city"), Node(1, "name"), Node(2, "new"), Node(3, "york"), Node(4, "big")]
    edges = [Edge(0, 1, "name"), Edge(1, 2, "op1"), Edge(1, 3, "op2"), Edge(3, 4, "mod")]
    assert ':name (n / name :op1 "New" :op2 (y / york' in penman(restored(nodes, edges, "Big New York"))
    graph = restored(nodes[:4], [*edges[:3], Edge(3, 1, "name")], "Big New York")
    assert ':op1 "New" :op2 "York"' in penman(graph)
    assert len(graph.components()) == 1


def test_a_source_has_a_unique_relation_once() -> None:
    """The relation that comes last stays; what hung on the other alone goes, and boxes keep their top."""
    labels = [None, "sister.n.01", "female.n.02", "male.n.02", "Of", "Of", "Theme", "Theme"]
    nodes = tuple(Node(id, label) for id, label in enumerate(labels))
    links = [(1, 4), (4, 3), (1, 5), (5, 2), (1, 6), (6, 2), (1, 7), (7, 2)]
    edges = (Edge(0, 1, "in"), Edge(0, 2, "in"), *(Edge(*link) for link in links))
    graph = Graph("1", "drg", "eng", 2, nodes=nodes, edges=edges, tops=(0,))
    assert any(not rule.rate for rule, _ in broken(graph))
    mended = WholeRelations().mend(graph, sentence(""))
    assert [node.id for node in mended.nodes] == [0, 1, 2, 5, 6, 7]
    assert not any(not rule.rate for rule, _ in broken(mended))
    assert WholeRelations().mend(mended, sentence("")) is mended


def test_a_relation_lies_between_two_nodes() -> None:
    """A relation to a relation goes with it."""
    labels = [None, "see.v.01", "male.n.02", "Agent", "Theme", "Of"]
    nodes = tuple(Node(id, label) for id, label in enumerate(labels))
    edges = (Edge(0, 1, "in"), Edge(0, 2, "in"), Edge(1, 3), Edge(3, 2), Edge(1, 4), Edge(4, 5))
    graph = Graph("1", "drg", "eng", 2, nodes=nodes, edges=edges, tops=(0,))
    assert [node.id for node in WholeRelations().mend(graph, sentence("")).nodes] == [0, 1, 2, 3]


def test_a_name_belongs_to_its_neighbour() -> None:
    nodes = [Node(0, "give-01"), Node(1, "book"), Node(2, "name"), Node(3, "peter", (FLAG,)), Node(4, "i")]
    edges = [Edge(0, 1, "ARG1"), Edge(1, 2, "name"), Edge(2, 3, "op1"), Edge(0, 4, "ARG0")]
    given = penman(restored(nodes, edges, "I gave Peter the book"))
    assert given == '(g / give-01 :ARG1 (b / book) :ARG0 (i / i) :ARG2 (p / person :name (n / name :op1 "Peter")))'
    for text in (
        "I gave the book Peter",
        "I gave the book called Peter",
        "I gave Peter , the book",
        "I gave PETER the book",
    ):
        assert "(b / book :name (n / name :op1" in penman(restored(nodes, edges, text))
    assert penman(restored(nodes, [*edges, Edge(0, 4, "ARG2")], "I gave Peter the book")) == given
    full = restored([*nodes, Node(5, "you")], [*edges, Edge(0, 5, "ARG2")], "I gave Peter the book")
    assert "(b / book :name (n / name :op1" in penman(full)


def test_each_noun_has_a_quantifier() -> None:
    nodes = (Node(0, "_bark_v_1"), Node(1, "_dog_n_1", anchors=(Anchor(0, 4),)), Node(2, "pron"), Node(3, "named"))
    nodes = (*nodes, Node(4, "udef_q"))
    edges = (Edge(0, 1, "ARG1"), Edge(4, 3, "BV"))
    graph = Graph("1", "eds", "eng", 1, nodes=nodes, edges=edges, tops=(0,))
    mended = BoundNouns({"pron": "pronoun_q"}).mend(graph, sentence(""))
    assert [(node.label, node.anchors) for node in mended.nodes[5:]] == [
        ("udef_q", (Anchor(0, 4),)),
        ("pronoun_q", None),
    ]
    assert mended.edges[2:] == (Edge(5, 1, "BV"), Edge(6, 2, "BV"))
    assert BoundNouns().mend(mended, sentence("")) is mended


def test_links_go_with_names() -> None:
    nodes = (Node(0, "meet", (Property("wiki", "X"),)), Node(1, "city", (Property("wiki", "Y"),)), Node(2, "name"))
    graph = Graph("1", "umr", "eng", 2, nodes=nodes, edges=(Edge(0, 1, "ARG0"), Edge(1, 2, "name")), tops=(0,))
    assert sum(rule.rate > 0 and "wiki" in message for rule, message in broken(graph)) == 1
    mended = LinkedNames().mend(graph, sentence(""))
    assert [node.properties for node in mended.nodes] == [(), (Property("wiki", "Y"),), ()]
