"""The log of a run: whole lines, resumable, readable."""

import io

import pytest

from perin.errors import InputError
from perin.learning.journal import Journal, LiveLine, duration, numbers, read_journal


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


def test_a_live_line_is_written_over_on_a_terminal_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        line = LiveLine(stream, every=0.0)
        line.show("first")
        line.say("stays")
    assert terminal.getvalue() == "\r\x1b[Kfirst\r\x1b[Kstays\n"
    assert file.getvalue() == "first\nstays\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.4, "59s"), (60, "1m00s"), (3599.9, "1h00m"), (9000, "2h30m")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
