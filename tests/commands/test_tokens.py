from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from perin.commands.main import main

CONLLU = """\
# sent_id = s1
# text = It rains.
1\tIt\tit\t_\t_\t_\t_\t_\t_\t_
2\train\train\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["tokens", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", stream)


def test_text_as_argument(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "Er ging.", "--language", "deu", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "text": "Er ging.",
        "tokens": [
            {"form": "Er", "lemma": "er", "from": 0, "to": 2},
            {"form": "ging", "lemma": "gehen", "from": 3, "to": 7},
            {"form": ".", "lemma": ".", "from": 7, "to": 8},
        ],
    }
    assert list(json.loads(out)) == ["text", "tokens"]


def test_standard_input_one_sentence_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, "It rains.\n\n \nŽádný déšť\n")
    code, out, _ = run(capsys, "--language", "eng", "--json")
    assert code == 0
    assert [json.loads(line)["text"] for line in out.splitlines()] == ["It rains.", "Žádný déšť"]
    assert "Žádný" in out


def test_listing(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(capsys, "<a\tb>Hi!", "Go", "--language", "eng")[1]
        == "0\t5\t<a b>\t<a b>\n5\t7\tHi\thi\n7\t8\t!\t!\n\n0\t2\tGo\tgo\n\n"
    )


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_but_white_space(capsys: pytest.CaptureFixture[str], text: str) -> None:
    code, out, _ = run(capsys, text, "--language", "eng", "--json")
    assert (code, json.loads(out)) == (0, {"text": text, "tokens": []})


def test_empty_input_prints_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, "")
    assert run(capsys, "--language", "eng", "--json") == (0, "", "")


def test_tokens_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.tsv"
    source.write_text("Go\n")
    assert run(capsys, "-i", source, "-o", target, "--language", "eng") == (0, "", "")
    assert target.read_text() == "0\t2\tGo\tgo\n\n"
    code, _, err = run(capsys, "-i", source, "-o", source, "--language", "eng")
    assert (code, source.read_text()) == (2, "Go\n")
    assert "can't be both read and written" in err


def test_running_text_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("Mr. Kim\nleft. Why?\n\nNo", encoding="utf-8")
    _, out, _ = run(capsys, "--input", path, "--layout", "paragraphs", "--language", "eng", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(item["text"], item["from"], item["to"]) for item in found] == [
        ("Mr. Kim\nleft.", 0, 13),
        ("Why?", 14, 18),
        ("No", 20, 22),
    ]
    assert found[1]["tokens"][0] == {"form": "Why", "lemma": "why", "from": 0, "to": 3}
    _, out, _ = run(capsys, "--input", path, "--layout", "paragraphs", "--language", "eng")
    assert run(capsys, "--input", path, "--split", "--language", "eng")[1] == out
    assert "14\t17\tWhy\twhy\n" in out


def test_tokens_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(CONLLU.replace("\train\t", "\trains\t") + "3\t.\t.\t_\t_\t_\t_\t_\t_\t_\n", encoding="utf-8")
    code, out, _ = run(capsys, "--tokens", path, "--json")
    assert code == 0
    assert json.loads(out)["id"] == "s1"
    assert json.loads(out)["tokens"][1] == {"form": "rains", "lemma": "rain", "from": 3, "to": 8}
    _, out, _ = run(capsys, "It  rains .", "--tokens", path, "--json")
    assert [token["from"] for token in json.loads(out)["tokens"]] == [0, 4, 10]
    renamed = path.rename(tmp_path / "tokens")
    assert run(capsys, "--tokens", renamed, "--format", "conllu", "--json")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Hi", "--language", "tlh"], "unknown language 'tlh'; known are: ces, deu, eng, zho"),
        (["Hi", "--language", "eng", "--input", "x"], "text is given as an argument and as a file; give one of them"),
        (["--language", "eng", "--input", "no/such/file"], "no/such/file: no such file"),
        (["a\udcff", "--language", "eng"], "the text is not UTF-8; convert it, or set the locale to a UTF-8 one"),
    ],
)
def test_faults(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run(capsys, *arguments) == (2, "", f"perin tokens: error: {message}\n")


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("Wir haben zum Glück keine Zeit.", "deu", "guessed the language deu; --language sets it"),
        ("Dogs bark at the moon and they will not stop.", "eng", "guessed the language eng; --language sets it"),
        ("Hi", "eng", "guessed the language eng (not sure: too few known words); --language sets it"),
        (
            "Nous ne sommes pas dans une maison.",
            "eng",
            "guessed the language eng (not sure: looks like fra); --language sets it",
        ),
        ("他在大学学习语言学。", "zho", "guessed the language zho; --language sets it"),
    ],
)
def test_the_language_is_guessed(capsys: pytest.CaptureFixture[str], text: str, language: str, said: str) -> None:
    said_so = run(capsys, text, "--language", language)
    assert run(capsys, text) == (0, said_so[1], f"perin tokens: {said}\n")


def test_tokens_of_another_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    code, _, err = run(capsys, "--tokens", path)
    assert code == 2
    assert err.startswith(f"perin tokens: error: {path}:1: graph s1: the tokens are not those of the text")
    path.write_text(CONLLU.replace("rains.", "rain"), encoding="utf-8")
    code, _, err = run(capsys, "It ruins", "--tokens", path)
    assert code == 2
    assert "graph s1" in err
    assert "at character 4 of the text there is 'u' instead of 'a'" in err
    code, _, err = run(capsys, "It rain", "It rain", "--tokens", path)
    assert (code, err) == (2, f"perin tokens: error: {path}: the file has fewer sentences than the text: only 1\n")
    path.write_text((CONLLU.replace("rains.", "rain") + "\n") * 2, encoding="utf-8")
    code, _, err = run(capsys, "It rain", "--tokens", path)
    assert (code, err) == (2, f"perin tokens: error: {path}: the file has more sentences than the text, which has 1\n")


def test_the_verb_starts_without_heavy_packages() -> None:
    heavy = ("torch", "transformers", "numpy", "simplemma", "lemminflect")
    code = f"import sys, perin.commands.tokens; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_name_of_a_file_instead_of_text(capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("It rains.\nGo.\n")
    by_name = run(capsys, tmp_path / "notes.txt", "--language", "eng")
    assert by_name == run(capsys, "-i", tmp_path / "notes.txt", "--language", "eng")
    assert by_name[1].startswith("0\t2\tIt")
    code, out, err = run(capsys, "no-such.txt", "--language", "eng")
    assert (code, err) == (0, "perin tokens: warning: there is no file no-such.txt; it is taken for a sentence\n")
    assert out
