from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import perin.model
from perin.errors import ModelError, UsageError
from perin.parsing.parser import Parser

COMMITS = {"main": "a" * 40, "v2": "b" * 40}
"""The revisions of the stand-in repository, each with a commit."""


class StandIn(http.server.BaseHTTPRequestHandler):
    """Answers what the hub's client asks about one repository, from a folder with a folder for each revision."""

    root: Path
    asked: list[str]

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.asked.append(self.path)
        body, commit = self.answer()
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("ETag", f'"{hashlib.sha1(body or b"").hexdigest()}"')
        self.send_header("X-Repo-Commit", commit)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body or b"")

    def answer(self):
        found = re.match(r"/(api/models/)?org/name/(revision|tree|resolve)/(\w+)/?([^?]*)", self.path)
        if not found or found[3] not in (*COMMITS, *COMMITS.values()):
            return None, ""
        revision = next(name for name, commit in COMMITS.items() if found[3] in (name, commit))
        folder = self.root / revision
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        names = [path.relative_to(folder).as_posix() for path in files]
        if found[2] == "resolve":
            return (folder / found[4]).read_bytes() if found[4] in names else None, COMMITS[revision]
        if found[2] == "tree":
            entries = zip(names, files, strict=True)
            listed = [
                {
                    "type": "file",
                    "path": name,
                    "size": path.stat().st_size,
                    "oid": hashlib.sha1(name.encode()).hexdigest(),
                }
                for name, path in entries
            ]
            return json.dumps(listed).encode(), COMMITS[revision]
        siblings = [{"rfilename": name} for name in names]
        answer = {"id": "org/name", "sha": COMMITS[revision], "siblings": siblings}
        return json.dumps(answer).encode(), COMMITS[revision]

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hub(folder, tmp_path):
    """A hub with one repository; what it returns asks for a model as a process of its own would."""
    for revision in COMMITS:
        shutil.copytree(folder, tmp_path / "repository" / revision)
        (tmp_path / "repository" / revision / "README.md").write_text(revision)
        (tmp_path / "repository" / revision / "malware.py").write_text("")
    handler = type("Handler", (StandIn,), {"root": tmp_path / "repository", "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **os.environ,
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "cache"),
        "HF_HUB_DISABLE_XET": "1",
    }
    environment.pop("HF_HUB_OFFLINE", None)

    def ask(call):
        code = f"from perin.model import *\ntry: print({call})\nexcept ModelError as error: print(error)"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    ask.asked = handler.asked
    ask.close = lambda: (server.shutdown(), server.server_close())
    yield ask
    ask.close()


def test_models_of_the_hub_are_fetched_once_and_then_kept(hub, folder, texts):
    found = Path(hub("model_folder('org/name')"))
    assert (found / "README.md").read_text() == "main"
    assert not (found / "malware.py").exists()
    assert Parser.load(found).parse(texts[0], time="2026-01-01") == Parser.load(folder).parse(
        texts[0], time="2026-01-01"
    )
    second = Path(hub("model_folder('org/name', revision='v2')"))
    assert (second / "README.md").read_text() == "v2"
    hub.close()
    before = len(hub.asked)
    assert hub("model_folder('org/name')") == str(found)
    assert hub("model_folder('org/name', revision='v2', offline=True)") == str(second)
    assert len(hub.asked) == before


def test_what_the_hub_does_not_have(hub):
    missing = hub("model_folder('org/other')")
    assert missing.startswith("the model org/other is no folder here and can't be had from the Hugging Face hub (")
    revision = hub("model_folder('org/name', revision='v9')")
    assert revision.startswith("the model org/name (revision v9) is no folder here and can't be had")
    offline = hub("model_folder('org/name', offline=True)")
    assert offline.startswith("the model org/name is no folder here and is not in the hub's cache (")
    assert "\n" not in missing + revision + offline


