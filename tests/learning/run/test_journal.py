"""The log of a run: whole lines, resumable, readable."""

import io
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perin.errors import InputError
from perin.learning.run.journal import Journal, LiveLine, duration, laid_out, numbers, read_journal


def test_entries_are_read_back(tmp_path):
    journal = Journal(tmp_path)
    journal.write("step", step=1, losses={"eds-eng": {"labels": 0.5}})
    journal.write("evaluation", step=2, mean=0.25)
    journal.close()
    entries = read_journal(tmp_path / "log.jsonl")
    assert [entry["event"] for entry in entries] == ["step", "evaluation"]
    assert dict(numbers(entries[0]))["losses/eds-eng/labels"] == 0.5


def test_going_on_drops_what_is_done_again(tmp_path):
    journal = Journal(tmp_path)
    for step in (1, 2, 3):
        journal.write("step", step=step)
    journal.close()
    with (tmp_path / "log.jsonl").open("a") as stream:
        stream.write('{"event": "st')
    journal = Journal(tmp_path, resumed=2)
    journal.write("step", step=3)
    journal.close()
    assert [entry["step"] for entry in read_journal(tmp_path / "log.jsonl")] == [1, 2, 3]


def test_damage_in_the_middle_is_an_error(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"event": 1}\n{"ev\n{"event": 2}\n')
    with pytest.raises(InputError, match="jsonl:2"):
        read_journal(tmp_path / "log.jsonl")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_live_line_is_written_over_on_a_terminal_only():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        line = LiveLine(stream, every=0.0)
        line.show("first")
        line.say("stays")
        line.end()
    assert terminal.getvalue() == "first\r\x1b[Jstays\n"
    assert file.getvalue() == "first\nstays\n"


def test_a_long_live_line_takes_as_many_lines_as_it_needs_and_gives_them_back(monkeypatch):
    monkeypatch.setenv("COLUMNS", "21")
    terminal = Terminal()
    line = LiveLine(terminal)
    line.every = 0.0
    line.show("epoch 1  step 3/70  labels 0.81  anchors 0.5")
    line.show("epoch 2")
    line.end()
    assert terminal.getvalue() == ("epoch 1  step 3/70\nlabels 0.81\nanchors 0.5\r\x1b[2A\x1b[Jepoch 2\n")


@given(st.lists(st.text("abc ", min_size=1, max_size=30).map(str.strip), min_size=1), st.integers(10, 120))
def test_laid_out_lines_fit_and_lose_nothing_that_fits(parts, width):
    parts = [" ".join(part.split()) for part in parts]
    lines = laid_out("  ".join(parts), width)
    assert all(len(line) <= width for line in lines)
    assert "  ".join(lines) == "  ".join(part[:width] for part in parts)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.4, "59s"), (60, "1m00s"), (3599.9, "1h00m"), (9000, "2h30m")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_services_get_the_numbers_of_each_entry(tmp_path, monkeypatch):
    """Stand-ins for the packages, which are not installed for tests."""
    seen: list[tuple[object, ...]] = []

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            seen.append((folder, purge_step))

        def add_scalar(self, *arguments):
            seen.append(arguments)

        def flush(self):
            seen.append(("flush",))

    run = SimpleNamespace(log=lambda numbers, step: seen.append((numbers["losses/eds-eng/tops"], step)))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=SummaryWriter))
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **options: run))
    journal = Journal(tmp_path, resumed=6, services=("tensorboard", "wandb"))
    journal.write("step", step=7, losses={"eds-eng": {"tops": 0.5}})
    journal.close()
    folder = str(tmp_path / "tensorboard")
    assert seen == [(folder, 7), ("losses/eds-eng/tops", 0.5, 7), ("flush",), (0.5, 7)]
