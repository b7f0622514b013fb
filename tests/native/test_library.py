"""The library is loaded only if it is whole, wanted, and of these sources."""

import subprocess
import sys

import pytest

from perin import native
from perin.native import LIBRARY, level, library, whole


@pytest.fixture(autouse=True)
def _anew():
    """Libraries are loaded once."""
    library.cache_clear()
    yield
    library.cache_clear()


def test_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("PERIN_NATIVE", "0")
    assert library() is None


def test_a_missing_or_broken_library_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "libperin.so")
    assert library() is None
    library.cache_clear()
    (tmp_path / "libperin.so").write_bytes(b"no library")
    assert library() is None


def test_a_library_of_older_sources_is_none(monkeypatch):
    monkeypatch.setattr(native, "whole", lambda path: True)
    monkeypatch.setattr("ctypes.CDLL", lambda path: object())
    assert library() is None


@pytest.mark.skipif(library() is None, reason="the package's C code was not compiled")
class TestCompiled:
    def test_a_library_that_was_cut_is_refused(self, tmp_path):
        assert whole(LIBRARY)
        content = LIBRARY.read_bytes()
        for length in [0, 3, 40, 64, 4096, *range(5000, len(content), 7001), len(content) - 1]:
            cut = tmp_path / "libperin.so"
            cut.write_bytes(content[:length])
            assert not whole(cut), length

    def test_a_process_with_a_library_that_was_cut_goes_on(self, tmp_path):
        """Without the check the system ends it with a bus error."""
        cut = tmp_path / "libperin.so"
        cut.write_bytes(LIBRARY.read_bytes()[: LIBRARY.stat().st_size // 3])
        code = (
            "from pathlib import Path; from perin import native; "
            f"native.LIBRARY = Path({str(cut)!r}); print(native.library())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr

    def test_a_level_can_be_chosen_but_no_higher_one_than_there_is(self, monkeypatch):
        best = level()
        for wanted, name in enumerate(native.LEVELS):
            monkeypatch.setenv("PERIN_NATIVE", name)
            assert level() == min(best, wanted)
