"""How good and how fast the text room is, beside what else could have been used.

python benchmarks/text.py [speed coverage chinese lemmas numbers sentences translation] [--data ../shared/data]

Without names all tables are printed.  Candidates that are not installed are left out of their table.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from machine import describe
from text_candidates import lemmatizers, located, number_reader, segmenters, splitters

from perin.frameworks.drg import DRG
from perin.frameworks.learn import learn_from_treebank
from perin.frameworks.roundtrip import round_trip
from perin.graphs import Graph, load
from perin.labels.minimal import learn_rules
from perin.labels.rules import AbsoluteRule, LabelItem
from perin.scoring import score
from perin.text import (
    Glossary,
    Sentence,
    Token,
    learn_glossary,
    read_tokens,
    to_number,
    tokenize,
    translated,
)
from perin.text.alignment import Coverage, coverage
from perin.text.translation import label_lemma

HERE = Path(__file__).parent


def main() -> None:
    tables = {
        "speed": speed_table,
        "coverage": coverage_table,
        "chinese": chinese_table,
        "lemmas": lemma_table,
        "numbers": number_table,
        "sentences": sentence_table,
        "translation": translation_table,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"tables to print: {', '.join(tables)} (default: all)"
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the treebanks")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print(describe())
    for name in arguments.tables or tables:
        print(f"\n## {name}\n")
        tables[name](arguments.data)


def splits(data: Path, treebank: str) -> Iterator[tuple[str, list[Graph]]]:
    for path in sorted((data / treebank).glob("*.mrp.gz")):
        yield path.name.removesuffix(".mrp.gz"), list(load(path))


def row(*cells: object) -> None:
    print(
        "| " + " | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True
    )


def header(*cells: str) -> None:
    row(*cells)
    print("|" + "---|" * len(cells))


def coverage_table(data: Path) -> None:
    """Gold anchors on token boundaries, and tokens per token of the CoNLL-U file."""
    header("treebank", "split", "anchors", "on token boundaries %", "tokens : CoNLL-U")
    for treebank in (
        "eds-eng",
        "ptg-eng",
        "ptg-ces",
        "ucca-eng",
        "ucca-deu",
        "amr-zho",
        "drg-eng",
        "drg-deu",
        "amr-eng",
    ):
        total, all_tokens, all_given = Coverage(0, 0), 0, 0
        for split, graphs in splits(data, treebank):
            sentences = [tokenize(graph.input or "", graph.language) for graph in graphs]
            found = summed(map(coverage, graphs, sentences))
            tokens = sum(map(len, sentences))
            given = sum(map(len, read_tokens(data / treebank / f"{split}.conllu.gz")))
            row(treebank, split, found.anchors, share(found), f"{tokens / given:.3f}")
            total, all_tokens, all_given = total.plus(found), all_tokens + tokens, all_given + given
        row(treebank, "all", total.anchors, share(total), f"{all_tokens / all_given:.3f}")


def summed(parts: Iterable[Coverage]) -> Coverage:
    total = Coverage(0, 0)
    for part in parts:
        total = total.plus(part)
    return total


def share(found: Coverage) -> float | str:
    return 100 * found.expressible / found.anchors if found.anchors else "no anchors"


def chinese_table(data: Path) -> None:
    """Text whose spaces were removed: anchors on boundaries, F1 of gold words, words per gold word."""
    treebank = dict(splits(data, "amr-zho"))
    gold = Counter(word for graph in treebank["train"] for word in (graph.input or "").split())
    header("words by", "dev anchors %", "dev F1", "dev ratio", "train anchors %", "train F1", "train ratio")
    for name, segment in segmenters(gold).items():
        row(name, *(figure for split in ("dev", "train") for figure in segmentation(treebank[split], segment)))


def segmentation(graphs: list[Graph], segment: Callable[[str], list[str]]) -> tuple[float, float, float]:
    total, right, found, gold = Coverage(0, 0), 0, 0, 0
    for graph in graphs:
        text = graph.input or ""
        places = [position for position, character in enumerate(text) if not character.isspace()]
        tokens, start = [], 0
        for word in segment("".join(text.split())):
            tokens.append(Token(word, word, places[start], places[start + len(word) - 1] + 1))
            start += len(word)
        total = total.plus(coverage(graph, Sentence(text, tuple(tokens))))
        words = {match.span() for match in re.finditer(r"\S+", text)}
        right += len(words & {(token.start, token.end) for token in tokens})
        found, gold = found + len(tokens), gold + len(words)
    return 100 * total.expressible / total.anchors, 200 * right / (found + gold), found / gold


def lemma_table(data: Path) -> None:
    """Lemmas equal to gold ones, upper and lower case aside."""
    header("language", "gold", "tokens", "lemmatizer", "right %", "with case %")
    for language, name, gold in lemma_sources(data):
        tokens = sum(len(sentence) for sentence in gold)
        for candidate, lemmatize in lemmatizers(language, has_parts=bool(gold[0][0][2])).items():
            right = exact = 0
            for sentence in gold:
                lemmas = lemmatize([form for form, _, _ in sentence], [part for _, _, part in sentence])
                for lemma, (_, expected, _) in zip(lemmas, sentence, strict=True):
                    right += lemma.lower() == expected.lower()
                    exact += lemma == expected
            row(language, name, tokens, candidate, 100 * right / tokens, 100 * exact / tokens)


def lemma_sources(data: Path) -> Iterator[tuple[str, str, list[list[tuple[str, str, str]]]]]:
    """Language, name, and sentences of form, gold lemma and gold part of speech."""
    for language, treebank, names in (
        ("eng", "ucca-eng", ("dev", "train")),
        ("eng", "ptg-eng", ("dev", "train")),
        ("ces", "ptg-ces", ("dev", "train")),
    ):
        rows = [block for name in names for block in conllu_rows(data / treebank / f"{name}.conllu.gz")]
        yield language, f"{treebank} {' + '.join(names)}", rows
    table = [
        line.split("\t") for line in (HERE / "german_lemmas.tsv").read_text("utf-8").splitlines() if line[0] != "#"
    ]
    yield "deu", "own list of 200 forms", [[(form, lemma, "")] for form, lemma in table]


def conllu_rows(path: Path) -> list[list[tuple[str, str, str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        blocks = stream.read().split("\n\n")
    rows = [[line.split("\t") for line in block.splitlines() if line[:1].isdigit()] for block in blocks]
    return [[(cells[1], cells[2], cells[3]) for cells in block] for block in rows if block and block[0][2] != "_"]


def number_table(data: Path) -> None:
    """Number words of the treebanks read as the digits of their labels."""
    header("number words", "different", "perin %", "other library", "its %")
    for name, language, pairs in number_sources(data):
        other, read = number_reader(language)
        own = [to_number(words.split(), language) == digits for words, digits in pairs]
        theirs = [read(words) == digits for words, digits in pairs] if read else None
        row(name, len(pairs), 100 * sum(own) / len(own), other, 100 * sum(theirs) / len(theirs) if theirs else "-")


def number_sources(data: Path) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Spelled numbers and digits, each pair once: EDS cardinals and ordinals; Chinese AMR."""
    pairs = {
        (graph.anchored_text(node.id).strip(".,;:()\"'").lower(), str(node.get("CARG")))
        for _, graphs in splits(data, "eds-eng")
        for graph in graphs
        for node in graph.nodes
        if node.label in ("card", "ord") and str(node.get("CARG")).isdecimal()
    }
    yield "eds-eng card, ord", "eng", sorted(pair for pair in pairs if not any(map(str.isdecimal, pair[0])) and pair[0])
    pairs = {
        (graph.anchored_text(node.id), node.label or "")
        for _, graphs in splits(data, "amr-zho")
        for graph in graphs
        for node in graph.nodes
        if (node.label or "").isdecimal() and node.anchors
    }
    yield "amr-zho", "zho", sorted(pair for pair in pairs if not any(map(str.isdigit, pair[0])))


