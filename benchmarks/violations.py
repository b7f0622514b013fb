"""How many graphs break the rules of their framework: parsed ones beside gold ones.

    python benchmarks/violations.py ../shared/data --models eng deu --limit 150
    python benchmarks/violations.py ../shared/data --gold

The first command parses dev text of each model's own treebanks and of another treebank of the same language, with
rules and free of them, and prints the graphs that break each rule, F1 on dev both ways, and decoding time.  The second
counts, over all gold graphs, the cases in which each rule is broken: the rates in ``perin.graphs.framework_rules``.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from perin.contract.prediction import Prediction
from perin.graphs import Graph, load
from perin.graphs.constraints import Constraint, view
from perin.graphs.faults import Tolerant
from perin.graphs.framework_rules import RELATIONS, broken, rules_of
from perin.model.sources import model_folder
from perin.model.trained import Predictor, load_model
from perin.parsing.inference import predictions
from perin.scoring.evaluation import find_metric, score_pairs
from perin.scoring.reading import pair
from perin.scoring.result import Result
from perin.text.tokenizer import tokenize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of treebanks")
    parser.add_argument("--gold", action="store_true", help="count in gold graphs only")
    parser.add_argument("--models", nargs="*", default=["eng", "deu", "ces", "zho"], metavar="MODEL")
    parser.add_argument("--treebanks", nargs="*", metavar="NAME", help="only these (default: all)")
    parser.add_argument("--limit", type=int, default=150, help="sentences of each file")
    arguments = parser.parse_args()
    if arguments.gold:
        for folder in sorted(arguments.data.iterdir()):
            if arguments.treebanks is None or folder.name in arguments.treebanks:
                count_gold(folder)
        return
    for name in arguments.models:
        model = load_model(model_folder(name))
        for treebank in arguments.treebanks or model.treebanks:
            if treebank in model.treebanks:
                compare(model, treebank, arguments.data, arguments.limit)


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
        print(f"| {described(rule)} | {count:,} | {faults[rule]:,} | {share} | {rule.rate:g} |")


def compare(model: Predictor, name: str, data: Path, limit: int) -> None:
    """Print the table of one treebank of a model."""
    known = model.treebanks[name]
    framework, language = known.vocabulary.framework, known.vocabulary.language
    own = data / name / "dev.mrp.gz"
    if not own.exists():
        print(f"\n{name}: there is no {own}")
        return
    gold = list(islice(load(own), limit))
    others = sorted(data.glob(f"*-{language}/dev.mrp.gz"), key=lambda path: path.parent.name != "ucca-eng")
    other = next((path for path in others if path != own), None)
    texts = {name: gold} | ({other.parent.name: list(islice(load(other), limit))} if other is not None else {})
    columns: dict[str, list[Graph]] = {f"gold {name}": gold}
    for source, graphs in texts.items():
        found = _predicted(model, name, graphs)
        for constraints in (False, True):
            started = time.process_time()
            decoded = [known.framework.decode(each, known.vocabulary, constraints=constraints) for each in found]
            milliseconds = 1000 * (time.process_time() - started) / len(found)
            title = f"{source} text, {'with rules' if constraints else 'free'}"
            columns[title] = decoded
            score = f", F1 {_f1(gold, decoded):.2f}" if source == name else ""
            print(f"{name} on {title}: {len(decoded)} graphs, {milliseconds:.2f} ms a graph{score}", flush=True)
    counts = {title: _broken(graphs) for title, graphs in columns.items()}
    print(f"\n| {framework} | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for rule in rules_of(gold[0]):
        cells = [str(counts[title][rule]) for title in columns]
        if any(cell != "0" for cell in cells):
            print(f"| {described(rule)} | " + " | ".join(cells) + " |")
    hard = [sum(any(not rule.rate for rule, _ in broken(graph)) for graph in graphs) for graphs in columns.values()]
    print("| **any hard rule** | " + " | ".join(map(str, hard)) + " |\n", flush=True)


def described(rule: Constraint) -> str:
    """A rule in a table's cell."""
    fields = {name: value for name, value in vars(rule).items() if name != "rate" and value not in (".*", False)}
    texts = [name if value is True else f"{name} `{_shortened(str(value))}`" for name, value in fields.items()]
    return (f"{type(rule).__name__} " + ", ".join(texts)).replace("|", "\\|").strip()


def _shortened(text: str, most: int = 48) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _graphs(folder: Path) -> Iterator[Graph]:
    for path in sorted([*folder.glob("*.mrp.gz"), *folder.glob("*.umr.gz")]):
        yield from load(path, report=Tolerant())


def _predicted(model: Predictor, name: str, graphs: list[Graph]) -> list[Prediction]:
    language = model.treebanks[name].vocabulary.language
    sentences = [tokenize(graph.input or "", language, graph.id) for graph in graphs]
    found = dict(predictions(model, sentences, [name]))
    return [found[index][name] for index in range(len(sentences))]


def _broken(graphs: Iterable[Graph]) -> Counter[Constraint]:
    return Counter(rule for graph in graphs for rule in {rule for rule, _ in broken(graph)})


def _f1(gold: list[Graph], system: list[Graph]) -> float:
    metric = find_metric("mrp")
    return 100 * Result(metric, list(score_pairs(pair(gold, system, report=Tolerant()), metric, jobs=1, budget=2.0))).f1


if __name__ == "__main__":
    main()
