"""The log of a run: whole lines, resumable, readable."""

import io
import sys
from types import SimpleNamespace

import pytest

from perin.errors import InputError
from perin.learning.run.journal import Console, Journal, duration, numbers, read_journal


def test_entries_are_read_back(tmp_path):
    journal = Journal(tmp_path)
    journal.write("step", step=1, losses={"eds-eng": {"labels": 0.5}})
    journal.write("evaluation", step=2, mean=0.25)
    journal.close()
    entries = read_journal(tmp_path / "log.jsonl")
    assert [entry["event"] for entry in entries] == ["step", "evaluation"]
    assert dict(numbers(entries[0]))["losses/eds-eng/labels"] == 0.5


def test_resuming_drops_what_is_done_again(tmp_path):
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


@pytest.mark.parametrize(
    "line", ['{"ev', "[]", "7", '{"event": 7}', '{"event": "step", "step": "3"}', "[" * 100_000, "{}"]
)
def test_damage_in_the_middle_is_an_error(tmp_path, line):
    (tmp_path / "log.jsonl").write_text(f'{{"event": "step"}}\n{line}\n{{"event": "step"}}\n')
    with pytest.raises(InputError, match="jsonl:2"):
        read_journal(tmp_path / "log.jsonl")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_and_messages_above_it():
    terminal = Terminal()
    console = Console(terminal)
    console.show(3, 70, "epoch 1/2")
    console.say("stays")
    console.end()
    assert "| 3/70 [" in terminal.getvalue()
    assert "epoch 1/2" in terminal.getvalue()
    assert "\rstays\n" in terminal.getvalue().replace(" ", "")


def test_a_file_gets_a_line_now_and_then():
    often, seldom = io.StringIO(), io.StringIO()
    for stream, every in ((often, 0.0), (seldom, 1e9)):
        console = Console(stream, every=every)
        console.show(3, 70, "epoch 1/2")
        console.show(4, 70, "epoch 1/2")
        console.say("stays")
        console.end()
    assert often.getvalue() == "step 3/70  epoch 1/2\nstep 4/70  epoch 1/2\nstays\n"
    assert seldom.getvalue() == "step 3/70  epoch 1/2\nstays\n"


def test_numbers_that_json_lacks_are_null(tmp_path):
    journal = Journal(tmp_path)
    journal.write("step", step=1, losses={"eds-eng": {"labels": float("nan"), "edges": float("inf"), "tops": 1.0}})
    journal.close()
    [entry] = read_journal(tmp_path / "log.jsonl")
    assert entry["losses"] == {"eds-eng": {"labels": None, "edges": None, "tops": 1.0}}
    assert "losses/eds-eng/labels" not in dict(numbers(entry))


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