def sentence_table(data: Path) -> None:
    """F1 of whole sentences of dev, put one after the other; those without a sign at their end are left out."""
    header("treebank", "sentences", "splitter", "F1")
    for treebank in ("eds-eng", "drg-eng", "ucca-eng", "ucca-deu", "drg-deu", "ptg-ces", "amr-zho"):
        language = treebank[-3:]
        inputs = [(graph.input or "").strip() for graph in load(data / treebank / "dev.mrp.gz")]
        inputs = [text for text in inputs if text.rstrip("\"'”’)]")[-1:] in (".", "!", "?", "…", "。", "！", "？")]
        if language == "zho":
            inputs = ["".join(text.split()) for text in inputs]
        gap = "" if language == "zho" else " "
        text = gap.join(inputs)
        gold = located(inputs, text)
        for name, ranges in splitters(text, language).items():
            row(treebank, len(inputs), name, 200 * len(gold & ranges) / (len(gold) + len(ranges)))


def translation_table(data: Path) -> None:
    """What translated lemmas do to label rules of German DRG: learned on train, applied to dev."""
    pairs = {
        split: [(graph, tokenize(graph.input or "", "deu", graph.id)) for graph in graphs]
        for split, graphs in splits(data, "drg-deu")
    }
    learned = learn_glossary(
        (
            [token.lemma for token in sentence.tokens],
            [item.label for item in DRG.label_items(graph, sentence) if item.label != DRG.required],
        )
        for graph, sentence in pairs["train"]
    )
    header(
        *("lemmas", "entries", "rules", "of them absolute", "dev nodes with a rule %"),
        *("dev nodes with a label unseen in train", "of them with a rule %", "dev words that are a lemma %"),
        "F1 of a perfect network on dev",
    )
    for name, glossary in (("German", Glossary({})), ("glossary learned from train", learned)):
        items = {split: label_items(examples, glossary) for split, examples in pairs.items()}
        rules = learn_rules(items["train"], DRG.space("deu")).rules
        seen = {item.label for item in items["train"]}
        unseen = [item for item in items["dev"] if item.label not in seen]
        row(
            *(name, len(glossary.entries), len(rules), sum(isinstance(rule, AbsoluteRule) for rule in rules)),
            *(encoded(rules, items["dev"]), len(unseen), encoded(rules, unseen), words_produced(items["dev"])),
            ceiling(pairs, glossary),
        )


