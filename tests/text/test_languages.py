"""Languages and their dictionaries."""

from __future__ import annotations

import gzip
import json

import pytest

from perin.text import tokenize
from perin.text.dictionary import content_words, is_word
from perin.text.languages import identify


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The dog that we saw in the garden is asleep.", "eng"),
        ("Der Hund, den wir im Garten gesehen haben, schläft.", "deu"),
        ("Pes, kterého jsme viděli na zahradě, už spí.", "ces"),
        ("Pes, ktorý bol v záhrade, už spí, aj keď nie je ticho.", "slk"),
        ("我们在花园里看到的那只狗睡着了。", "zho"),
        ("私たちが庭で見た犬は眠っている。", "jpn"),
        ("Собака спит в саду.", "rus"),
        ("Il cane che abbiamo visto nel giardino dorme.", "ita"),
        ("El perro que vimos en el jardín duerme.", "spa"),
        ("De hond die wij in de tuin hebben gezien slaapt.", "nld"),
        ("OK", None),
        ("", None),
        ("12 % ?!", None),
        ("TCP/IP UTF-8", None),
    ],
)
def test_what_language_it_is(text, language):
    assert identify(text) == language


@pytest.mark.parametrize("treebank", ["eds-eng", "drg-deu", "ucca-deu", "ptg-ces", "amr-zho", "drg-eng"])
def test_no_treebank_is_taken_for_another_language(shared, treebank):
    language = treebank.partition("-")[2]
    with gzip.open(shared / "data" / treebank / "dev.mrp.gz", "rt", encoding="utf-8") as stream:
        texts = [json.loads(line)["input"] for line in stream]
    found = [identify("\n".join(texts[start : start + 10])) for start in range(0, min(len(texts), 500), 10)]
    assert set(found) <= {language, None}
    assert found.count(language) > 0.8 * len(found)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("eng", "She did not see 3 of the old dogs in Prague, though.", ["see", "3", "old", "dogs", "Prague"]),
        ("deu", "Der alte Hund hat nicht mit ihm geschlafen.", ["alte", "Hund", "geschlafen"]),
        ("ces", "Kočka spí na stole, ale pes ne.", ["Kočka", "spí", "stole", "pes"]),
        ("zho", "他的狗在睡觉。", ["狗", "睡觉"]),
    ],
)
def test_content_words(language, text, words):
    assert [token.form for token in content_words(tokenize(text, language))] == words


@pytest.mark.parametrize(
    ("language", "words", "others"),
    [
        ("eng", "constrict persuaded sales Every every a 1990s", "constricte exhibi s t passenge"),
        ("deu", "gingen Haus und 3.", "gingenen hausx"),
        ("ces", "hrát umísťovat kočka se", "mocihrát umísťujt býtřídit"),
    ],
)
def test_words_of_dictionaries(language, words, others):
    assert [word for word in words.split() if not is_word(word, language)] == []
    assert [word for word in others.split() if is_word(word, language)] == []
