from __future__ import annotations

import json

import pytest

MRP = {
    "id": "1",
    "framework": "eds",
    "flavor": 1,
    "input": "Dogs bark.",
    "tops": [1],
    "nodes": [
        {"id": 0, "label": "_dog_n_1", "anchors": [{"from": 0, "to": 4}]},
        {"id": 1, "label": "_bark_v_1", "anchors": [{"from": 5, "to": 9}]},
    ],
    "edges": [{"source": 1, "target": 0, "label": "ARG1"}],
}


def labels(graph: dict) -> list[str]:
    return [node["label"] for node in graph["nodes"]]


def test_a_sentence(served):
    answer = served.parse("Dogs bark.").json()
    assert (answer["model"], answer["language"]) == ("eng", "eng")
    [sentence] = answer["sentences"]
    assert (sentence["id"], sentence["text"]) == ("1", "Dogs bark.")
    [graph] = sentence["graphs"]
    assert graph["framework"] == "eds"
    assert labels(graph) == ["dog", "bark", "."]
    assert "probability" not in graph["nodes"][0]


def test_several_sentences_frameworks_and_probabilities(served):
    answer = served.parse(["One.", "Two two."], frameworks=["ucca", "eds"], probabilities=True).json()
    assert [[graph["framework"] for graph in each["graphs"]] for each in answer["sentences"]] == [["ucca", "eds"]] * 2
    assert answer["sentences"][1]["graphs"][0]["nodes"][0]["probability"] == 0.9
    everything = served.parse("One.", frameworks="all").json()["sentences"][0]["graphs"]
    assert [graph["framework"] for graph in everything] == ["eds", "amr", "ucca"]


def test_running_text_is_split(served):
    answer = served.parse("Dr. Who left. Why?", split=True).json()
    assert [(each["id"], each["text"]) for each in answer["sentences"]] == [("1.1", "Dr. Who left."), ("1.2", "Why?")]


def test_tokens_instead_of_text(served):
    answer = served.client.post("/v1/parse", json={"tokens": [["New York", "sleeps"]], "with_tokens": True}).json()
    [sentence] = answer["sentences"]
    assert sentence["text"] == "New York sleeps"
    ranges = [(token["form"], token["lemma"], token["start"], token["end"]) for token in sentence["tokens"]]
    assert ranges == [("New York", "New York", 0, 8), ("sleeps", "sleep", 9, 15)]


def test_language_chooses_the_model(served):
    assert served.parse("Hunde bellen.", language="deu").json()["model"] == "deu"
    assert served.parse("Hunde bellen.", model="deu").json()["sentences"][0]["graphs"][0]["framework"] == "ucca"


def test_a_model_of_several_languages(serving):
    with serving(models=("eng", "multi")) as served:
        known = served.client.get("/v1/models").json()["models"]
        assert [(each["name"], each["language"], each["frameworks"]) for each in known[1:]] == [
            ("multi", "deu", ["drg"]),
            ("multi", "ces", ["ptg", "umr"]),
        ]
        answer = served.parse("Ahoj.", language="cs", frameworks="all").json()
        assert (answer["model"], answer["language"]) == ("multi", "ces")
        assert [graph["framework"] for graph in answer["sentences"][0]["graphs"]] == ["ptg", "umr"]
        assert {graph["language"] for graph in answer["sentences"][0]["graphs"]} == {"ces"}
        assert served.parse("Ahoj.", frameworks=["UMR"]).json()["language"] == "ces"
        assert served.parse("Hallo.", model="multi").json()["language"] == "deu"
        names = served.client.get("/models").json()["models"]
        assert list(names) == ["eng", "multi-deu", "multi-ces"]
        for name in ("multi-ces", "czech-pdt-ud-2.12"):
            form = {"data": "Ahoj.", "model": name, "output": "mrp", "frameworks": "umr"}
            result = json.loads(served.client.post("/process", data=form).json()["result"])
            assert (result["framework"], result["language"]) == ("umr", "ces")


