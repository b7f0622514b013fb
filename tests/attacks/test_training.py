"""Hostile folders, recipes and disks under a training: one line, exit code 2, and no checkpoint is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from perin import files
from perin.commands.main import main
from perin.files import pointed, read_cached, write_cached
from perin.learning.run.folder import POINTER, PREFIX, locked
from perin.learning.run.journal import Console

TOY = Path(__file__).resolve().parents[2] / "examples" / "toy"


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with data and with a run that was interrupted after half of its steps."""
    folder = tmp_path_factory.mktemp("place")
    shutil.copytree(TOY, folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERIN_CACHE", str(folder / "cache"))
        shown = Console.show

        def stop(self, step, total, text):
            if step > 3:
                raise KeyboardInterrupt
            shown(self, step, total, text)

        patch.setattr(Console, "show", stop)
        assert train(folder) == 130
    return folder


@pytest.fixture
def run(place, tmp_path, monkeypatch) -> Path:
    """A copy of the folder."""
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    recipe = tmp_path / "run" / "recipe.json"
    recipe.write_text(recipe.read_text().replace(place.as_posix(), tmp_path.as_posix()))
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def train(folder: Path, *options: str) -> int:
    data = f"data={(folder / 'data').as_posix()}"
    few = ("learning.epochs=3", "learning.checkpoint=1", "learning.sentences=16", "evaluation.every=3")
    sets = [part for key in (data, "treebanks.0.limit=32", *few) for part in ("--set", key)]
    return main(["train", str(TOY / "toy.toml"), "-o", str(folder / "run"), *sets, *options])


def refusal(capsys, folder: Path, *options: str) -> str:
    """What a training that can't be says: its last line, with exit code 2 and no traceback."""
    capsys.readouterr()
    assert train(folder, *options) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith("perin train: error: ")
    return last


def checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "run").glob(f"{PREFIX}*"))


def test_the_last_two_checkpoints_are_kept_and_the_pointer_names_the_last(run):
    before = checkpoints(run)
    assert len(before) == 2
    assert pointed(run / "run" / POINTER) == run / "run" / before[-1]
    assert train(run, "--resume") == 0
    assert len(checkpoints(run)) == 2


@pytest.mark.parametrize(
    "text", ["", "[]", '{"folder": 7}', '{"folder": "../data"}', '{"folder": "state-9"}', "[" * 100_000]
)
def test_broken_pointers(run, capsys, text):
    (run / "run" / POINTER).write_text(text)
    before = checkpoints(run)
    assert POINTER in refusal(capsys, run, "--resume")
    assert checkpoints(run) == before


@pytest.mark.parametrize("text", ["", "7", "[]", "{}", '{"name": 7}', '{"seed": "x"}', "[" * 100_000, "\x00\xff"])
def test_broken_recipes_of_a_run(run, capsys, text):
    (run / "run" / "recipe.json").write_text(text)
    assert "recipe.json" in refusal(capsys, run, "--resume")
    assert len(checkpoints(run)) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("progress.json", b"{}"),
        ("progress.json", b'{"progress": {"step": "3"}, "balances": {}}'),
        ("progress.json", b'{"progress": {"epoch": NaN}, "balances": {}}'),
        ("progress.json", b'{"progress": {"sense": 3}, "balances": {}}'),
        ("progress.json", b"\xff"),
        ("weights.safetensors", b""),
        ("weights.safetensors", b"\xff" * 64),
        ("optimizer.safetensors", b"\x03\x00\x00\x00\x00\x00\x00\x00{}"),
        ("average.safetensors", None),
    ],
)
def test_damaged_checkpoints(run, capsys, name, content):
    folder = pointed(run / "run" / POINTER)
    assert folder is not None
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert "can't be used" in refusal(capsys, run, "--resume")
    older = checkpoints(run)[0]
    (run / "run" / POINTER).write_text(json.dumps({"folder": older}))  # the remedy that the message names
    assert train(run, "--resume") == 0


@pytest.mark.parametrize("line", ["[]", "{", '{"event": "step", "step": []}', "[" * 100_000])
def test_broken_lines_of_the_log(run, capsys, line):
    log = run / "run" / "log.jsonl"
    log.write_text(f"{line}\n{log.read_text()}")
    assert "log.jsonl:1: no entry of a run's log; remove the line" in refusal(capsys, run, "--resume")


