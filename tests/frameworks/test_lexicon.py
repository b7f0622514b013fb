"""Valency frames: lexica from treebanks and from Vallex files, and the choice among listed frames."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perin.errors import InputError
from perin.frameworks.decoding.assembly import choose_properties
from perin.frameworks.learn import learn_vocabulary
from perin.frameworks.vocabulary import class_name, frame, lexicon, merged, read_vallex
from perin.graphs import dump
from perin.graphs.graph import Property

VALLEX = """<?xml version="1.0" encoding="utf-8"?>
<valency_lexicon owner="test"><head/><body>
  <word lemma="bát se" POS="V" id="v-w1"><valency_frames>
    <frame id="v-w1f1" status="active"><frame_elements><element functor="ACT"/></frame_elements></frame>
    <frame id="v-w1f3"/>
  </valency_frames></word>
  <word lemma="Jet" POS="V" id="v-w2"><valency_frames><frame id="v-w2f1"/></valency_frames></word>
  <word lemma="jet" POS="N" id="v-w3"><valency_frames><frame id="v-w3f1"/></valency_frames></word>
  <word lemma="nic" POS="V" id="v-w4"><valency_frames/></word>
</body><tail/></valency_lexicon>
"""


def test_a_vallex_file(tmp_path: Path) -> None:
    path = tmp_path / "vallex.xml"
    path.write_text(VALLEX, encoding="utf-8")
    assert read_vallex(path) == {"bát_se": ("v#v-w1f1", "v#v-w1f3"), "jet": ("v#v-w2f1", "v#v-w3f1")}
    assert read_vallex(path, prefix="en-v#")["jet"][0] == "en-v#v-w2f1"


def test_frames_of_a_vallex_file_are_added_to_those_of_the_treebank(samples: dict[str, Any], tmp_path: Path) -> None:
    """The treebank has ``v#v-w5f2`` of přijít; a frame that two entries of a label have is told by its whole name."""
    path = tmp_path / "vallex.xml"
    sample = samples["ptg"]
    path.write_text(VALLEX.replace("bát se", "Přijít"), encoding="utf-8")
    given = (sample.framework, [sample.graph], "ces", sample.vocabulary.rules)
    words, plain = learn_vocabulary(*given, vallex=path), learn_vocabulary(*given)
    assert plain.lexica["frame"] == {"myslet": ("v#v-w9f2",), "přijít": ("v#v-w5f2",)}
    assert words.lexica["frame"]["přijít"] == ("v#v-w5f2", "v#v-w1f1", "v#v-w1f3")
    assert words.lexica["frame"]["jet"] == ("v#v-w2f1", "v#v-w3f1")
    assert words.property_classes == plain.property_classes
    path.write_text(VALLEX.replace("bát se", "přijít").replace("w1f3", "w1f2"), encoding="utf-8")
    assert set(learn_vocabulary(*given, vallex=path).property_classes["frame"]) == {"f2", "v#v-w5f2"}


def test_a_recipe_names_the_file(samples: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from perin.learning import load_recipe
    from perin.learning.data import load_corpus

    monkeypatch.setenv("PERIN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "vallex.xml").write_text(VALLEX, encoding="utf-8")
    dump([samples["ptg"].graph], tmp_path / "train.mrp")
    treebank = 'framework = "ptg"\nlanguage = "ces"\ntrain = "train.mrp"\nvallex = "vallex.xml"\n'
    recipe = f'name = "a"\ndata = "{tmp_path.as_posix()}"\n[[treebanks]]\n{treebank}[network]\nencoder = "characters"\n'
    (tmp_path / "a.toml").write_text(recipe, encoding="utf-8")
    (learned,) = load_corpus(load_recipe(tmp_path / "a.toml")).treebanks
    assert learned.vocabulary.lexica["frame"]["jet"] == ("v#v-w2f1", "v#v-w3f1")


@pytest.mark.parametrize(("content", "message"), [("<a>", "no XML"), ("<a/>", "no word with a frame")])
def test_files_that_are_no_vallex(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "vallex.xml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_vallex(path)
    with pytest.raises(InputError, match="can't be read"):
        read_vallex(tmp_path / "nowhere.xml")


def test_the_class_is_the_frame_unless_two_entries_share_it() -> None:
    assert frame("v#v-w12f2_ZU") == "f2_ZU"
    assert frame("2") == "2"
    assert class_name("v#v-w1f1", ()) == "f1"
    assert class_name("v#v-w1f1", ("v#v-w1f1", "v#v-w7f1", "v#v-w1f2")) == "v#v-w1f1"


def test_values_by_frequency() -> None:
    uses = {"jet": Counter({"f1": 1, "f2": 3}), "být": Counter({"b": 1, "a": 1})}
    assert lexicon(uses) == {"být": ("a", "b"), "jet": ("f2", "f1")}


def test_frames_are_chosen_only_from_what_is_listed(samples: dict[str, Any]) -> None:
    words = samples["ptg"].vocabulary
    assert words.property_classes["frame"] == ("f2",)
    assert words.lexica["frame"] == {"myslet": ("v#v-w9f2",), "přijít": ("v#v-w5f2",)}
    words = replace(words, property_classes={"frame": ("f2", "f1")})
    words = replace(words, lexica={"frame": merged(words.lexica["frame"], {"myslet": ("v#v-w9f1", "v#v-w9f2")})})
    scores = {"frame": np.array([[0.1, 0.3, 0.6], [0.1, 0.3, 0.6], [0.1, 0.3, 0.6], [0.9, 0.1, 0]], dtype=np.float32)}
    chosen = choose_properties(scores, ["přijít", "Myslet", "neznámý", "myslet"], words)
    assert chosen == [(Property("frame", "v#v-w5f2"),), (Property("frame", "v#v-w9f1"),), (), ()]
