"""Raw text to sentences, tokens, lemmas and character ranges."""

from perin.contract import Sentence, Token
from perin.text.adapters import load_tokenizer, read_tokens
from perin.text.alignment import align, refine
from perin.text.numbers import to_number
from perin.text.tokenizer import Passage, lemmatize, passages, split_sentences, tokenize
from perin.text.translation import Chain, Glossary, MarianTranslator, Translator, learn_glossary, translated

__all__ = [
    "Chain",
    "Glossary",
    "MarianTranslator",
    "Passage",
    "Sentence",
    "Token",
    "Translator",
    "align",
    "learn_glossary",
    "lemmatize",
    "load_tokenizer",
    "passages",
    "read_tokens",
    "refine",
    "split_sentences",
    "to_number",
    "tokenize",
    "translated",
]