def test_changed_data_are_noticed(run, capsys):
    train_file = run / "data" / "train.mrp"
    before = train_file.read_bytes()
    train_file.write_bytes(b"".join(reversed(before.splitlines(keepends=True))))
    said = refusal(capsys, run, "--resume")
    assert "have changed since it began: train.mrp" in said
    assert "put them back" in said
    train_file.write_bytes(before)
    assert train(run, "--resume") == 0


def test_another_vocabulary_is_noticed(run, capsys):
    known = json.loads((run / "run" / "data.json").read_text())
    known["vocabulary of eds-eng"] = "0" * 64
    (run / "run" / "data.json").write_text(json.dumps(known))
    assert "changed since it began: vocabulary of eds-eng" in refusal(capsys, run, "--resume")


def test_two_trainings_in_one_folder(run, capsys):
    with locked(run / "run"):
        assert "another training runs in" in refusal(capsys, run, "--resume")
    assert train(run, "--resume") == 0


def test_a_failed_start_leaves_no_folder(run, capsys):
    shutil.rmtree(run / "run")
    (run / "data" / "train.mrp").write_text("")
    assert "no training graph" in refusal(capsys, run)
    assert not (run / "run").exists()


def test_a_full_disk_loses_no_checkpoint(run, capsys, monkeypatch):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = (run / "run" / "log.jsonl").stat().st_size
    kept = checkpoints(run)
    shown = Console.show

    def fill(self, step, total, text):
        resource.setrlimit(resource.RLIMIT_FSIZE, (log + 4096, before[1]))
        shown(self, step, total, text)

    monkeypatch.setattr(Console, "show", fill)
    try:
        said = refusal(capsys, run, "--resume")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "can't write to" in said
    assert "make room, then --resume" in said
    assert checkpoints(run) == kept
    assert not list((run / "run").glob(f".{PREFIX}*"))
    monkeypatch.undo()
    assert train(run, "--resume") == 0


def test_a_diverging_loss_ends_the_run(run, capsys):
    shutil.rmtree(run / "run")
    sets = ("learning.rate=1e35", "learning.clip=0", "learning.epochs=99")
    said = refusal(capsys, run, *(part for key in sets for part in ("--set", key)))
    assert "the loss has diverged" in said
    assert "learning.rate" in said


@pytest.mark.parametrize("seed", ["-1", "4294967296", "1" + 400 * "0"])
def test_seeds_out_of_range(run, capsys, seed):
    assert "seed must be at least 0 and below 4294967296" in refusal(capsys, run, "--set", f"seed={seed}")


@pytest.mark.parametrize("value", ["[" * 50_000, "{a=" * 50_000])
def test_deep_values(run, capsys, value):
    assert "nested too deeply" in refusal(capsys, run, "--set", f"network.width={value}")


def test_deep_keys(run, capsys):
    assert "error" in refusal(capsys, run, "--set", f"{'a.' * 50_000}a=1")


def test_a_deep_recipe(tmp_path, capsys):
    path = tmp_path / "deep.toml"
    path.write_text(f"name = 'x'\ntreebanks = {'[' * 50_000}")
    assert main(["train", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unwritable_cache_is_no_reason_to_stop(run, capsys, monkeypatch):
    (run / "file").write_text("")
    monkeypatch.setenv("PERIN_CACHE", str(run / "file"))
    assert train(run, "--resume") == 0
    assert "what was prepared is not kept" in capsys.readouterr().err


def test_a_flipped_bit_in_the_cache_is_noticed(run, capsys):
    [path] = (run / "cache" / "prepared").iterdir()
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    assert train(run, "--resume") == 0
    assert "eds-eng: preparing" in capsys.readouterr().err
    assert read_cached(path) is not None


def test_a_cache_stays_within_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CACHE_BYTES", 1000)
    for number in range(5):
        assert write_cached(tmp_path / str(number), bytes(300))
        for older in range(number + 1):
            if (tmp_path / str(older)).exists():
                files.os.utime(tmp_path / str(older), (1000 + older, 1000 + older))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert read_cached(tmp_path / "4") == bytes(300)
    assert read_cached(tmp_path / "0") is None
