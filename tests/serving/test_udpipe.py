"""A client written for UDPipe's service, in the manner of udpipe2_client.py, against ours."""

from __future__ import annotations

import email.mime.multipart
import email.mime.nonmultipart
import email.policy
import json
import urllib.error
import urllib.parse
import urllib.request

import pytest


def ask(server: str, method: str, parameters: dict[str, str] | None = None) -> dict:
    """As UDPipe's own client does it: a form of parts in eight bits."""
    headers, data = {}, None
    if parameters:
        message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
        for name, value in parameters.items():
            payload = email.mime.nonmultipart.MIMENonMultipart("text", "plain")
            payload.add_header("Content-Disposition", f'form-data; name="{name}"')
            payload.add_header("Content-Transfer-Encoding", "8bit")
            payload.set_payload(value, charset="utf-8")
            message.attach(payload)
        data = message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1]
        headers = {"Content-Type": message["Content-Type"]}
    request = urllib.request.Request(f"{server}/{method}", headers=headers, data=data)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
        return json.loads(answer.read())


def test_models(served):
    answer = ask(served.url, "models")
    assert answer["default_model"] == "eng"
    assert answer["models"]["deu"] == ["tokenizer", "tagger", "parser"]


def test_text_to_conllu(served):
    data = "Die Hündin schläft. Mäuse tanzen!"
    options = {"data": data, "model": "german-gsd", "tokenizer": "", "tagger": "", "parser": ""}
    answer = ask(served.url, "process", options)
    assert answer["model"] == "deu"
    blocks = answer["result"].strip().split("\n\n")
    assert len(blocks) == 2
    rows = [line.split("\t") for line in blocks[0].splitlines() if not line.startswith("#")]
    assert [row[:2] for row in rows] == [["1", "Die"], ["2", "Hündin"], ["3", "schläft"], ["4", "."]]
    assert {len(row) for row in rows} == {10}
    assert rows[2][9] == "SpaceAfter=No|TokenRange=11:18"
    comments = dict(line[2:].split(" = ", 1) for line in blocks[0].splitlines() if line.startswith("#"))
    assert comments["text"] == "Die Hündin schläft."
    assert json.loads(comments["mrp_ucca"])["framework"] == "ucca"


def test_without_parser_there_are_no_graphs(served):
    assert "mrp" not in ask(served.url, "process", {"data": "Dogs bark.", "tokenizer": ""})["result"]


@pytest.mark.parametrize("input", ["horizontal", "vertical", "conllu"])
def test_tokens(served, input):
    rows = "".join(f"{number}\t{form}" + "\t_" * 8 + "\n" for number, form in enumerate(("Dogs", "bark"), start=1))
    data = {"horizontal": "Dogs bark\n", "vertical": "Dogs\nbark\n", "conllu": rows + "\n"}[input]
    answer = ask(served.url, "process", {"data": data * 2 if input == "horizontal" else data, "input": input})
    forms = [line.split("\t")[1:3] for line in answer["result"].splitlines() if "\t" in line]
    assert forms[:2] == [["Dogs", "dog"], ["bark", "bark"]]


@pytest.mark.parametrize(
    ("output", "expected"),
    [("horizontal", "Dogs bark .\n"), ("vertical", "Dogs\nbark\n.\n\n"), ("plaintext", "Dogs bark.\n")],
)
def test_outputs(served, output, expected):
    assert ask(served.url, "process", {"data": "Dogs bark.", "tokenizer": "", "output": output})["result"] == expected


def test_graphs_as_output_and_forms_sent_otherwise(served):
    query = urllib.parse.urlencode({"data": "Dogs bark.", "output": "mrp", "frameworks": "eds,ucca"})
    graphs = [json.loads(line) for line in ask(served.url, f"process?{query}")["result"].splitlines()]
    assert [graph["framework"] for graph in graphs] == ["eds", "ucca"]
    posted = served.client.post("/process", data={"data": "Dogs bark.", "output": "mrp"}).json()["result"]
    assert json.loads(posted)["nodes"] == graphs[0]["nodes"]


@pytest.mark.parametrize(
    "options",
    [{"input": "horizontal"}, {"data": "a", "input": "odd"}, {"data": "a", "output": "odd"}, {"data": "refuse"}],
)
def test_errors_are_text(served, options):
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(served.url, "process", options)
    assert error.value.code == 400
    assert len(error.value.read().decode().splitlines()) == 1
