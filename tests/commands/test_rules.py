"""``perin rules`` on small treebanks of our own."""

import json

import pytest

from perin.commands.main import main
from perin.frameworks.learn import frequent_rules
from perin.graphs import Anchor, Edge, Graph, Node, Property, dump
from perin.labels import LabelItem, LearnedRules, RuleSet, RuleSpace, parse

KEYS = {"sentences", "nodes", "labels", "candidates", "rules", "lower_bound", "optimal", "seconds", "peak_mb"}
DOGS = [
    ("Dogs bark", "_dog_n_1", "_bark_v_1"),
    ("Cats purr", "_cat_n_1", "_purr_v_1"),
    ("Birds sing", "_bird_n_1", "_sing_v_1"),
]


def graph(id, text, noun, verb, framework="eds"):
    border = text.index(" ")
    return Graph(
        id,
        framework,
        "eng",
        1,
        input=text,
        tops=(1,),
        nodes=(
            Node(0, noun, (Property("NUM", "pl"),), (Anchor(0, border),)),
            Node(1, verb, (), (Anchor(border + 1, len(text)),)),
        ),
        edges=(Edge(1, 0, "ARG1"),),
    )


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.mrp"
    dump([graph(str(number), *sentence) for number, sentence in enumerate(DOGS)], path)
    return path


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "train.conllu"
    with path.open("w") as stream:
        for number, (text, noun, verb) in enumerate(DOGS):
            words = [
                f"{n}\t{form}\t{label.split('_')[1]}"
                for n, (form, label) in enumerate(zip(text.split(), (noun, verb), strict=True), 1)
            ]
            lines = [word + "\t_" * 7 for word in words]
            stream.write(f"# sent_id = {number}\n# text = {text}\n" + "\n".join(lines) + "\n\n")
    return path


def test_json(treebank, tokens, capsys):
    assert main(["rules", "--json", "--tokens", str(tokens), str(treebank)]) == 0
    output = capsys.readouterr()
    report = json.loads(output.out)
    assert report.keys() >= KEYS
    assert [report[key] for key in ("sentences", "nodes", "labels", "rules", "lower_bound")] == [3, 9, 7, 3, 3]
    assert report["optimal"] is True
    assert report["seconds"] >= 0
    assert report["peak_mb"] > 1
    assert report["coverage"] is None
    assert {item["rule"]: item["nodes"] for item in report["frequent"]} == {
        'lemma(0, 0, "", 0, 0, "_", "_n_1")': 3,
        'token(0, 0, "", 0, 0, "_", "_v_1")': 3,
        'absolute("pl")': 3,
    }
    assert output.err == ""


def test_report(treebank, capsys):
    assert main(["rules", str(treebank), "--coverage", str(treebank)]) == 0
    output = capsys.readouterr().out
    assert "3 sentences, 9 nodes, 7 labels" in output
    assert "needed: minimal" in output
    assert "labels of 9 other nodes: 100.00% by rules (100.00% with case), 100.00% by a list of labels" in output
    assert "Dogs > _dog_n_1" in output


def test_a_rule_is_a_line_whatever_its_label(tmp_path, capsys):
    dump([graph("1", "Dogs bark", "a\x00\nb", "c\x1bd")], tmp_path / "odd.mrp")
    assert main(["rules", str(tmp_path / "odd.mrp")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert any(line.endswith(r"Dogs > a\x00\nb") for line in lines)
    assert all(line.isprintable() for line in lines)


def test_coverage_of_unknown_words(treebank, tmp_path, capsys):
    dev = tmp_path / "dev.mrp"
    dump([graph("x", "Frogs croak", "_frog_n_1", "_croak_v_1"), graph("y", "Mice hide", "_mouse_n_1", "_x_v_9")], dev)
    assert main(["rules", "--json", str(treebank), "--coverage", str(dev)]) == 0
    found = json.loads(capsys.readouterr().out)["coverage"]
    assert found == {"nodes": 6, "rules": 5, "with_case": 5, "vocabulary": 2}


def test_frequent_rules_come_in_order_with_examples():
    space = RuleSpace(label_case="lower")
    rules = RuleSet(space, [parse('absolute("b")'), parse('token(0, 0, "", 0, 0, "", "")'), parse('absolute("z")')])
    learned = LearnedRules(rules, 5, 3, 3, 3, 0.0)
    items = [LabelItem(word.lower(), (word,), ()) for word in ("A", "b", "b", "c", "D")]
    found = frequent_rules(learned, items)
    assert [(each.rule, each.nodes) for each in found] == [
        ('token(0, 0, "", 0, 0, "", "")', 5),
        ('absolute("b")', 2),
        ('absolute("z")', 0),
    ]
    assert len(found[0].examples) == 3
    assert found[2].examples == []


def test_output_holds_the_rules(treebank, tmp_path, capsys):
    path = tmp_path / "rules.json"
    assert main(["rules", str(treebank), "-o", str(path)]) == 0
    rules = RuleSet.from_json(json.loads(path.read_text()))
    assert parse('absolute("pl")') in rules.rules
    assert len(rules) == 3


def test_several_files_are_one_treebank(treebank, tmp_path, capsys):
    more = tmp_path / "more.mrp"
    dump([graph("new", "Fish swim", "_fish_n_1", "_swim_v_1")], more)
    assert main(["rules", "--json", str(treebank), str(more)]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 4


def test_missing_tokens_are_told(treebank, tokens, tmp_path, capsys):
    more = tmp_path / "more.mrp"
    dump([graph("new", "Fish swim", "_fish_n_1", "_swim_v_1")], more)
    assert main(["rules", "--json", str(treebank), str(more), "--tokens", str(tokens)]) == 0
    output = capsys.readouterr()
    assert "1 graphs of" in output.err
    assert "the first is new" in output.err
    assert json.loads(output.out)["sentences"] == 4


def test_cache(treebank, tmp_path, capsys):
    folder = tmp_path / "cache"
    seconds = []
    for _ in range(2):
        assert main(["rules", "--json", str(treebank), "--cache", str(folder)]) == 0
        seconds.append(json.loads(capsys.readouterr().out)["seconds"])
    assert seconds[0] == seconds[1]
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.mrp"], "no such file"),
        (["{train}", "--tokens", "a", "--tokens", "b"], "they belong together"),
        (["{train}", "--coverage", "{other}"], "another framework"),
        (["{train}", "--coverage-tokens", "a"], "--coverage, which is missing"),
        (["{train}", "{other}"], "different frameworks"),
        (["{empty}"], "no graphs"),
        (["{train}", "-o", "{folder}"], "is a folder"),
        (["{train}", "-o", "{folder}/missing/rules.json"], "can't write"),
    ],
)
def test_errors_come_before_the_work(treebank, tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("perin.labels.minimal.learn_rules", None)  # would fail if anything were learned
    dump([graph("0", *DOGS[0], framework="ptg")], tmp_path / "other.mrp")
    (tmp_path / "empty.mrp").write_text("")
    paths = {"train": treebank, "other": tmp_path / "other.mrp", "empty": tmp_path / "empty.mrp", "folder": tmp_path}
    assert main(["rules", *(argument.format(**paths) for argument in arguments)]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""
    assert "Traceback" not in output.err
