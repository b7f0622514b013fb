"""Where a corpus is read from and written to: local and network folders, and object stores through fsspec.

A file appears under its name when it is whole, never before.  In a folder it is written beside its place, flushed and
renamed; a lock on the temporary file, which the system takes back from a process that dies, keeps others from
doing the same work.  In an object store, where neither exists, it is written to the local disk and uploaded; there two
processes may do the same work, with the same result.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import posixpath
import socket
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Protocol, cast

from perin.errors import InputError, MissingDependencyError, UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class LockedError(Exception):
    """Another process is writing this file."""


class Folder(Protocol):
    """A folder to write to."""

    def names(self) -> set[str]:
        """The names of the files in it, whole ones."""

    def size(self, name: str) -> int | None:
        """The size of a file in bytes; None if there is none."""

    def read(self, name: str) -> bytes:
        """What a file holds."""

    def create(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """Open a new file, which appears when the block ends without error.

        :class:`LockedError` if another process is writing it.
        """

    def sweep(self, name: str) -> None:
        """Remove what killed processes have left of a file that is complete now."""


class LocalFolder:
    """A folder of this machine's file system, which may be shared with others over a network."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise UsageError(f"can't make the folder {path}: {error.strerror or error}") from None

    def names(self) -> set[str]:
        """See :class:`Folder`."""
        return {name for name in os.listdir(self.path) if not name.startswith(".")}

    def size(self, name: str) -> int | None:
        """See :class:`Folder`."""
        try:
            return os.stat(os.path.join(self.path, name)).st_size
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes:
        """See :class:`Folder`."""
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """See :class:`Folder`."""
        try:
            file, temporary = self._locked(name)
            with file:
                try:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                    os.replace(temporary, os.path.join(self.path, name))
                    self._flush_names()
                except BaseException:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(temporary)
                    raise
        except OSError as error:
            raise UsageError(f"can't write {os.path.join(self.path, name)}: {error.strerror or error}") from None

    def sweep(self, name: str) -> None:
        """See :class:`Folder`."""
        for path in glob.glob(os.path.join(glob.escape(self.path), f".{glob.escape(name)}*.part")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _locked(self, name: str) -> tuple[BinaryIO, str]:
        """The temporary file of a file, empty and locked; where there are no locks, one of this process's own."""
        temporary = os.path.join(self.path, f".{name}.part")
        while fcntl is not None:
            file = open(temporary, "ab")  # noqa: SIM115 - the caller closes it
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                same = os.path.samestat(os.fstat(file.fileno()), os.stat(temporary))
            except BlockingIOError:
                file.close()
                raise LockedError(name) from None
            except FileNotFoundError:
                same = False
            except OSError:  # a file system without locks
                file.close()
                break
            if same:
                file.truncate(0)
                file.seek(0)
                return file, temporary
            file.close()  # it was renamed by the process that had the lock before
        own = os.path.join(self.path, f".{name}.{socket.gethostname()}-{os.getpid()}.part")
        return open(own, "wb"), own

    def _flush_names(self) -> None:
        if os.name == "posix":
            handle = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


class RemoteFolder:
    """A folder of an object store, or of anything else that fsspec knows."""

    def __init__(self, url: str) -> None:
        self.files, self.path = _file_system(url)
        self.files.makedirs(self.path, exist_ok=True)

    def names(self) -> set[str]:
        """See :class:`Folder`."""
        self.files.invalidate_cache()
        return {posixpath.basename(path) for path in self.files.ls(self.path, detail=False)}

    def size(self, name: str) -> int | None:
        """See :class:`Folder`."""
        self.files.invalidate_cache()
        try:
            return int(self.files.info(posixpath.join(self.path, name))["size"])
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes:
        """See :class:`Folder`."""
        return cast(bytes, self.files.cat_file(posixpath.join(self.path, name)))

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """See :class:`Folder`."""
        with tempfile.NamedTemporaryFile(prefix="perin-") as file:
            yield cast(BinaryIO, file)
            file.flush()
            self.files.put_file(file.name, posixpath.join(self.path, name))

    def sweep(self, name: str) -> None:
        """See :class:`Folder`."""


def open_folder(path: str) -> Folder:
    """The folder at a path or URL, made if it is not there."""
    return RemoteFolder(path) if is_remote(path) else LocalFolder(path)


def is_remote(path: str) -> bool:
    """Whether a path is a URL such as ``s3://bucket/file``."""
    return "://" in path


def expand_paths(patterns: Sequence[str]) -> list[str]:
    """The files that paths, URLs and globs stand for, those of one glob in the order of their names, each once."""
    found: dict[str, None] = {}
    for pattern in patterns:
        paths = _matches(pattern)
        if not paths:
            wild = glob.has_magic(pattern)
            raise InputError("no file matches" if wild else "no such file", source=pattern)
        found.update(dict.fromkeys(paths))
    return list(found)


def _matches(pattern: str) -> list[str]:
    if is_remote(pattern):
        files, path = _file_system(pattern)
        found = files.glob(path) if glob.has_magic(path) else [path] if files.isfile(path) else []
        return [files.unstrip_protocol(each) for each in sorted(found)]
    if os.path.isdir(pattern):
        raise InputError(f"is a folder; name its files, such as '{os.path.join(pattern, '*.txt')}'", source=pattern)
    if os.path.exists(pattern):
        return [pattern]
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def short_names(paths: Sequence[str]) -> list[str]:
    """The paths without the folders that all of them share: the same wherever the corpus is mounted.

    >>> short_names(["/data/a/1.txt", "/data/b/1.txt"]), short_names(["s3://bucket/1.txt"])
    (['a/1.txt', 'b/1.txt'], ['1.txt'])
    """
    parts = [path.replace(os.sep, "/").split("/") for path in paths]
    folders = [path[:-1] for path in parts]
    alike = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
    shared = len(list(alike))
    return ["/".join(path[shared:]) for path in parts]


def open_file(path: str) -> BinaryIO:
    """Open a file for reading."""
    try:
        if is_remote(path):
            files, inner = _file_system(path)
            return cast(BinaryIO, files.open(inner, "rb"))
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", source=path) from None


def size_of(path: str) -> int:
    """The size of a file in bytes."""
    try:
        if is_remote(path):
            files, inner = _file_system(path)
            return int(files.info(inner)["size"])
        return os.stat(path).st_size
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", source=path) from None


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError("fsspec", f"reading and writing {url}", "bulk") from None
    try:
        files, path = fsspec.core.url_to_fs(url)
    except ImportError as error:  # the message names the package of this kind of store
        raise UsageError(f"can't reach {url}: {error}") from None
    except ValueError as error:
        raise UsageError(f"can't reach {url}: {error}") from None
    return files, path