@pytest.fixture
def box(tmp_path, monkeypatch):
    monkeypatch.setattr(perin.model, "BOX", tmp_path / "box")
    models = {"eng": ["eds-eng", "amr-eng"], "ptg-eng": ["ptg-eng"], "amr-eng": ["amr-eng"], "ucca": ["ucca-deu"]}
    for name, treebanks in models.items():
        (tmp_path / "box" / name).mkdir(parents=True)
        (tmp_path / "box" / name / "config.json").write_text(json.dumps({"treebanks": dict.fromkeys(treebanks)}))
    (tmp_path / "box" / "README.md").write_text("")
    return tmp_path / "box"


def test_models_in_the_box(box, monkeypatch, tmp_path):
    assert perin.model.bundled() == ["amr-eng", "eng", "ptg-eng", "ucca"]
    assert perin.model.model_folder("eng") == box / "eng"
    assert perin.model.model_folder("deu") == box / "ucca"
    assert (perin.model.spoken_by_name("deu"), perin.model.spoken_by_name("eng")) == ("deu", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eng").mkdir()
    (tmp_path / "eng" / "config.json").touch()
    assert perin.model.model_folder("eng") == Path("eng")


@pytest.mark.parametrize(
    ("framework", "language", "expected"),
    [
        (None, None, "eng"),
        (None, "en", "eng"),
        ("eds", None, "eng"),
        ("amr", None, "amr-eng"),
        ("ptg", "eng", "ptg-eng"),
        ("ucca", "deu", "ucca"),
        (None, "de", "ucca"),
    ],
)
def test_the_model_for_a_framework_and_a_language(box, framework, language, expected):
    assert perin.model.default_model(framework, language) == expected


def test_of_several_models_the_better_one_is_taken(box):
    for name, score in (("deu", 0.7), ("multi", 0.8)):
        (box / name).mkdir()
        notes = {"dev": {"drg-deu": {"all": score}}}
        (box / name / "config.json").write_text(json.dumps({"treebanks": {"drg-deu": None}, "notes": notes}))
    assert perin.model.default_model("drg", "deu") == "multi"
    assert perin.model.default_model(None, "deu") == "deu"


def test_frameworks_and_languages_without_a_model(box):
    with pytest.raises(ModelError, match="no model in the box is for ces; in the box are: amr-eng \\("):
        perin.model.default_model(None, "ces")
    with pytest.raises(ModelError, match="no model in the box is for ucca-eng"):
        perin.model.default_model("ucca", None)
    with pytest.raises(UsageError, match="unknown language"):
        perin.model.default_model(None, "xyz")


def test_the_box_of_this_package():
    for name in perin.model.bundled():
        parser = Parser.load(name)
        for treebank in parser.treebanks.values():
            vocabulary = treebank.vocabulary
            assert parser.parse("It rains.", vocabulary.framework, vocabulary.language).nodes


@pytest.mark.parametrize("language", ["ces", "deu", "eng", "zho"])
def test_the_code_of_a_language_loads_its_model(language):
    parser = Parser.load(language)
    assert {name.rpartition("-")[2] for name in parser.chosen("all")} == {language}


@pytest.mark.parametrize("name", ["missing", "./missing", "../org/name", "/no/such/folder", "a/b/c", "", "~/x"])
def test_names_of_nothing(name):
    with pytest.raises(ModelError, match="there is no folder"):
        perin.model.model_folder(name)


def test_the_folder_of_a_run_is_not_that_of_its_model(folder, tmp_path):
    with pytest.raises(ModelError, match=r"is not the folder of a model: config\.json is missing; in the box are"):
        perin.model.model_folder(tmp_path)
    (tmp_path / "model").symlink_to(folder)
    with pytest.raises(ModelError, match=r"config\.json is missing; did you mean .*/model\?"):
        perin.model.model_folder(tmp_path)


def test_paths(folder):
    assert perin.model.model_folder(folder) == folder
    assert perin.model.model_folder(str(folder)) == folder
