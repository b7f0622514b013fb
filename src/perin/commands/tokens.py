"""Split text into tokens with lemmas and character ranges.

The text is given as arguments, in a file, or on standard input, one sentence per line; blank lines are skipped.
Prints a line for each token: first character, character after the last one, form, lemma; a blank line after a sentence.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from perin.commands import is_file
from perin.errors import InputError, UsageError
from perin.files import check_distinct, read_lines, read_text, source_name, write_text
from perin.text.adapters import FORMATS, TOKENIZERS, load_tokenizer, read_tokens
from perin.text.alignment import align
from perin.text.languages import LANGUAGES, identify
from perin.text.tokenizer import LAYOUTS, Passage, passages

SAMPLE = 20
"""Lines whose language is looked at."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``perin tokens``."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="a sentence, or the name of a file")
    parser.add_argument("-i", "--input", metavar="FILE", help="a file of text (default: standard input)")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write (default: standard output)")
    parser.add_argument(
        "--language", metavar="CODE", help=f"language of the text: {', '.join(LANGUAGES)} (default: guessed)"
    )
    parser.add_argument(
        "--layout",
        choices=LAYOUTS,
        default="lines",
        help="lines: one sentence per line; paragraphs: running text, to be split into sentences (default: lines)",
    )
    parser.add_argument(
        "--split", dest="layout", action="store_const", const="paragraphs", help="the same as --layout paragraphs"
    )
    parser.add_argument(
        "--tokens",
        metavar="FILE",
        help="take tokens and lemmas from this CoNLL-U or companion MRP file; text that is given must match",
    )
    parser.add_argument("--format", choices=FORMATS, help="format of the file of --tokens (default: by its name)")
    parser.add_argument("--tokenizer", choices=TOKENIZERS, default="perin", help="who tokenizes (default: perin)")
    parser.add_argument("--model", help="model of the tokenizer, where it needs one")
    parser.add_argument("--json", action="store_true", help="print each sentence as a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the tokens of all sentences, or write them to a file, which appears when all are written."""
    if len(arguments.text) == 1 and arguments.input is None and is_file(arguments.text[0], "perin tokens"):
        arguments.input, arguments.text = arguments.text[0], []
    if arguments.output is None:
        _print(arguments, sys.stdout)
        return 0
    check_distinct(arguments.tokens or arguments.input or (None if arguments.text else "-"), arguments.output)
    with write_text(arguments.output) as stream:
        _print(arguments, stream)
    return 0


def _print(arguments: argparse.Namespace, stream: TextIO) -> None:
    for passage in _passages(arguments):
        if arguments.json:
            fields = sentence_fields(passage, in_document=arguments.layout == "paragraphs" and not arguments.tokens)
            print(json.dumps(fields, ensure_ascii=False), file=stream)
        else:
            for token in passage.sentence.tokens:
                form, lemma = (" ".join(field.split()) for field in (token.form, token.lemma))
                print(token.start + passage.start, token.end + passage.start, form, lemma, sep="\t", file=stream)
            print(file=stream)


def sentence_fields(passage: Passage, *, in_document: bool = False) -> dict[str, Any]:
    """A sentence as a JSON object; ``in_document`` adds where it stands in its document."""
    start, sentence = passage
    fields: dict[str, Any] = {} if sentence.id is None else {"id": sentence.id}
    fields["text"] = sentence.text
    if in_document:
        fields |= {"from": start, "to": start + len(sentence.text)}
    fields["tokens"] = [
        {"form": token.form, "lemma": token.lemma, "from": token.start, "to": token.end} for token in sentence.tokens
    ]
    return fields


def _passages(arguments: argparse.Namespace) -> Iterator[Passage]:
    for text in arguments.text:
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError("the text is not UTF-8; convert it, or set the locale to a UTF-8 one")
    if arguments.text and arguments.input:
        raise UsageError("text is given as an argument and as a file; give one of them")
    if arguments.tokens:
        yield from _from_file(arguments)
        return
    in_lines = arguments.layout == "lines"
    texts = _lines(arguments) if in_lines else iter(arguments.text or [read_text(arguments.input or "-")])
    first = list(itertools.islice(texts, SAMPLE))
    language = arguments.language or guessed_language(first)
    tokenize = load_tokenizer(arguments.tokenizer, language, arguments.model)
    for text in itertools.chain(first, texts):
        yield from [Passage(0, tokenize(text))] if in_lines else passages(text, language, "paragraphs", tokenize)


def guessed_language(texts: Sequence[str]) -> str:
    """The language of texts, of those that there are tokens for; says what was guessed."""
    found = identify("\n".join(texts))
    language = found if found in LANGUAGES else "eng"
    assert language is not None
    if texts:
        doubt = "" if found == language else f" (not sure: {f'looks like {found}' if found else 'too few known words'})"
        print(f"perin tokens: guessed the language {language}{doubt}; --language sets it", file=sys.stderr)
    return language


def _lines(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.text:
        yield from arguments.text
    else:
        yield from (line for line in read_lines(arguments.input or "-") if line and not line.isspace())


def _from_file(arguments: argparse.Namespace) -> Iterator[Passage]:
    """The sentences of the file of tokens, on the text that is given, if one is."""
    source = source_name(arguments.tokens)
    sentences = read_tokens(arguments.tokens, arguments.language, arguments.format)
    if not arguments.text and not arguments.input:
        yield from (Passage(0, sentence) for sentence in sentences)
        return
    for number, (text, sentence) in enumerate(itertools.zip_longest(_lines(arguments), sentences)):
        if sentence is None:
            raise InputError(f"the file has fewer sentences than the text: only {number}", source=source)
        if text is None:
            raise InputError(f"the file has more sentences than the text, which has {number}", source=source)
        yield Passage(0, align(sentence, text, source))
