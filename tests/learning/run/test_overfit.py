from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "overfit.py"


@pytest.mark.slow
@pytest.mark.parametrize("treebank", ["drg-deu", "ptg-ces"])
def test_twenty_sentences_are_learned_by_heart(shared, treebank, one_thread):
    """Two treebanks of the nine that the script runs."""
    spec = importlib.util.spec_from_file_location("overfit", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    recipe = script.overfitting(treebank, str(shared / "data"), sentences=20, epochs=100)
    graphs, _, _, f1, _ = script.learned_by_heart(recipe)
    assert graphs == 20
    assert f1 >= 0.99
