"""The service under load, abuse and misfortune."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perin.commands.serve import _keys, configure
from perin.errors import UsageError
from perin.serving.service import Settings

JSON = {"content-type": "application/json"}
HERE = str(Path(__file__).parent)
SOURCE = str(Path(__file__).parents[2] / "src")


def test_requests_that_come_together_are_parsed_together(served, tmp_path, wait_for):
    go = tmp_path / "go"
    with ThreadPoolExecutor(17) as threads:
        slow = threads.submit(served.parse, f"wait-for {go}")
        wait_for(lambda: served.service.active == 1 and not served.service.parsers.waiting)
        others = [threads.submit(served.parse, f"Sentence {number}.") for number in range(16)]
        wait_for(lambda: served.service.parsers.waiting == 16)
        go.touch()
        assert slow.result().status_code == 200
        sentences = [answer.result().json()["sentences"][0] for answer in others]
    assert [sentence["graphs"][0]["together"] for sentence in sentences] == [16] * 16
    assert [sentence["text"] for sentence in sentences] == [f"Sentence {number}." for number in range(16)]


def test_probes_and_metrics(served):
    assert served.client.get("/live").json() == {"status": "live"}
    assert served.client.get("/ready").json() == {"status": "ready"}
    served.parse(["One.", "Two."])
    text = served.client.get("/metrics").text
    assert re.search(r'perin_requests_total\{route="/v1/parse",status="200"\} \d', text)
    assert re.search(r'perin_sentences_total\{model="eng"\} \d', text)
    assert "perin_workers_ready 1.0" in text
    served.client.get("/some/path/of/a/stranger")
    assert "stranger" not in served.client.get("/metrics").text


def test_headers_that_keep_browsers_from_mischief(served):
    for path in ("/", "/v1/models", "/nowhere"):
        headers = served.client.get(path, headers={"origin": "http://other.example"}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_request_ids(served):
    assert served.client.get("/live", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    odd = served.client.get("/live", headers={"x-request-id": 'a"b\u00e9'.encode()}).headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", odd)


def test_a_mistake_of_ours_tells_nothing(served):
    answer = served.parse("a bug here")
    assert answer.status_code == 500
    assert not re.search(r"Zero|Traceback|\.py|/", answer.json()["error"]["message"])
    assert served.parse("Fine.").status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 422),
        (b"{", "application/json", 422),
        (b'{"text": "\xff"}', "application/json", 422),
        (b'{"text": "\\ud800"}', "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b'{"text": ' + b"9" * 10_000 + b"}", "application/json", 422),
        (b'{"text": "a"}', "text/html", 415),
        (b'{"text": "a"}', "", 415),
        (b" " * (2**20 + 1), "application/json", 413),
    ],
    ids=range(9),
)
def test_malformed_bodies(served, body, kind, status):
    answer = served.client.post("/v1/parse", content=body, headers={"content-type": kind})
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


def test_other_paths_and_methods(served):
    assert served.client.get("/v1/nothing").status_code == 404
    assert served.client.get("/v1/parse").status_code == 405
    assert served.client.get("/page/..%2fapp.py").status_code == 404


def raw(served, data: bytes) -> bytes:
    """What comes back for these bytes, until the service closes the connection."""
    with served.connect() as connection:
        connection.sendall(data)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                received += chunk
        return received


def test_ten_thousand_headers(served):
    headers = b"".join(b"X-Header-%d: some value\r\n" % number for number in range(10_000))
    with served.connect() as connection:
        try:
            connection.sendall(b"GET /live HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n")
            received = connection.recv(1000)
        except ConnectionError:
            received = b"HTTP/1.1 400"
    assert received.startswith(b"HTTP/1.1 4")
    assert served.client.get("/live").status_code == 200


def test_many_small_headers(served):
    headers = b"".join(b"X-%d: y\r\n" % number for number in range(1000))
    assert raw(served, b"GET /live HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n").startswith(b"HTTP/1.1 431 ")


def test_no_http_at_all(served):
    assert raw(served, b"\x16\x03\x01 nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_slow_headers_and_slow_bodies_are_given_up(served):
    with ThreadPoolExecutor(3) as threads:
        nothing = threads.submit(raw, served, b"")
        half = threads.submit(raw, served, b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-")
        head = b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        body = threads.submit(raw, served, head + b'{"text"')
        assert nothing.result() == b""
        assert half.result() == b""
        assert body.result().startswith(b"HTTP/1.1 408")


def test_a_cut_request_harms_nobody(served):
    for _ in range(5):
        with served.connect() as connection:
            connection.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
            connection.sendall(b'Content-Length: 100\r\n\r\n{"text": "sl')
    assert served.parse("Fine.").status_code == 200


def test_bodies_without_a_length_are_counted_too(served):
    def pieces():
        yield b'{"text": "'
        for _ in range(40):
            yield b"a" * 2**15

    answer = served.client.post("/v1/parse", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["parse", "score", "convert", "draw", "validate", "view"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["text", "graphs", "from", "to", "gold", "system", "format", "nodes", "edges", "id", "tops"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
)
def test_any_json_gets_a_clean_answer(served, name, body):
    answer = served.client.post(f"/v1/{name}", content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code in (200, 422), answer.text
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["/v1/parse", "/process", "/v1/draw"]),
    st.binary(max_size=200),
    st.sampled_from(
        [
            "application/json",
            "text/plain",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
            "\u00ff",
        ]
    ),
)
def test_any_bytes_get_a_clean_answer(served, path, body, kind):
    answer = served.client.post(path, content=body, headers={"content-type": kind.encode("latin-1")})
    assert answer.status_code in (200, 400, 415, 422), answer.text


def test_limits(serving, tmp_path, wait_for):
    go = tmp_path / "go"
    with serving(max_sentences=3, max_words=20, max_requests=2) as served:
        assert served.parse(["a"] * 3).status_code == 200
        assert served.parse(["a"] * 4).status_code == 413
        assert served.parse("a " * 21).status_code == 413
        assert served.parse("\u4e00" * 50).status_code == 413
        assert (
            served.client.post("/process", data={"data": "One. Two. Three. Four.", "tokenizer": ""}).status_code == 413
        )
        with ThreadPoolExecutor(2) as threads:
            begun = [threads.submit(served.parse, f"wait-for {go}") for _ in range(2)]
            wait_for(lambda: served.service.active == 2)
            turned_away = served.parse("Fine.")
            go.touch()
            assert [answer.result().status_code for answer in begun] == [200, 200]
        assert turned_away.status_code == 429
        assert int(turned_away.headers["retry-after"]) >= 1
        assert served.parse("Fine.").status_code == 200


def test_keys_and_origins(serving):
    with serving(keys=frozenset(["secret", "other"]), origins=("http://page.example",)) as served:
        assert served.parse("Fine.").status_code == 401
        assert served.client.get("/v1/models").headers["www-authenticate"] == "Bearer"
        assert served.client.get("/metrics").status_code == 401
        assert served.client.get("/models", headers={"authorization": "Bearer secre"}).status_code == 401
        assert served.client.get("/models", headers={"authorization": "Basic secret"}).status_code == 401
        assert [served.client.get(path).status_code for path in ("/", "/live", "/ready", "/page/page.js")] == [200] * 4
        served.client.headers["authorization"] = "Bearer other"
        answer = served.client.post("/v1/parse", json={"text": "Fine."}, headers={"origin": "http://page.example"})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "http://page.example"
        other = served.client.get("/models", headers={"origin": "http://evil.example"})
        assert "access-control-allow-origin" not in other.headers


def test_a_worker_that_dies_is_replaced_and_the_request_tried_again(served, tmp_path, wait_for):
    before = served.service.parsers.pids()
    answer = served.parse(["Fine.", f"die-once {tmp_path / 'died'}", "Fine."])
    assert answer.status_code == 200
    assert [len(each["graphs"]) for each in answer.json()["sentences"]] == [1, 1, 1]
    wait_for(lambda: served.service.parsers.alive)
    assert set(served.service.parsers.pids()).isdisjoint(before)


def test_a_worker_killed_in_the_middle_is_replaced_and_the_request_tried_again(served, tmp_path, wait_for):
    go = tmp_path / "go"
    wait_for(lambda: served.service.ready)
    with ThreadPoolExecutor(2) as threads:
        begun = threads.submit(served.parse, f"wait-for {go}")
        wait_for(lambda: served.service.active == 1 and not served.service.parsers.waiting)
        [pid] = served.service.parsers.pids()
        os.kill(pid, signal.SIGKILL)
        other = threads.submit(served.parse, "Fine.")
        go.touch()
        assert [begun.result().status_code, other.result().status_code] == [200, 200]


def test_a_sentence_that_kills_gets_503_and_takes_nobody_with_it(served):
    with ThreadPoolExecutor(3) as threads:
        deadly, *others = threads.map(served.parse, ["die now", "Fine.", "Fine."])
    assert deadly.status_code == 503
    assert deadly.headers["retry-after"]
    assert [answer.status_code for answer in others] == [200, 200]


def test_an_idle_worker_that_is_killed_is_replaced(served, wait_for):
    wait_for(lambda: served.service.ready)
    [pid] = served.service.parsers.pids()
    os.kill(pid, signal.SIGKILL)
    assert served.parse("Fine.").status_code == 200
    [tool] = served.service.tools.pids()
    os.kill(tool, signal.SIGKILL)
    assert served.client.post("/v1/validate", json={"graphs": ""}).status_code == 200


def test_what_takes_too_long_is_given_up(serving, wait_for):
    with serving(seconds=1.0) as served:
        assert served.parse("wait-for /no/such/file").status_code == 503
        wait_for(lambda: served.parse("Fine.").status_code == 200)


def test_memory_is_freed_when_a_reader_goes_away(served, wait_for):
    text = "A sentence.\n" * 20_000
    headers = {"content-type": "text/plain"}
    with served.client.stream("POST", "/v1/parse", content=text, headers=headers) as answer:
        next(answer.iter_lines())
        assert served.service.parsers.waiting <= 64
    wait_for(lambda: served.service.active == 0)
    assert served.service.parsers.waiting <= 64


def start(tmp_path: Path, *arguments: str) -> tuple[subprocess.Popen[str], list[str]]:
    """``perin serve`` with the fake parser, in a process of its own; its lines as they come."""
    code = (
        "import sys, dataclasses; sys.path.append(sys.argv.pop(1))\n"
        "import perin.serving.service as s\n"
        "defaults = list(s.Settings.__init__.__defaults__); defaults[-1] = 'fake_parser:load'\n"
        "s.Settings.__init__.__defaults__ = tuple(defaults)\n"
        "from perin.commands.main import main\n"
        "if __name__ == '__main__': sys.exit(main(['serve', *sys.argv[1:]]))\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    process = subprocess.Popen(
        [sys.executable, str(script), HERE, "--port", "0", "--workers", "1", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    lines: list[str] = []

    def read() -> None:
        with process.stderr:
            lines.extend(iter(process.stderr.readline, ""))

    threading.Thread(target=read, daemon=True).start()
    return process, lines


def test_draining_on_sigterm(tmp_path, wait_for):
    process, lines = start(tmp_path, "--models", "eng")
    try:
        wait_for(lambda: any("ready at" in line for line in lines))
        url = re.search(r"http://[\d.:]+", "".join(lines))[0]
        with ThreadPoolExecutor(1) as threads:
            body = {"text": f"wait-for {tmp_path / 'go'}"}
            begun = threads.submit(httpx.post, f"{url}/v1/parse", json=body, timeout=120, trust_env=False)
            counters = partial(httpx.get, f"{url}/metrics", trust_env=False)
            wait_for(lambda: "perin_requests_active 1.0" in counters().text)
            process.send_signal(signal.SIGTERM)
            (tmp_path / "go").touch()
            assert begun.result().status_code == 200
        assert process.wait(120) == 0
        entry = json.loads(next(line for line in lines if "/v1/parse" in line))
        assert (entry["status"], entry["sentences"], entry["method"]) == (200, 1, "POST")
        assert "wait-for" not in "".join(lines)
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process's memory")
def test_abuse_leaves_memory_flat(tmp_path, wait_for):
    """Oversize bodies, with and without a length, ten thousand headers, and requests that are cut."""
    process, lines = start(tmp_path, "--models", "eng")

    def megabytes() -> float:
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024

    def pieces():
        for _ in range(64):
            yield b"a" * 2**16

    def abuse(times: int) -> None:
        for _ in range(times):
            for content in (b"a" * 2**22, pieces()):
                with contextlib.suppress(httpx.TransportError):  # cut off while sending: as good as an answer
                    assert client.post("/v1/parse", content=content, headers=JSON).status_code == 413
            with socket.create_connection((host, int(port))) as connection, contextlib.suppress(ConnectionError):
                connection.sendall(b"GET /live HTTP/1.1\r\nHost: x\r\n" + b"X-Header: some value\r\n" * 10_000)
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(
                    b"POST /v1/parse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"a" * 50_000
                )

    try:
        wait_for(lambda: any("ready at" in line for line in lines))
        host, port = re.search(r"http://([\d.]+):(\d+)", "".join(lines)).groups()
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=120, trust_env=False) as client:
            abuse(5)
            before = megabytes()
            abuse(15)
            assert megabytes() < before + 30  # fifteen times eight megabytes were sent
            assert client.get("/ready").status_code == 200
    finally:
        process.kill()
        process.wait()


def test_a_model_that_is_not_there_ends_the_service_with_a_word(tmp_path, wait_for):
    process, lines = start(tmp_path, "--models", "nosuch")
    try:
        assert process.wait(120) == 2
        wait_for(lambda: lines)
        assert "perin serve: error: there is no folder nosuch" in "".join(lines)
        assert "Traceback" not in "".join(lines)
    finally:
        process.kill()
        process.wait()


def test_the_defaults_of_the_command_are_those_of_the_settings():
    parser = argparse.ArgumentParser()
    configure(parser)
    given = vars(parser.parse_args([]))
    for name in (
        "host",
        "port",
        "max_body",
        "max_stream",
        "max_sentences",
        "max_words",
        "longest",
        "max_requests",
        "drain",
    ):
        assert given[name] == getattr(Settings, name), name
    with pytest.raises(UsageError):
        _keys("/nowhere/keys")
