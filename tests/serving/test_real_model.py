"""One request through the whole house: HTTP, worker process, network, graph."""

from __future__ import annotations

from perin.graphs import findings, loads
from perin.serving.service import LOADER


def test_the_english_model(serving):
    with serving(models=("eng",), loader=LOADER) as served:
        answer = served.parse(["Dogs bark.", "The dog wants to sleep."], frameworks="all", probabilities=True)
        assert answer.status_code == 200
        first, second = answer.json()["sentences"]
        names = [graph["framework"] for graph in first["graphs"]]
        known = served.client.get("/v1/models").json()["models"][0]["frameworks"]
        assert names == known
        assert {"eds", "amr", "ucca", "ptg", "drg"} <= set(names)
        assert all(0 < node["probability"] <= 1 for node in second["graphs"][0]["nodes"])
        text = served.client.post("/v1/convert", json={"graphs": second["graphs"], "to": "mrp"}).text
        graphs = loads(text)
        assert not [each for graph in graphs for each in findings(graph) if "is no" in each.message]
