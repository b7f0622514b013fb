"""The package's C code, where it was compiled (``hatch_build.py``): kernels for the network, on any processor."""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from pathlib import Path

LIBRARY = Path(__file__).with_name("libperin.so")
"""The only place that the library is loaded from."""

VERSION = 2
"""Of the steps that ``run.c`` knows: a library that was compiled from older sources says another one."""

LEVELS = ("portable", "avx2", "vnni")
"""The kinds of processors that there are kernels for; a processor that has one has those before it."""


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiled functions, or None if they are not there, not whole, or not wanted (PERIN_NATIVE=0)."""
    if os.environ.get("PERIN_NATIVE") == "0" or not whole(LIBRARY):
        return None
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.run.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int64]
        found.level.argtypes = found.version.argtypes = []
        return found if found.version() == VERSION else None
    except (OSError, AttributeError):  # a library for another system, or of older sources
        return None


def level() -> int:
    """Which of :data:`LEVELS` to use: the best one for this processor, or the one that ``PERIN_NATIVE`` names."""
    found = library()
    assert found is not None
    wanted = os.environ.get("PERIN_NATIVE", "")
    best: int = found.level()
    return min(best, LEVELS.index(wanted)) if wanted in LEVELS else best


def whole(path: Path) -> bool:
    """Whether a library has the length that its headers announce; the system would crash on one that was cut."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(64)
            if head[:4] != b"\x7fELF":
                return head[:4] in _OTHERS
            if len(head) < 64 or head[4] != 2 or head[5] != 1:
                return False
            segments, sections = struct.unpack_from("<QQ", head, 32)
            segment_size, segment_count, section_size, section_count = struct.unpack_from("<4H", head, 54)
            file.seek(segments)
            table = file.read(segment_size * segment_count)
    except OSError:
        return False
    if segment_size < 56 or len(table) < segment_size * segment_count:
        return False
    ends: list[int] = [sections + section_size * section_count]
    for number in range(segment_count):
        offset, *_, length = struct.unpack_from("<QQQQ", table, number * segment_size + 8)
        ends.append(offset + length)
    return max(ends) <= size


_OTHERS = (b"\xcf\xfa\xed\xfe", b"MZ\x90\x00", b"MZx\x00")
"""How libraries of other systems begin: Mach-O, Windows (by two compilers)."""
