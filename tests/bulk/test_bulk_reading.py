"""However a corpus is cut into shards, its sentences are the same, in the same order."""

from __future__ import annotations

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest

from perin.bulk import plan as plans
from perin.bulk import reading
from perin.bulk.plan import Settings, make_plan
from perin.bulk.reading import Part, read_part
from perin.errors import InputError

TEXT = b"\xef\xbb\xbfOne.\r\n\n  \nTwo \xc3\xa9.\nb\xffd\n" + b"".join(b"Line %d.\n" % n for n in range(30)) + b"Last"
OBJECTS = [
    {"text": "Own id", "id": "x"},
    {"text": "Number", "id": 7},
    {"text": ""},
    {"other": "Nothing"},
    [],
    *({"text": f"Text {n}"} for n in range(20)),
]
JSON = b"not json\n" + b"".join(json.dumps(each).encode() + b"\n" for each in OBJECTS)
ROW = "{}\t{}\t{}\t_\t_\t_\t_\t_\t_\t_\n"
CONLLU = (
    "# newdoc\n\n# sent_id = a\n"
    + ROW.format(1, "Dogs", "dog")
    + "\n\n"
    + "".join(f"# sent_id = s{n}\n{ROW.format(1, 'Go', 'go')}{ROW.format(2, n, n)}\n" for n in range(12))
    + "1\tbroken\n\n"
    + ROW.format(1, "End", "end")
).encode()


def records(paths, shards, column=None):
    plan = make_plan(paths, Settings("m", column=column), shards)
    found = [
        [
            record
            for part in shard
            for record in read_part(paths[part.file], plan.names[part.file], part, column=column, language="eng")
        ]
        for shard in plan.shards
    ]
    assert [len(shard) for shard in found] == list(plan.sentences)
    return found


def seen(record):
    content = record.content
    return (record.id, record.file, record.line, str(content) if isinstance(content, InputError) else content)


@pytest.fixture
def paths(tmp_path):
    """A file of each kind, compressed and not."""
    contents = {"a.txt": TEXT, "b.jsonl": JSON, "c.conllu": CONLLU}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    (tmp_path / "d.txt").touch()
    table = pyarrow.table({"text": [*(f"Row {n}" for n in range(25)), None], "id": [None, *range(1, 26)]})
    pyarrow.parquet.write_table(table, tmp_path / "e.parquet", row_group_size=7)
    return [str(path) for path in sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("shards", [2, 3, 7, 40, 1000])
def test_cuts_change_nothing(paths, shards):
    [whole] = records(paths, 1)
    cut = records(paths, shards)
    assert [seen(record) for shard in cut for record in shard] == [seen(record) for record in whole]
    sizes = [len(shard) for shard in cut]
    assert max(sizes) - min(sizes) <= 1
    assert len(cut) == min(shards, len(whole))


@pytest.mark.parametrize("shards", [2, 5, 30])
def test_cuts_at_remembered_places_only(paths, shards, monkeypatch):
    [whole] = records(paths, 1)
    monkeypatch.setattr(reading, "MOST_MARKS", 3)
    cut = records(paths, shards)
    assert [seen(record) for shard in cut for record in shard] == [seen(record) for record in whole]
    assert len(cut) == shards


def test_text(paths):
    [found] = records(paths[:1], 1)
    assert [record.id for record in found[:4]] == ["a.txt:1", "a.txt:4", "a.txt:5", "a.txt:6"]
    assert [record.content for record in found[:2]] == ["One.", "Two é."]
    assert found[2].content.message == "byte 2 of the line is not UTF-8"
    assert found[-1].content == "Last"


def test_json_lines(paths):
    [found] = records([paths[2]], 1)
    assert [record.id for record in found[:6]] == ["b.jsonl:1", "x", "7", *(f"b.jsonl:{n}" for n in (4, 5, 6))]
    assert [getattr(record.content, "message", record.content) for record in found[:6]] == [
        "the line is no JSON",
        "Own id",
        "Number",
        "",
        "the object has no text in its field 'text'",
        "the line is no JSON object",
    ]


def test_json_lines_with_another_field(tmp_path):
    for name, column in (("x.mrp", None), ("x.json", "input")):
        (tmp_path / name).write_text('{"id": "1", "input": "Go."}\n')
        [[record]] = records([str(tmp_path / name)], 1, column)
        assert record.content == "Go."


def test_conllu(paths):
    [found] = records([paths[4]], 1)
    assert [record.id for record in found] == ["a", *(f"s{n}" for n in range(12)), "c.conllu:55", "c.conllu:57"]
    assert [token.lemma for token in found[0].content.tokens] == ["dog"]
    assert (found[-2].content.line, found[-2].line) == (55, 55)


def test_parquet(paths):
    [found] = records([paths[-1]], 1)
    assert [record.id for record in found[:2]] == ["e.parquet:1", "1"]
    assert found[24].content == "Row 24"
    assert found[25].content.message == "the row has no text"


@pytest.mark.parametrize("name", ["long.txt", "long.conllu"])
def test_a_line_without_end_is_not_read_into_memory(tmp_path, monkeypatch, name):
    monkeypatch.setattr(reading, "LONGEST", 64)
    row = ROW.format(1, "Go", "go") if name.endswith("conllu") else "Go.\n"
    path = tmp_path / name
    for length in (65, 127, 128, 129, 640, 1000):
        path.write_text(f"{row}\n{'x' * length}\n\n{row}")
        [found] = records([str(path)], 1)
        assert [record.line for record in found] == [1, 3, 5]
        assert "longer than" in found[1].content.message
        assert not isinstance(found[2].content, InputError)


def test_a_file_that_has_become_shorter(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("One.\nTwo.\nThree.\n")
    plan = make_plan([str(path)], Settings("m"), 1)
    path.write_text("One.\n")
    with pytest.raises(InputError, match=r"a\.txt:2: is shorter"):
        list(read_part(str(path), "a.txt", plan.shards[0][0], column=None, language=None))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"\x00\x01\x02\x00", "no text but binary data"),
        ("a.txt.gz", gzip.compress(b"Go.\n" * 10_000)[:-9], "cut short or damaged"),
        ("a.jsonl.gz", b"\x1f\x8bnonsense", "cut short or damaged"),
        ("a.parquet", b"PAR1nonsense", "no Parquet file, or damaged"),
        ("a.parquet", b"", "no Parquet file, or damaged"),
    ],
)
def test_bad_files_stay_whole_and_say_why(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    plan = make_plan([str(path)], Settings("m"), 5)
    [parts] = [shard for shard in plan.shards if shard]
    assert plan.sizes == (None,)
    assert parts == (Part(0, 0, None, 1),)
    with pytest.raises(InputError, match=message):
        list(read_part(str(path), name, parts[0], column=None, language=None))


@pytest.mark.parametrize(
    ("table", "message"),
    [({"sentence": ["Go."]}, "has no column 'text' but sentence"), ({"text": [1]}, "holds int64, not strings")],
)
def test_parquet_without_texts(tmp_path, table, message):
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    assert message in reading.measure(str(path)).error


def test_a_plan_survives_writing(paths):
    plan = make_plan(paths, Settings("m", time="2026-01-31"), 9)
    assert plans.Plan.decode(plan.encode(), "plan.json") == plan
    assert make_plan(paths, Settings("m", time="2026-01-31"), 9) == plan
    for broken in (b"", b"{}", b"[]", plan.encode()[:-40]):
        with pytest.raises(InputError, match="no plan"):
            plans.Plan.decode(broken, "plan.json")
