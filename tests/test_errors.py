from __future__ import annotations

import copy
import pickle
import sys

import pytest

from perin.errors import InputError, MissingDependencyError, ModelError, PerinError, UsageError, place, strict
from perin.graphs import Finding, Tolerant


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ((None, None, None), ""),
        (("a.mrp", None, None), "a.mrp: "),
        (("a.mrp", 3, None), "a.mrp:3: "),
        (("a.mrp", 3, "x"), "a.mrp:3: graph x: "),
        ((None, 3, "x"), "line 3: graph x: "),
        ((None, None, "x"), "graph x: "),
    ],
)
def test_place(where, expected):
    assert place(*where) == expected


def test_messages_fit_on_a_line_and_say_the_remedy(monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    error = InputError("is empty", source="a.mrp", line=1, graph="7")
    assert str(error) == "a.mrp:1: graph 7: is empty"
    missing = str(MissingDependencyError("cairosvg", "drawing PDF", "pdf"))
    assert "\n" not in missing
    assert missing.endswith("run: pip install 'perin[pdf]'")
    assert str(MissingDependencyError("x", "y")).endswith("pip install 'x'")


def test_the_remedy_is_for_the_environment_that_runs(monkeypatch):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix + "/.venv")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert str(MissingDependencyError("x", "y", "z")).endswith(f"run: {sys.executable} -m pip install 'perin[z]'")


def test_what_a_message_quotes_does_not_break_the_line():
    error = InputError("label 'a\nb\x1b[31m'", graph="1\r2")
    assert str(error) == r"graph 1\r2: label 'a\nb\x1b[31m'"
    assert str(Finding("a\u2028b", "ä.mrp")) == r"ä.mrp: a\u2028b"


def test_all_errors_are_perin_errors():
    assert all(issubclass(kind, PerinError) for kind in (InputError, UsageError, MissingDependencyError, ModelError))


@pytest.mark.parametrize("error", [InputError("m", source="s", line=2), MissingDependencyError("p", "q", "r")])
def test_errors_survive_being_sent_to_another_process(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_strict_raises_errors_and_lets_notes_pass():
    strict(Finding("fine", severity="note"))
    with pytest.raises(InputError) as caught:
        strict(Finding("bad", "a.mrp", 4, "g"))
    assert (caught.value.message, caught.value.source, caught.value.line, caught.value.graph) == (
        "bad",
        "a.mrp",
        4,
        "g",
    )


def test_tolerant_collects():
    tolerant = Tolerant()
    tolerant(Finding("one"))
    tolerant(Finding("two", severity="note"))
    assert [str(finding) for finding in tolerant.findings] == ["one", "note: two"]
