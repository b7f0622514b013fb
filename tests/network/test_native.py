import pytest

from perin.network import native
from perin.network.native import library


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
    monkeypatch.setattr("ctypes.CDLL", lambda path: object())
    assert library() is None


def test_a_library_is_not_used_on_other_processors(monkeypatch):
    if library() is None:
        pytest.skip("the package's C code was not compiled or can't run here")

    class Without:
        linear = feedforward = attention = type("Function", (), {})

        def __init__(self, path):
            self.has_avx2 = lambda: 0

    library.cache_clear()
    monkeypatch.setattr("ctypes.CDLL", Without)
    assert library() is None
