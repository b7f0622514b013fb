"""Opening files: gzip by content, standard streams as ``-``, UTF-8 only, whole output files or none."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import json
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, TextIO

from perin.errors import InputError, UsageError

GZIP_MAGIC = b"\x1f\x8b"
_HEAD = 4096
"""Bytes by which text is told from other data."""
STDIN = "<stdin>"

MAX_LINE = "PERIN_MAX_LINE"
MAX_DOCUMENT = "PERIN_MAX_DOCUMENT"
LIMITS = {MAX_LINE: 16 * 2**20, MAX_DOCUMENT: 64 * 2**20}
"""The most bytes of a line (also of a graph of several lines) and of a document that is held as a whole.

They count after decompression.  An environment variable of the same name raises a limit: ``PERIN_MAX_LINE=1G``.
"""
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def source_name(path: str | os.PathLike[str]) -> str:
    """How messages call this file."""
    name = os.fspath(path)
    return STDIN if name == "-" else name


def cache_folder() -> Path:
    """Where what can be made again is kept: ``$PERIN_CACHE``, or ``perin`` below the user's cache folder."""
    chosen = os.environ.get("PERIN_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else user / "perin"


CACHE_BYTES = 8 << 30
"""What a folder of the cache may hold in all; what was not used for longest goes first."""
_DIGEST = hashlib.sha256().digest_size


def read_cached(path: Path) -> bytes | None:
    """What :func:`write_cached` kept under a name; None where there is nothing, or where it is damaged."""
    try:
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    digest, content = content[:_DIGEST], content[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def write_cached(path: Path, content: bytes) -> bool:
    """Keep what can be made again, with a checksum; whether that was possible.  The folder stays within its bound."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_bytes(path) as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        _trim(path)
    except (OSError, UsageError):
        return False
    return True


def _trim(kept: Path) -> None:
    """Remove the files beside one that were not used for longest, until all together are within the bound."""
    known = [(entry.stat(), entry) for entry in kept.parent.iterdir() if entry.is_file() and entry != kept]
    room = CACHE_BYTES - kept.stat().st_size
    for status, entry in sorted(known, key=lambda pair: pair[0].st_mtime, reverse=True):
        room -= status.st_size
        if room < 0:
            entry.unlink(missing_ok=True)


def byte_limit(name: str) -> int:
    """A limit of :data:`LIMITS`, as the environment has it."""
    text = os.environ.get(name, "").strip().upper()
    if not text:
        return LIMITS[name]
    number, unit = text.removesuffix("B"), ""
    if number[-1:] in _UNITS:
        number, unit = number[:-1], number[-1]
    if not (number.isascii() and number.isdigit() and len(number) < 16 and int(number)):
        raise UsageError(f"{name} should be a number of bytes such as 500M or 2G, found {os.environ[name]!r}")
    return int(number) * _UNITS[unit]


def too_long(what: str, name: str, source: str, line: int) -> InputError:
    """The error for a line, graph or document beyond a limit."""
    limit = byte_limit(name)
    size = next(f"{limit // _UNITS[unit]} {unit}B" for unit in ("G", "M", "K", "") if limit >= _UNITS[unit])
    message = f"{what} has more than {size}; if that is right, set the environment variable {name} to a higher number"
    return InputError(message, source=source, line=line)


def within_limit(
    lines: Iterable[str], source: str, what: str, name: str = MAX_DOCUMENT, *, blocks: bool = False
) -> Iterator[str]:
    """The lines, as long as their length (in characters) stays below a limit; with ``blocks``, between blank lines."""
    left = limit = byte_limit(name)
    for number, line in enumerate(lines, start=1):
        left -= len(line) + 1
        if blocks and (not line or line.isspace()):
            left = limit
        if left < 0:
            raise too_long(what, name, source, number)
        yield line


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""Yield the lines of a text file without their line ends, decoding gzip and UTF-8 (a byte-order mark is dropped).

    Lines end at ``\n`` or ``\r\n`` only, so that other Unicode line separators stay inside their line.
    """
    for line in each_line(path):
        if isinstance(line, InputError):
            raise line
        yield line


def each_line(path: str | os.PathLike[str]) -> Iterator[str | InputError]:
    """Like :func:`read_lines`, but a line that is not UTF-8 comes as an error and the next ones follow."""
    source = source_name(path)
    number = 0
    try:
        with _open_bytes(path) as stream:
            if _is_binary(stream.peek(_HEAD)[:_HEAD]):
                raise InputError("is no text but binary data (or text that is not UTF-8)", source=source, line=1)
            limit = byte_limit(MAX_LINE)
            for number, raw in enumerate(iter(lambda: stream.readline(limit + 1), b""), start=1):
                if len(raw) > limit:
                    raise too_long("the line", MAX_LINE, source, number)
                if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                    raw = raw[3:]
                yield _decode(raw.removesuffix(b"\n").removesuffix(b"\r"), source, number)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"the gzip stream is cut short or damaged ({error}); get the file again"
        raise InputError(message, source=source, line=number + 1) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole text of a file, decoded as :func:`read_lines` does."""
    return "\n".join(within_limit(read_lines(path), source_name(path), "the file"))


def check_writable(path: str | os.PathLike[str]) -> None:
    """Complain about a place where no file can be written, before long work whose result is to go there."""
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name a file to write to")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"can't write {path}: there is no folder {folder}")


def check_distinct(source: str | os.PathLike[str] | None, target: str | os.PathLike[str]) -> None:
    """Complain if a file, under whatever names or as a standard stream (``-``), would be both read and written."""
    if source is None:
        return
    read, written = _status(source, sys.stdin), _status(target, sys.stdout)
    if read and written and stat.S_ISREG(read.st_mode) and os.path.samestat(read, written):
        raise UsageError(f"{source_name(source)} can't be both read and written: it is the same file as the output")


def _status(path: str | os.PathLike[str], stream: IO[str]) -> os.stat_result | None:
    try:
        return os.fstat(stream.fileno()) if os.fspath(path) == "-" else os.stat(path)
    except (OSError, ValueError):  # no such file yet, or a stream that is no file
        return None


@contextlib.contextmanager
def write_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text file for writing in UTF-8; it appears under its name only when the block ends without an error.

    ``-`` writes to standard output; a name in ``.gz`` is compressed (reproducibly: no time stamp inside).
    """
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(write_bytes(path))
        compressed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if _is_gzip_name(path) else None
        if compressed is not None:
            stack.enter_context(compressed)
        stream = io.TextIOWrapper(compressed or raw, encoding="utf-8", newline="\n")
        stack.callback(stream.detach)
        try:
            yield stream
        except UnicodeEncodeError as error:
            half = ord(error.object[error.start])
            raise InputError(f"a text to be written contains an unpaired surrogate (U+{half:04X})") from None


@contextlib.contextmanager
def write_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Like :func:`write_text` for bytes: a temporary file in the same folder, renamed at the end.

    What is no plain file (``/dev/null``, a pipe) is written to directly; a link stays a link.
    """
    if os.fspath(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        special = target.exists() and not target.is_file()
        if special:
            stream: BinaryIO = open(target, "wb")  # noqa: SIM115 - closed below
        else:
            handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            stream = os.fdopen(handle, "wb")
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from None
    if special:
        with stream:
            yield stream
        return
    try:
        with stream:
            yield stream
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _open_bytes(path: str | os.PathLike[str]) -> Iterator[io.BufferedReader]:
    if os.fspath(path) == "-":
        yield _decompressed(sys.stdin.buffer)
        return
    try:
        raw = open(path, "rb")  # noqa: SIM115 - closed below
        with raw:
            yield _decompressed(raw)
    except IsADirectoryError:
        raise InputError("is a folder, not a file", source=os.fspath(path)) from None
    except FileNotFoundError:
        raise InputError("no such file", source=os.fspath(path)) from None
    except PermissionError:
        raise InputError("can't be read: permission denied", source=os.fspath(path)) from None


def _decompressed(stream: IO[bytes]) -> io.BufferedReader:
    assert isinstance(stream, io.BufferedReader)
    if stream.peek(2)[:2] == GZIP_MAGIC:
        return io.BufferedReader(gzip.GzipFile(fileobj=stream))
    return stream


def _is_gzip_name(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _is_binary(head: bytes) -> bool:
    """Whether this is the beginning of no text: it has NULs, and either many of them or bytes that are not UTF-8."""
    if b"\0" not in head:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True
    return head.count(b"\0") * 10 > len(head)


def _decode(raw: bytes, source: str, line: int) -> str | InputError:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = (
            f"byte {error.start + 1} of the line is not UTF-8 (0x{raw[error.start]:02x}); convert the file to UTF-8"
        )
        return InputError(message, source=source, line=line)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Folders that appear whole or not at all, and pointers to the current one.
#
# A checkpoint is a folder of several files.  It is written under a temporary name, flushed to disk and renamed; then a
# small pointer file is replaced.  Whenever the process is killed, the pointer names a complete folder.


@contextlib.contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to fill; it gets its name, which must be free, when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield temporary
        for path in temporary.rglob("*"):
            _flush(path)
        _flush(temporary)
        temporary.chmod(0o755)
        if target.exists():
            raise FileExistsError(target)
        temporary.rename(target)
        _flush(target.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def point(pointer: Path, target: Path, **notes: object) -> None:
    """Make a pointer file name a folder beside it, with notes; when this returns, it is safe on disk."""
    with write_text(pointer) as stream:
        json.dump({"folder": target.name, **notes}, stream)
    _flush(pointer)
    _flush(pointer.parent)


def pointed(pointer: Path) -> Path | None:
    """The folder that a pointer names, or None if there is no pointer."""
    if not pointer.exists():
        return None
    try:
        name = json.loads(pointer.read_text(encoding="utf-8"))["folder"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        name = None
    if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
        raise InputError('it should be JSON that names a folder beside it: {"folder": "…"}', source=str(pointer))
    return pointer.parent / name


def sweep(parent: Path, prefix: str, keep: set[Path]) -> None:
    """Remove the folders of a prefix that are not to be kept, and what interrupted runs left half written."""
    for path in parent.iterdir():
        stale = path.name.startswith(prefix) and path not in keep
        if path.is_dir() and (stale or path.name.startswith(f".{prefix}")):
            shutil.rmtree(path, ignore_errors=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
