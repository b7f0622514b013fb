"""Files appear when they are whole; one process at a time makes them."""

from __future__ import annotations

import errno
import os

import pytest

from perin.bulk import storage
from perin.bulk.storage import LocalFolder, LockedError, expand_paths, open_file, open_folder, size_of
from perin.errors import InputError, UsageError


@pytest.fixture(params=["local", "remote"])
def place(request, tmp_path):
    return open_folder(f"{'file://' if request.param == 'remote' else ''}{tmp_path / 'out'}")


def test_a_file_appears_when_it_is_whole(place):
    with place.create("a") as file:
        file.write(b"some")
        file.flush()
        assert place.names() == set()
        assert place.size("a") is None
    assert place.names() == {"a"}
    assert (place.size("a"), place.read("a")) == (4, b"some")


def test_an_error_leaves_nothing(place, tmp_path):
    with pytest.raises(TypeError), place.create("a") as file:
        file.writelines([b"some", None])
    assert list((tmp_path / "out").iterdir()) == []


def test_one_at_a_time(tmp_path):
    first, second = LocalFolder(str(tmp_path)), LocalFolder(str(tmp_path))
    with first.create("a") as file:
        file.write(b"1")
        with pytest.raises(LockedError), second.create("a"):
            pass
    with second.create("a") as file:
        file.write(b"2")
    assert (tmp_path / "a").read_bytes() == b"2"


def test_a_lock_on_a_file_that_was_renamed_meanwhile_is_none(tmp_path, monkeypatch):
    """The process that had the lock renames the file between our opening and locking it."""
    place = LocalFolder(str(tmp_path))
    flock, calls = storage.fcntl.flock, []

    def late(file, flags):
        if not calls:
            os.replace(tmp_path / ".a.part", tmp_path / "a")
            (tmp_path / "a").write_bytes(b"whole")
        calls.append(file)
        flock(file, flags)

    monkeypatch.setattr(storage.fcntl, "flock", late)
    with place.create("a") as file:
        assert (tmp_path / "a").read_bytes() == b"whole"
        file.write(b"new")
    assert len(calls) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_what_a_killed_process_leaves_is_used_again(tmp_path):
    (tmp_path / ".a.part").write_bytes(b"half of it and more")
    with LocalFolder(str(tmp_path)).create("a") as file:
        assert file.tell() == 0
        file.write(b"all")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"all")]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(file, flags):
        raise OSError(errno.ENOTSUP, "no locks here")

    monkeypatch.setattr(storage.fcntl, "flock", refuse)
    place = LocalFolder(str(tmp_path))
    with place.create("a") as file:
        file.write(b"1")
    (tmp_path / ".a.otherhost-1.part").touch()
    place.sweep("a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_writing_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="can't make the folder"):
        LocalFolder(str(tmp_path / "file" / "out"))


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_globs(tmp_path, prefix):
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).touch()
    found = expand_paths([f"{prefix}{tmp_path}/*.txt", f"{prefix}{tmp_path}/a.txt", f"{prefix}{tmp_path}/c.md"])
    assert found == [f"{prefix}{tmp_path}/{name}" for name in ("a.txt", "b.txt", "c.md")]
    with pytest.raises(InputError, match="no file matches"):
        expand_paths([f"{prefix}{tmp_path}/*.tsv"])
    with pytest.raises(InputError, match="no such file"):
        expand_paths([f"{prefix}{tmp_path}/x.tsv"])


def test_names_that_look_like_globs(tmp_path):
    (tmp_path / "a[1].txt").touch()
    assert expand_paths([f"{tmp_path}/a[1].txt"]) == [f"{tmp_path}/a[1].txt"]


def test_folders_are_no_input(tmp_path):
    with pytest.raises(InputError, match="is a folder; name its files"):
        expand_paths([str(tmp_path)])


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_files_that_are_not_there(tmp_path, prefix):
    for read in (open_file, size_of):
        with pytest.raises(InputError, match="can't be read"):
            read(f"{prefix}{tmp_path}/none")


def test_an_unknown_kind_of_store():
    with pytest.raises(UsageError, match="can't reach nonsense://x"):
        open_folder("nonsense://x")
