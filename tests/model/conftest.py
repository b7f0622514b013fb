"""The small models of the tests of the parser, for the tests of the model."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_path = Path(__file__).parents[1] / "parsing" / "conftest.py"
_spec = importlib.util.spec_from_file_location("models_of_the_parser_tests", _path)
_models = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_models)

model, folder, texts, parser = _models.model, _models.folder, _models.texts, _models.parser
make_treebank, make_model = _models.make_treebank, _models.make_model
