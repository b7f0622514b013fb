"""Hostile files and folders, each with the result that SECURITY.md promises."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from perin.errors import InputError, ModelError
from perin.files import pointed
from perin.graphs import Graph, Node, dump
from perin.learning.run.folder import POINTER, PREFIX, Progress, State

ROOT = Path(__file__).resolve().parents[2]


class Payload:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_the_script_runs_the_installed_program_and_not_files_of_the_current_folder(tmp_path):
    venv = tmp_path / "venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "perin").write_text("#!/bin/sh\necho installed\n")
    (venv / "python").write_text("#!/bin/sh\necho python: $@\n")
    for program in venv.iterdir():
        program.chmod(0o755)
    text = (ROOT / "scripts" / "perin").read_text(encoding="utf-8").replace('environment "$extras"', ":")
    script = tmp_path / "scripts" / "perin"
    script.parent.mkdir()
    script.write_text(text)
    (script.parent / "environment.sh").write_text(f"here={tmp_path} venv={venv.parent}\nenvironment() {{ :; }}\n")
    done = subprocess.run(["bash", script, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "installed\n"


def test_a_child_process_imports_nothing_from_the_current_folder(tmp_path):
    from perin.parsing.benchmark import _CHILD

    (tmp_path / "perin").mkdir()
    (tmp_path / "perin" / "__init__.py").write_text("raise SystemExit('ran a file of the current folder')")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, "{}"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert "ran a file" not in done.stdout + done.stderr


def test_processes_that_share_the_work_import_nothing_from_the_current_folder(tmp_path):
    program = tmp_path / "bin" / "perin"  # as pip installs it
    program.parent.mkdir()
    program.write_text("import sys, perin.commands.main as main\nif __name__ == '__main__':\n sys.exit(main.main())\n")
    for name in ("multiprocessing", "pickle", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran a file of the current folder')")
    graphs = [Graph(each, framework="amr", time="2026-01-01", nodes=(Node(0, "dog"),)) for each in "ab"]
    dump(graphs, tmp_path / "graphs.mrp")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, program, "score", "graphs.mrp", "graphs.mrp", "--threads", "2"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("secret", ["pickle", "code"])
def test_encoders_of_other_families_run_no_code(tmp_path, secret):
    from perin.network.encoders.encoder import HuggingFaceEncoder

    trace = tmp_path / "trace"
    config = {"model_type": "electra", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    if secret == "code":
        config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
        (tmp_path / "evil.py").write_text(f"open({str(trace)!r}, 'w')")
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(trace)))
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="can't be loaded"):
        HuggingFaceEncoder(tmp_path, pretrained=True, dropout=None)
    assert not trace.exists()


@pytest.mark.parametrize(
    "wrong",
    [{"hidden_size": "x"}, {"hidden_size": -1}, {"hidden_size": 10**12}, {"num_attention_heads": 0}, {}],
    ids=str,
)
def test_broken_encoders_of_other_families(tmp_path, wrong):
    from perin.network.encoders.encoder import HuggingFaceEncoder

    config = {"model_type": "electra", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(config | wrong))
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(ModelError, match="can't be loaded"):
        HuggingFaceEncoder(tmp_path, pretrained=not wrong, dropout=None)


@pytest.mark.parametrize("kind", ["bert", "evil"])
def test_tokenizers_of_other_families_run_no_code(tmp_path, kind):
    from perin.network.encoders import load_tokenizer

    trace = tmp_path / "trace"
    (tmp_path / "evil.py").write_text(f"open({str(trace)!r}, 'w')")
    own = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(own))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    with pytest.raises(ModelError, match="can't be loaded"):
        load_tokenizer(tmp_path)
    assert not trace.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"folder": 1}', '{"folder": "../x"}', '{"folder": "/etc"}', "\x00"])
def test_broken_pointers_are_named(tmp_path, text):
    (tmp_path / POINTER).write_text(text)
    with pytest.raises(InputError, match="names a folder beside it"):
        pointed(tmp_path / POINTER)


def test_a_stale_pointer_deletes_no_checkpoint(tmp_path):
    good = tmp_path / f"{PREFIX}00000007-0001"
    good.mkdir()
    (tmp_path / POINTER).write_text(json.dumps({"folder": f"{PREFIX}00000009-0001"}))
    state = State(torch.nn.Linear(1, 1), None, None, {}, Progress())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=f"which is not there; {good.name} is there"):
        state.restore(tmp_path)
    assert good.is_dir()
