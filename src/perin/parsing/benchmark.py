"""How fast a model is: figures of one process that does nothing else."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from perin.contract import Sentence
from perin.errors import InputError, PerinError, UsageError
from perin.inference.tape import choose_arithmetic
from perin.model.batches import BUDGET, MAX_BATCH_SIZE, cost, cut
from perin.model.trained import TrainedModel
from perin.native import library
from perin.parsing.parser import Frameworks, Parser
from perin.parsing.reading import read_sentences
from perin.parsing.streaming import cores, decode

PARTS = ("prepare", "encoder", "decoder and heads", "graph decoding")
SHORT = 10
"""About as many tokens has the sentence whose latency is measured."""

_CHILD = "import sys; sys.path[0] == '' and sys.path.pop(0); from perin.parsing.benchmark import _child; _child()"
_REPEATS = 15


@dataclass(frozen=True)
class Figures:
    """What was measured; times in seconds."""

    treebanks: list[str]
    sentences: int
    tokens: int
    threads: int
    bits: int
    native: bool
    """Whether the package's C code is there and used."""
    start: float
    """From the start of Python to a parser that is ready."""
    load: float
    """The same without the import of libraries."""
    first: float
    """The first, short sentence."""
    latency: float
    """A short sentence alone, later: the median of several."""
    seconds: float
    """All sentences, by the clock."""
    parts: dict[str, float]
    """All sentences, CPU time on one core by part; reading and writing files apart."""
    memory: float | None
    """The most memory that the process held, in MB; None where the system does not tell."""

    @property
    def sentences_per_second(self) -> float:
        """Throughput of all threads."""
        return self.sentences / self.seconds

    @property
    def tokens_per_second(self) -> float:
        """Throughput of all threads."""
        return self.tokens / self.seconds


def measure(
    folder: Path,
    file: str,
    framework: str | Frameworks | None = None,
    language: str | None = None,
    *,
    threads: int | None = None,
    bits: int | None = None,
) -> Figures:
    """Measure the model of a folder on the sentences of a file, in a process of its own."""
    request = {
        "folder": str(folder),
        "file": file,
        "framework": framework,
        "language": language,
        "threads": threads,
        "bits": bits,
        "started": time.time(),
    }
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(request)], stdout=subprocess.PIPE, text=True, check=False
    )
    answer = json.loads(done.stdout) if done.returncode == 0 else {"error": f"exit code {done.returncode}"}
    if "error" in answer:
        raise UsageError(f"the measurement failed: {answer['error']}")
    return Figures(**answer)


def _child() -> None:
    request = json.loads(sys.argv[1])
    try:
        figures = _measured(**request)
    except PerinError as error:
        print(json.dumps({"error": str(error)}))
    else:
        print(json.dumps(asdict(figures)))


def _measured(
    folder: str,
    file: str,
    framework: str | Frameworks | None,
    language: str | None,
    threads: int | None,
    bits: int | None,
    started: float,
) -> Figures:
    imported = time.time()
    parser = Parser.load(folder, threads=threads, bits=bits)
    loaded = time.time()
    names = parser.chosen(framework, language)
    language = parser.treebanks[names[0]].vocabulary.language
    items = read_sentences(file, language)
    sentences = [item for item in items if not isinstance(item, InputError) and len(item) <= parser.longest]
    if not sentences:
        raise UsageError(f"{file} has no sentence to measure with")
    short = min(sentences, key=lambda sentence: abs(len(sentence) - SHORT))
    first, *later = [_clocked(parser, [short], framework, language) for _ in range(_REPEATS)]
    _clocked(parser, sentences[: 2 * MAX_BATCH_SIZE], framework, language)
    seconds = _clocked(parser, sentences, framework, language)
    return Figures(
        names,
        len(sentences),
        sum(map(len, sentences)),
        threads or cores(),
        parser.model.bits,
        library() is not None,
        loaded - started,
        loaded - imported,
        first,
        statistics.median(later),
        seconds,
        _parts(parser, sentences, names),
        _peak(),
    )


def _clocked(
    parser: Parser, sentences: Sequence[Sentence], framework: str | Frameworks | None, language: str | None
) -> float:
    before = time.perf_counter()
    texts = [sentence.text for sentence in sentences]
    for _ in parser.stream(texts, framework, language, probabilities=False):
        pass
    return time.perf_counter() - before


def _parts(parser: Parser, sentences: Sequence[Sentence], names: Sequence[str]) -> dict[str, float]:
    model = parser.model
    costs = [cost(len(sentence)) for sentence in sentences]
    totals = [0.0] * len(PARTS)
    for batch in cut(
        sorted(range(len(sentences)), key=costs.__getitem__), costs, budget=BUDGET, max_batch_size=MAX_BATCH_SIZE
    ):
        chosen = [sentences[index] for index in batch]
        marks = [time.process_time()]
        inputs = model.preparation.batch(chosen)
        marks.append(time.process_time())
        if isinstance(model, TrainedModel):
            steps = choose_arithmetic()
            encoding = model.network.encode(steps, inputs)
            steps.array(encoding.tokens)  # runs the steps so far
            marks.append(time.process_time())
            predictions = {name: model.network.predictions(steps, encoding, name) for name in names}
        else:
            marks.append(time.process_time())
            predictions = model.predict(inputs, names)
        marks.append(time.process_time())
        decode(model, predictions)
        marks.append(time.process_time())
        totals = [total + after - before for total, before, after in zip(totals, marks, marks[1:], strict=False)]
    return dict(zip(PARTS, totals, strict=True))


def _peak() -> float | None:
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says includes the parent's memory at the time of the fork
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    if os.name != "posix":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
