from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from perin.errors import UsageError

spacy = pytest.importorskip("spacy")
importlib.import_module("perin.parsing.spacy_component")


@pytest.fixture
def nlp():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return pipeline


def test_every_sentence_of_a_document_is_parsed(nlp, folder):
    nlp.add_pipe("perin", config={"model": str(folder), "framework": "eds"})
    doc = nlp("Kim saw dogs. It rained.\n")
    assert [graph.input for graph in doc._.perin] == ["Kim saw dogs.", "It rained."]
    assert {graph.framework for graph in doc._.perin} == {"eds"}
    assert nlp("")._.perin == []
    assert spacy.blank("en")("Go.")._.perin is None


def test_documents_in_bulk_are_parsed_as_one_by_one(nlp, folder):
    nlp.add_pipe("perin", config={"model": str(folder)})
    texts = ["Kim saw dogs. It rained.", "", "Go."]
    alone = [[graph.nodes for graph in nlp(text)._.perin] for text in texts]
    assert [[graph.nodes for graph in doc._.perin] for doc in nlp.pipe(texts, batch_size=2)] == alone
    assert list(map(len, alone)) == [2, 0, 1]


@pytest.mark.parametrize("framework", [["amr", "eds"], "AMR,eds"])
def test_several_frameworks_and_documents_without_sentences(folder, framework):
    nlp = spacy.blank("en")
    nlp.add_pipe("perin", config={"model": str(folder), "framework": framework})
    doc = nlp("Kim saw dogs. It rained.")
    assert [[graph.framework for graph in graphs] for graphs in doc._.perin] == [["amr", "eds"]]
    assert doc._.perin[0][0].input == doc.text


def test_parsed_documents_and_pipelines_can_be_stored(nlp, folder, tmp_path):
    nlp.add_pipe("perin", config={"model": str(folder)})
    doc = nlp("Kim saw dogs.")
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.perin == doc._.perin
    nlp.to_disk(tmp_path / "pipeline")
    assert spacy.load(tmp_path / "pipeline")("Kim saw dogs.")._.perin[0].nodes == doc._.perin[0].nodes


def test_what_can_not_be_had_is_told(nlp, folder):
    with pytest.raises(UsageError, match="the model has eds-eng"):
        nlp.add_pipe("perin", config={"model": str(folder), "framework": "drg"})
    with pytest.raises(UsageError, match="no model is known for spaCy's language 'fr'"):
        spacy.blank("fr").add_pipe("perin")


@pytest.mark.parametrize(("spoken", "language"), [("de", "deu"), ("cs", "ces"), ("zh", "zho")])
def test_the_language_of_the_pipeline_chooses_among_those_of_the_model(spoken, language, tmp_path):
    words = ["Kim", "."]
    nlp = spacy.blank(spoken)
    nlp.add_pipe("perin", config={"model": "multi"})
    [graph] = nlp(spacy.tokens.Doc(nlp.vocab, words))._.perin
    assert graph.language == language


def test_the_entry_point_is_declared():
    if sys.version_info < (3, 11):
        pytest.skip("tomllib comes with Python 3.11")
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["perin"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))
