from __future__ import annotations

import os
import subprocess
import sys
import warnings
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import pytest

import perin
from perin.commands import main as main_module
from perin.commands.main import VERBS, main
from perin.errors import InputError, ModelError

HEAVY = ("torch", "transformers", "scipy", "numpy", "penman", "jieba", "conllu", "simplemma")


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def test_help_lists_the_verbs():
    done = run("-m", "perin", "--help")
    assert done.returncode == 0
    assert all(f"  {verb} " in done.stdout for verb in VERBS)


def test_warnings_of_python_look_like_ours(monkeypatch, capsys):
    def odd(arguments):
        warnings.simplefilter("always")
        warnings.warn("no font\nwas found", stacklevel=1)
        return 0

    module = SimpleNamespace(__doc__="", configure=lambda parser: None, run=odd)
    monkeypatch.setattr(main_module.importlib, "import_module", lambda name: module)
    shown = warnings.showwarning
    assert main(["draw"]) == 0
    assert capsys.readouterr().err.startswith("perin draw: warning: no font")
    assert warnings.showwarning is shown


def test_version():
    assert run("-m", "perin", "--version").stdout == f"perin {perin.__version__}\n"


def test_no_verb_and_unknown_verb():
    nothing = run("-m", "perin")
    assert nothing.returncode == 2
    assert "verbs:" in nothing.stderr
    unknown = run("-m", "perin", "konvert")
    assert unknown.returncode == 2
    assert "unknown verb 'konvert'; known are: parse" in unknown.stderr
    assert "Traceback" not in unknown.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb):
    done = run("-m", "perin", verb, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: perin {verb}")


def imported(*arguments: str) -> set[str]:
    """The top-level packages that a command line has imported when it ends."""
    code = (
        "import sys; from perin.commands.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    return set(run("-c", code, *arguments).stderr.split())


def test_the_check_below_sees_imports():
    done = run("-c", "import json, sys; print(*sys.modules)")
    assert "json" in done.stdout.split()


@pytest.mark.parametrize(
    "arguments", [["--help"], ["convert", "--list"], *([verb, "--help"] for verb in VERBS)], ids=str
)
def test_no_heavy_package_is_imported_for_help(arguments):
    assert imported(*arguments).isdisjoint(HEAVY[:4])


@pytest.mark.parametrize(("source", "target"), [("x.mrp", "y.eds"), ("x.mrp", "y.dot"), ("x.eds", "y.mrp")])
def test_no_heavy_package_is_imported_to_convert(tmp_path, source, target):
    (tmp_path / "x.mrp").write_text('{"id": "1", "framework": "eds", "nodes": [{"id": 0, "label": "a"}]}\n')
    (tmp_path / "x.eds").write_text("{e0:\n e0:a[]\n}\n")
    modules = imported("convert", str(tmp_path / source), str(tmp_path / target))
    assert (tmp_path / target).exists()
    assert "perin" in modules
    assert modules.isdisjoint(HEAVY)


def test_import_perin_imports_next_to_nothing():
    done = run("-c", "import sys; before = set(sys.modules); import perin; print(*set(sys.modules) - before)")
    ours = {name for name in done.stdout.split() if name.startswith("perin")}
    assert ours == {"perin", "perin.lazy"}


def outcome(monkeypatch, error: BaseException) -> int:
    """The exit code of a verb that fails in this way."""

    def fail(arguments):
        raise error

    verb = SimpleNamespace(__doc__="", configure=lambda parser: None, run=fail)
    monkeypatch.setattr(main_module.importlib, "import_module", lambda name: verb)
    return main(["convert"])


def test_errors_are_one_line_and_code_2(monkeypatch, capsys):
    assert outcome(monkeypatch, InputError("is odd\nand long", source="x.mrp", line=3)) == 2
    assert capsys.readouterr().err == "perin convert: error: x.mrp:3: is odd\\nand long\n"


def test_errors_print_no_escape_codes(monkeypatch, capsys):
    assert outcome(monkeypatch, ModelError("model/\x1b[31mred is missing:\nget it again")) == 2
    assert capsys.readouterr().err == "perin convert: error: model/\\x1b[31mred is missing: get it again\n"


def test_trouble_with_the_system_is_code_2(monkeypatch, capsys):
    assert outcome(monkeypatch, OSError(28, "No space left on device")) == 2
    assert capsys.readouterr().err == "perin convert: error: [Errno 28] No space left on device\n"


def test_a_worker_that_dies_is_code_2(monkeypatch, capsys):
    assert outcome(monkeypatch, BrokenProcessPool("A process was terminated abruptly")) == 2
    assert "has died, perhaps out of memory; try again with --threads 1\n" in capsys.readouterr().err


def test_interruption_is_code_130(monkeypatch, capsys):
    assert outcome(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "perin convert: interrupted\n"


def test_mistakes_of_ours_are_not_hidden(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        outcome(monkeypatch, ZeroDivisionError())


def test_the_installed_command(tmp_path):
    command = os.path.join(os.path.dirname(sys.executable), "perin")
    if not os.path.exists(command):
        pytest.skip("the package is not installed as a command here")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == f"perin {perin.__version__}\n"
