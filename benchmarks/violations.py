"""How many graphs break the rules of their framework: parsed ones beside gold ones.

    python benchmarks/violations.py ../shared/data --models eng multi --limit 150 [--signatures]
    python benchmarks/violations.py ../shared/data --gold

The first command parses dev text of each model's treebanks and text of another treebank of the same language.  The
network runs once; its predictions are decoded freely and with rules.  For each rule it prints the graphs that break it,
then one row a text: the percentage of graphs that break a hard rule and a soft one (all gold graphs of dev, free, with
rules), F1 on dev both ways, CPU time of both decodings (the least of three runs) and of the network.  At the end come
sentences of 200 tokens, and of 200 names.  ``--signatures`` learns property signatures from train, for models that were
packaged without them.

The second command counts, over all gold graphs, the cases in which each rule is broken: the rates in
``perin.graphs.framework_rules``.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from machine import describe

from perin.contract import Sentence
from perin.contract.heads import Prediction
from perin.errors import Tolerant
from perin.frameworks import Vocabulary, learn_signatures
from perin.graphs import Graph, findings, load
from perin.graphs.constraints import Constraint, view
from perin.graphs.framework_rules import RELATIONS, broken, rules_of
from perin.model import model_folder
from perin.model.folder import ModelFolder
from perin.model.trained import TrainedModel
from perin.parsing.streaming import predictions
from perin.scoring import find_metric, score_pairs
from perin.scoring.reading import pair
from perin.scoring.result import Result
from perin.text.tokenizer import tokenize

T = TypeVar("T")
_RUNS = 3
_LONG = {
    "eng": ("Tom", "The dogs that Mary saw in Prague on Monday did not bark , but"),
    "deu": ("Tom", "Die Hunde , die Maria am Montag in Prag sah , bellten nicht , aber"),
    "zho": ("李明", "我 昨天 在 北京 看见 了 三 只 小 狗 ，"),
    "ces": ("Petr", "Psi , které Marie viděla v pondělí v Praze , neštěkali , ale"),
}
"""By language: a name and the beginning of a sentence, which are repeated."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of treebanks")
    parser.add_argument("--gold", action="store_true", help="count in gold graphs only")
    parser.add_argument("--models", nargs="*", default=["eng", "multi"], metavar="MODEL")
    parser.add_argument("--treebanks", nargs="*", metavar="NAME", help="only these (default: all)")
    parser.add_argument("--limit", type=int, default=150, help="sentences of each file")
    parser.add_argument("--signatures", action="store_true", help="learn property signatures from train")
    arguments = parser.parse_args()
    if arguments.gold:
        for folder in sorted(arguments.data.iterdir()):
            if arguments.treebanks is None or folder.name in arguments.treebanks:
                count_gold(folder)
        return
    print(describe())
    rows: list[str] = []
    long: list[str] = []
    for name in arguments.models:
        model = TrainedModel.load(ModelFolder.read(model_folder(name)))
        for treebank, known in model.treebanks.items():
            if arguments.treebanks is not None and treebank not in arguments.treebanks:
                continue
            words = known.vocabulary
            if arguments.signatures:
                words = learn_signatures(load(_file(arguments.data / treebank, "train"), report=Tolerant()), words)
            rows += compare(model, treebank, words, arguments.data, arguments.limit)
            long += decode_long_sentences(model, treebank, words)
    print(
        "| treebank | text | graphs | hard %: gold, free, rules | soft %: gold, free, rules | F1 free, rules | ", end=""
    )
    print("decoding ms free, rules | network ms | decoding grows | parsing grows |\n|" + "---|" * 10)
    print(*rows, sep="\n")
    print("\n| treebank | sentence | nodes | ms free | ms with rules | errors |\n|" + "---|" * 6)
    print(*long, sep="\n")


@dataclass(frozen=True)
class Text:
    """Sentences of a treebank, what a network says about them, and how long it took for each."""

    name: str
    graphs: list[Graph]
    predictions: list[Prediction]
    milliseconds: float


