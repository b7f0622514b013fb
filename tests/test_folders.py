"""Folders appear whole or not at all."""

from pathlib import Path

import pytest

from perin.files import point, pointed, sweep, whole_folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_folder_appears_when_it_is_complete(tmp_path):
    with whole_folder(tmp_path / "state-1") as folder:
        (folder / "weights").write_bytes(b"1")
        assert not (tmp_path / "state-1").exists()
    assert names(tmp_path / "state-1") == {"weights"}


def interrupted(target: Path) -> None:
    with whole_folder(target) as folder:
        (folder / "weights").write_bytes(b"new")
        raise KeyboardInterrupt


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "state")
    assert names(tmp_path) == set()


def test_a_name_is_given_once(tmp_path):
    (tmp_path / "state").mkdir()
    with pytest.raises(FileExistsError), whole_folder(tmp_path / "state"):
        pass
    assert names(tmp_path) == {"state"}


def test_a_pointer_moves_and_the_rest_is_swept(tmp_path):
    assert pointed(tmp_path / "last.json") is None
    for step in (1, 2):
        with whole_folder(tmp_path / f"state-{step}"):
            pass
        point(tmp_path / "last.json", tmp_path / f"state-{step}", step=step)
    (tmp_path / ".state-3.xyz").mkdir()
    current = pointed(tmp_path / "last.json")
    assert current == tmp_path / "state-2"
    sweep(tmp_path, "state-", {current})
    assert names(tmp_path) == {"last.json", "state-2"}
