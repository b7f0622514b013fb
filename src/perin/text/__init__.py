"""Raw text to sentences, tokens, lemmas and character ranges."""

from perin.text.alignment import align
from perin.text.lemmas import lemmatize
from perin.text.numbers import to_number
from perin.text.refinement import refine
from perin.text.sentence import Sentence, Token
from perin.text.token_files import read_tokens
from perin.text.tokenizer import tokenize

__all__ = ["Sentence", "Token", "align", "lemmatize", "read_tokens", "refine", "to_number", "tokenize"]
