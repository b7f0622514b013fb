"""What several tests need: the shared treebanks and format samples, where they are present.

Property tests draw the same examples in every run, so that a change is judged by what it changed;
``--hypothesis-profile=explore`` draws new ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("steady")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of treebanks and fixtures beside the checkout; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder 'shared' with the treebanks is not beside the checkout")
    return SHARED
