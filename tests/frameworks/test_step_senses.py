from perin.frameworks.steps import SensesAsProperties
from perin.graphs.graph import Graph, Node, Property

STEP = SensesAsProperties()


def test_senses_are_parted_from_labels_and_come_back():
    labels = ["jít-021", "řídit-se-001", "but-91", "-", "#Forn", "1994-95", "covid-1", "-88", None]
    graph = Graph("1", nodes=tuple(Node(id, label) for id, label in enumerate(labels)))
    parted = STEP.encode(graph)
    assert [node.label for node in parted.nodes[:4]] == ["jít", "řídit-se", "but", "-"]
    assert [node.get("sense") for node in parted.nodes] == ["021", "001", "91", None, None, None, None, None, None]
    assert STEP.decode(parted) == graph


def test_a_sense_without_a_label_is_dropped():
    assert STEP.decode(Graph("1", nodes=(Node(0, None, (Property("sense", "01"),)),))).nodes == (Node(0),)
