from __future__ import annotations

import pytest

from perin.text import tokenize
from perin.text.dictionary import content_words


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