def test_a_text_in_another_language_is_noticed(served):
    answer = served.parse("Der Hund, den wir gestern sahen, ist nicht hier.").json()
    assert answer["warning"] == "the text looks like deu, but the model is for eng"
    assert "warning" not in served.parse("Der Hund, den wir gestern sahen, ist nicht hier.", language="deu").json()
    assert "warning" not in served.parse(["It is what it is, and that is that.", "OK"]).json()
    assert "warning" not in served.client.post("/v1/parse", json={"tokens": [["Hund"]]}).json()


def test_alternatives(served):
    [sentence] = served.parse("Dogs bark.", alternatives=2).json()["sentences"]
    [graph] = sentence["graphs"]
    assert graph["nodes"][0]["alternatives"] == [["dog-other", 0.1], ["dog-other'", 0.05]]
    assert graph["edges"][0]["alternatives"][0] == ["ARG2", 0.1]
    assert "probability" not in graph["nodes"][0]


@pytest.mark.parametrize(("format", "start"), [("amr", "# ::id 1"), ("svg", "<svg"), ("text", "# 1"), ("tikz", "\\")])
def test_other_formats(served, format, start):
    [graph] = served.parse("Dogs bark", frameworks=["amr"], format=format).json()["sentences"][0]["graphs"]
    assert (graph["framework"], graph["format"]) == ("amr", format)
    assert graph["text"].startswith(start)


@pytest.mark.parametrize("given", ["amr", "AMR", ["amr"], "amr, amr"])
def test_frameworks_in_one_string(served, given):
    [graph] = served.parse("Dogs bark", frameworks=given).json()["sentences"][0]["graphs"]
    assert graph["framework"] == "amr"
    both = served.parse("Dogs bark", frameworks="eds,amr").json()["sentences"][0]["graphs"]
    assert [each["framework"] for each in both] == ["eds", "amr"]


@pytest.mark.parametrize("format", ["amr", "penman"])
def test_a_format_of_one_framework_chooses_it(served, format):
    [graph] = served.parse("Dogs bark", format=format).json()["sentences"][0]["graphs"]
    assert (graph["framework"], graph["format"]) == ("amr", format)


def test_sentences_of_hard_wrapped_text_are_single_lines(served):
    found = served.parse("Dogs\nbark. Cats\r\nsleep.", split=True).json()["sentences"]
    assert [each["text"] for each in found] == ["Dogs bark.", "Cats  sleep."]