def compare(model: TrainedModel, name: str, words: Vocabulary, data: Path, limit: int) -> list[str]:
    """Print the rules that graphs of a treebank break; the rows of the last table."""
    form = model.treebanks[name].framework
    all_gold = list(load(_file(data / name, "dev"), report=Tolerant()))
    gold = all_gold[:limit]
    others = [path.parent for path in sorted(data.glob(f"*-{words.language}/dev.*")) if path.parent.name != name]
    others = sorted(dict.fromkeys(others), key=lambda folder: not folder.name.startswith("ucca"))
    texts = [_predicted(model, name, name, gold)]
    if others:
        graphs = list(islice(load(_file(others[0], "dev"), report=Tolerant()), limit))
        texts.append(_predicted(model, name, others[0].name, graphs))
    columns: dict[str, list[Graph]] = {"gold": gold}
    rows = []
    for text in texts:
        free, free_ms = _timed(
            lambda: [form.decode(each, words, constraints=False) for each in text.predictions]  # noqa: B023 - called at once
        )
        obeying, ms = _timed(lambda: [form.decode(each, words) for each in text.predictions])  # noqa: B023 - called at once
        columns |= {f"{text.name} text, free": free, f"{text.name} text, with rules": obeying}
        count = len(text.graphs)
        hard, soft = (
            ", ".join(f"{100 * _share(graphs, soft=soft):.1f}" for graphs in (all_gold, free, obeying))
            for soft in (False, True)
        )
        score = f"{_f1(gold, free):.2f}, {_f1(gold, obeying):.2f}" if text.name == name else ""
        growth = (ms - free_ms) / free_ms, (ms - free_ms) / (free_ms + text.milliseconds * count)
        rows.append(
            f"| {name} | {text.name} | {count} | {hard} | {soft} | {score} | {free_ms / count:.2f}, {ms / count:.2f} | "
            f"{text.milliseconds:.2f} | {growth[0]:+.0%} | {growth[1]:+.0%} |"
        )
        print(rows[-1], flush=True)
    counts = {title: _broken(graphs) for title, graphs in columns.items()}
    print(f"\n| {name} | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for rule in rules_of(gold[0]):
        cells = [str(counts[title][rule]) for title in columns]
        if any(cell != "0" for cell in cells):
            print(f"| {described(rule)} | " + " | ".join(cells) + " |")
    print(flush=True)
    return rows


def decode_long_sentences(model: TrainedModel, name: str, words: Vocabulary) -> list[str]:
    """The rows of the table of long sentences."""
    form, language = model.treebanks[name].framework, words.language or "eng"
    single, several = _LONG[language]
    rows = []
    for title, tokens in (("200 names", [single] * 200), ("200 tokens", (several.split() * 20)[:200])):
        sentence = tokenize(" ".join(tokens), language, "1")
        ((_, found),) = predictions(model, [sentence], [name])
        prediction = found[name]
        _, free_ms = _timed(lambda: form.decode(prediction, words, constraints=False))  # noqa: B023 - called at once
        graph, ms = _timed(lambda: form.decode(prediction, words))  # noqa: B023 - called at once
        errors = sum(finding.severity == "error" for finding in findings(graph))
        rows.append(f"| {name} | {title} | {len(prediction)} | {free_ms:.1f} | {ms:.1f} | {errors} |")
    return rows


def count_gold(folder: Path) -> None:
    """Print how often gold graphs break each rule."""
    cases: Counter[Constraint] = Counter()
    faults: Counter[Constraint] = Counter()
    graphs = 0
    for graph in _graphs(folder):
        graphs += 1
        seen = view(graph, RELATIONS.get(graph.framework or ""))
        for rule in rules_of(graph):
            cases[rule] += rule.cases(seen)
            faults[rule] += sum(1 for _ in rule.violations(seen))
    print(f"\n{folder.name}: {graphs:,} graphs\n")
    print("| rule | cases | broken | share | rate in the rules |\n|---|---|---|---|---|")
    for rule, count in cases.items():
        share = f"{faults[rule] / count:.5f}" if faults[rule] else "0"
        print(f"| {described(rule)} | {count:,} | {faults[rule]:,} | {share} | {rule.rate:g} |", flush=True)


def described(rule: Constraint) -> str:
    """A rule in a table's cell."""
    fields = {name: value for name, value in vars(rule).items() if name != "rate" and value not in (".*", False)}
    texts = [name if value is True else f"{name} `{_shortened(str(value))}`" for name, value in fields.items()]
    return (f"{type(rule).__name__} " + ", ".join(texts)).replace("|", "\\|").strip()


def _shortened(text: str, longest: int = 48) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _file(folder: Path, split: str) -> Path:
    mrp = folder / f"{split}.mrp.gz"
    return mrp if mrp.exists() else folder / f"{split}.umr.gz"


def _graphs(folder: Path) -> Iterator[Graph]:
    for path in sorted([*folder.glob("*.mrp.gz"), *folder.glob("*.umr.gz")]):
        if "silver" not in path.name:
            yield from load(path, report=Tolerant())


def _predicted(model: TrainedModel, name: str, source: str, graphs: list[Graph]) -> Text:
    language = model.treebanks[name].vocabulary.language
    sentences: list[Sentence] = [tokenize(graph.input or "", language, graph.id) for graph in graphs]
    started = time.process_time()
    found = dict(predictions(model, sentences, [name]))
    milliseconds = 1000 * (time.process_time() - started) / len(sentences)
    return Text(source, graphs, [found[index][name] for index in range(len(sentences))], milliseconds)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """A result and the CPU time in milliseconds, the least of some runs."""
    least = float("inf")
    for _ in range(_RUNS):
        started = time.process_time()
        result = work()
        least = min(least, 1000 * (time.process_time() - started))
    return result, least


def _share(graphs: list[Graph], *, soft: bool) -> float:
    """The share of graphs that break a soft rule, or a hard one."""
    return sum(any(bool(rule.rate) == soft for rule, _ in broken(graph)) for graph in graphs) / len(graphs)


def _broken(graphs: Iterable[Graph]) -> Counter[Constraint]:
    return Counter(rule for graph in graphs for rule in {rule for rule, _ in broken(graph)})


def _f1(gold: list[Graph], system: list[Graph]) -> float:
    metric = find_metric("mrp")
    return 100 * Result(metric, list(score_pairs(pair(gold, system, report=Tolerant()), metric, jobs=1, budget=2.0))).f1


if __name__ == "__main__":
    main()