def ceiling(pairs: dict[str, list[tuple[Graph, Sentence]]], glossary: Glossary) -> float:
    """What the oracle of a vocabulary learned on train reaches on dev."""
    graphs, sentences = zip(*pairs["train"], strict=True)
    vocabulary = learn_from_treebank(DRG, graphs, sentences, "deu", glossary=glossary.entries)
    found = [round_trip(DRG, graph, sentence, vocabulary).graph for graph, sentence in pairs["dev"]]
    return 100 * score([graph for graph, _ in pairs["dev"]], found, "mrp").total.tallies["all"].f1


def label_items(pairs: list[tuple[Graph, Sentence]], glossary: Glossary) -> list[LabelItem]:
    return [item for graph, sentence in pairs for item in DRG.label_items(graph, translated(sentence, glossary))]


def encoded(rules: Any, items: list[LabelItem]) -> float:
    return 100 * sum(bool(rules.encodings(item)) for item in items) / len(items)


def words_produced(items: list[LabelItem]) -> float:
    """Labels whose word is a lemma of the sentence; scopes do not count."""
    items = [item for item in items if item.label != DRG.required]
    produced = (label_lemma(item.label).lower() in {lemma.lower() for lemma in item.lemmas} for item in items)
    return 100 * sum(produced) / len(items)


def speed_table(data: Path) -> None:
    """Tokens with lemmas per second of CPU time: the first time a text is seen, and when its words are known."""
    header(
        "treebank",
        "sentences",
        "tokens",
        "loading s",
        "first: tokens/s",
        "sentences/s",
        "again: tokens/s",
        "sentences/s",
    )
    for treebank in ("ucca-eng", "eds-eng", "ucca-deu", "ptg-ces", "amr-zho"):
        language = treebank[-3:]
        texts = [graph.input or "" for graph in load(data / treebank / "train.mrp.gz")]
        texts = ["".join(text.split()) for text in texts] if language == "zho" else texts
        start = time.process_time()
        tokenize("was 是", language)
        figures: list[object] = [f"{time.process_time() - start:.1f}"]
        tokens = 0
        for _ in range(2):
            start = time.process_time()
            tokens = sum(len(tokenize(text, language)) for text in texts)
            seconds = time.process_time() - start
            figures += [f"{tokens / seconds:,.0f}", f"{len(texts) / seconds:,.0f}"]
        row(treebank, len(texts), tokens, *figures)


if __name__ == "__main__":
    main()