def test_one_bad_sentence_does_not_harm_the_others(served):
    answer = served.parse(["Good.", "refuse this", "Good."]).json()["sentences"]
    assert [each.get("error") for each in answer] == [None, "is refused", None]
    assert "graphs" not in answer[1]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "give text or tokens"),
        ({"text": "a", "tokens": [["a"]]}, "give text or tokens"),
        ({"text": "a", "model": "xyz"}, "there is no model 'xyz' here; there are: eng, deu"),
        ({"text": "a", "language": "ces"}, "there are models for: eng, deu"),
        ({"text": "a", "language": "klingon"}, "unknown language 'klingon'"),
        ({"text": "a", "model": "eng", "language": "deu"}, "it has: eds-eng, amr-eng, ucca-eng"),
        ({"text": "a", "frameworks": ["drg"]}, "eng (eng) has eds, amr, ucca; deu (deu) has ucca"),
        ({"text": "a", "model": "deu", "frameworks": ["eds"]}, "deu (deu) has ucca"),
        ({"text": "a", "alternatives": 11}, "alternatives: Input should be less than or equal to 10"),
        ({"text": "a", "format": "eds", "alternatives": 1}, "can't hold probabilities"),
        ({"text": "a", "format": "docx"}, "unknown format 'docx'"),
        ({"text": "a", "format": "amr", "frameworks": "eds"}, "can't hold graphs of eds"),
        ({"text": "a", "format": "sbn"}, "drg: that is not what any model here can parse to"),
        ({"text": "a", "format": "dot", "probabilities": True}, "can't hold probabilities"),
        ({"text": 7}, "text: Input should be a valid string"),
        ({"text": "a", "frameworks": 7}, "frameworks: Input should be a valid"),
        ({"text": "a", "framework": "eds"}, "unknown field 'framework'; known are: text, tokens, split, model"),
    ],
)
def test_nonsense_is_told(served, body, told):
    answer = served.client.post("/v1/parse", json=body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert told in error["message"]
    assert error["request"] == answer.headers["x-request-id"]


def test_streaming_answers_line_by_line(served):
    with served.client.stream("POST", "/v1/parse", json={"text": ["One.", "refuse", "Two."], "stream": True}) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert [(each["id"], each.get("error")) for each in lines] == [("1", None), ("2", "is refused"), ("3", None)]


def test_long_plain_text_is_streamed(served):
    text = "".join(f"Sentence number {number}.\n" for number in range(1, 1001)) + "\nThe last.\n"
    options = {"frameworks": "eds,ucca"}
    answer = served.client.post("/v1/parse", content=text, params=options, headers={"content-type": "text/plain"})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert len(lines) == 1001
    assert [each["id"] for each in lines[:3]] == ["1", "2", "3"]
    assert (lines[-1]["id"], lines[-1]["text"]) == ("1002", "The last.")
    assert [graph["framework"] for graph in lines[-1]["graphs"]] == ["eds", "ucca"]


def test_what_is_wrong_in_plain_text_is_told_in_the_last_line(served):
    headers = {"content-type": "text/plain"}
    lines = served.client.post("/v1/parse", content=b"Good.\n\xff\xfe\n", headers=headers).text.splitlines()
    assert json.loads(lines[-1]) == {"error": "line 2: is not UTF-8"}
    bad = served.client.post("/v1/parse", content=b"Good.\n", params={"formt": "mrp"}, headers=headers)
    assert (bad.status_code, "formt" in bad.text) == (422, True)


def test_models(served):
    known = served.client.get("/v1/models").json()
    assert [model["name"] for model in known["models"]] == ["eng", "deu"]
    assert known["models"][0]["frameworks"] == ["eds", "amr", "ucca"]
    assert {format["name"] for format in known["formats"]} >= {"mrp", "amr", "eds", "ucca", "tikz"}
    assert known["limits"]["sentences"] == 500


def test_convert(served):
    answer = served.client.post("/v1/convert", json={"graphs": MRP, "to": "eds"})
    assert answer.status_code == 200
    assert "_bark_v_1" in answer.text
    back = served.client.post("/v1/convert", json={"graphs": answer.text, "from": "eds", "to": "mrp"})
    assert sorted(labels(json.loads(back.text))) == ["_bark_v_1", "_dog_n_1"]


def test_convert_tells_where_the_input_is_wrong(served):
    answer = served.client.post("/v1/convert", json={"graphs": '{"id": "1"}\nnonsense', "to": "dot"})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("line 2: ")
    half = served.client.post("/v1/convert", json={"graphs": json.dumps({**MRP, "id": "\ud800"}), "to": "dot"})
    assert half.status_code == 422


@pytest.mark.parametrize(("to", "start"), [("svg", b"<svg"), ("html", b"<!DOCTYPE"), ("text", b"# 1")])
def test_draw(served, to, start):
    answer = served.client.post("/v1/draw", json={"graphs": [MRP], "to": to})
    assert answer.content.startswith(start)
    compared = served.client.post("/v1/draw", json={"graphs": [{**MRP, "edges": []}], "to": to, "gold": MRP})
    assert compared.content.startswith(start)
    assert compared.content != answer.content


def test_validate(served):
    good = served.client.post("/v1/validate", json={"graphs": MRP}).json()
    assert (good["graphs"], good["valid"]) == (1, True)
    bad = served.client.post("/v1/validate", json={"graphs": {**MRP, "tops": [7]}}).json()
    assert bad["valid"] is False
    assert [each["message"] for each in bad["findings"] if each["severity"] == "error"] == ["top 7 is no node"]


def test_score(served):
    body = {"gold": MRP, "system": {**MRP, "edges": []}, "details": True}
    answer = served.client.post("/v1/score", json=body).json()
    assert (answer["edges"]["g"], answer["edges"]["s"]) == (1, 0)
    assert 0 < answer["f1"] < 1
    assert served.client.post("/v1/score", json={**body, "metric": "blue"}).status_code == 422


def test_view_has_drawing_words_findings_and_difference(served):
    system = {**MRP, "nodes": [MRP["nodes"][0], {**MRP["nodes"][1], "label": "_purr_v_1"}]}
    gold = json.dumps({**MRP, "input": "Some cats."}) + "\n" + json.dumps({**MRP, "id": "gold"})
    [view] = served.client.post("/v1/view", json={"graphs": system, "gold": gold}).json()["views"]
    assert view["svg"].startswith("<svg")
    assert view["words"] == [["Dogs", 0, 4], ["bark", 5, 9], [".", 9, 10]]
    assert [finding for finding in view["findings"] if finding["severity"] == "error"] == []
    assert view["difference"]["gold"]["id"] == "gold"
    assert view["difference"]["items"]["labels"] == {"missing": [[1, "_bark_v_1"]], "surplus": [[1, "_purr_v_1"]]}
    assert 0 < view["difference"]["f1"] < 1
    broken = {**MRP, "edges": [{"source": 1, "target": 9, "label": "ARG1"}]}
    [view] = served.client.post("/v1/view", json={"graphs": broken}).json()["views"]
    assert "error" in {finding["severity"] for finding in view["findings"]}


def test_openapi_describes_every_body(served):
    paths = served.client.get("/openapi.json").json()["paths"]
    fields = paths["/v1/parse"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert "frameworks" in fields
    assert {"/v1/score", "/v1/convert", "/v1/draw", "/v1/validate", "/process", "/models"} <= set(paths)
    assert "$defs" not in json.dumps(paths)


def test_openapi_describes_answers_and_errors(served):
    paths = served.client.get("/openapi.json").json()["paths"]
    answers = paths["/v1/parse"]["post"]["responses"]
    assert set(answers) == {"200", "401", "408", "413", "415", "422", "429", "500", "503"}
    assert set(answers["200"]["content"]) == {"application/json", "application/x-ndjson"}
    assert set(paths["/v1/parse"]["post"]["requestBody"]["content"]) == {"application/json", "text/plain"}
    assert "image/png" in paths["/v1/draw"]["post"]["responses"]["200"]["content"]
    assert {"data", "output"} <= {field["name"] for field in paths["/process"]["get"]["parameters"]}


def test_options_in_the_address_of_a_json_request_are_no_surprise(served):
    answer = served.client.post("/v1/parse?split=true", json={"text": "Go. Stop."})
    assert answer.status_code == 422
    assert "belong in its body" in answer.json()["error"]["message"]


def test_methods_that_a_path_has(served):
    answer = served.client.delete("/process")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert served.client.get("/v1/parse").headers["allow"] == "POST"


@pytest.mark.parametrize("damage", [{"tops": [9]}, {"edges": [{"source": 0, "target": 9, "label": "ARG1"}]}])
def test_broken_graphs_beside_gold(served, damage):
    """On the page, a graph may be broken while it is edited; a broken gold graph is told."""
    answer = served.client.post("/v1/view", json={"graphs": {**MRP, **damage}, "gold": MRP})
    [view] = answer.json()["views"]
    assert "difference" not in view
    assert view["findings"]
    answer = served.client.post("/v1/view", json={"graphs": MRP, "gold": {**MRP, **damage}})
    assert answer.status_code == 422
    assert "gold: " in answer.json()["error"]["message"]
