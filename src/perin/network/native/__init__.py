"""The package's C code, where it was compiled (``hatch_build.py``) and the processor has AVX2."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

LIBRARY = Path(__file__).with_name("libperin.so")


class Layer(ctypes.Structure):
    """``struct layer`` of ``linear.c``."""

    _fields_ = [
        ("inputs", ctypes.c_int64),
        ("outputs", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("packed", "scales", "offsets", "bias")),
    ]


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiled functions, or None if they are not there, can't run here, or are not wanted (PERIN_NATIVE=0)."""
    if os.environ.get("PERIN_NATIVE") == "0":
        return None
    number, address = ctypes.c_int64, ctypes.c_void_p
    try:
        found = ctypes.CDLL(str(LIBRARY))
        found.linear.argtypes = [ctypes.POINTER(Layer), address, number, address]
        found.feedforward.argtypes = [*[ctypes.POINTER(Layer)] * 2, ctypes.c_int, address, number, address]
        found.attention.argtypes = [*[address] * 4, number, number, number, address]
        return found if found.has_avx2() else None
    except (OSError, AttributeError):  # no library, or one of older sources
        return None
