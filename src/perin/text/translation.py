"""Lemmas of one language in another, for treebanks whose labels are English whatever the language of the text.

The paper (section on DRG) translates German lemmas before computing label rules.  A :class:`Translator` gives None for
a lemma that it does not know; :func:`translated` then keeps the lemma.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from perin.contract import Sentence, Token
from perin.errors import InputError, MissingDependencyError, ModelError, UsageError
from perin.files import cache_folder, read_lines, source_name, write_text
from perin.lazy import cached_property

_WEAKEST_LINK = 0.02
"""A lemma and a label that go together less than this (Dice coefficient) are not taken for translations."""


class Translator(Protocol):
    """Anything that translates lemmas."""

    def translate(self, lemmas: Sequence[str]) -> list[str | None]:
        """A translation for each lemma, None where there is none."""
        ...


@dataclass(frozen=True)
class Glossary:
    """A table of lemmas and translations."""

    entries: Mapping[str, str]

    def translate(self, lemmas: Sequence[str]) -> list[str | None]:
        """The entries of lemmas; a lemma that is not there as it is written is looked up in lower case.

        >>> Glossary({"Hund": "dog", "gehen": "go"}).translate(["Hund", "Gehen", "Katze"])
        ['dog', 'go', None]
        """
        return [self.entries.get(lemma) or self.entries.get(lemma.lower()) for lemma in lemmas]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Glossary:
        """Read a file of lines ``lemma TAB translation``; blank lines and comments (``#``, no tab) are skipped."""
        entries = {}
        for number, line in enumerate(read_lines(path), start=1):
            lemma, tab, translation = line.partition("\t")
            if tab or (line.strip() and not line.startswith("#")):
                if not lemma or not translation.strip() or "\t" in translation:
                    message = f"a line of a glossary is: lemma, tab, translation; found {line[:60]!r}"
                    raise InputError(message, source=source_name(path), line=number)
                entries[lemma] = translation.strip()
        return cls(entries)

    def dump(self, path: str | os.PathLike[str]) -> None:
        """Write the file that :meth:`load` reads, sorted; an entry with a tab or a line end can't be written."""
        for entry in self.entries.items():
            if any(sign in field for field in entry for sign in "\t\r\n"):
                raise UsageError(f"a tab or a line end is in the entry {entry}; remove it from the glossary")
        with write_text(path) as stream:
            stream.writelines(f"{lemma}\t{translation}\n" for lemma, translation in sorted(self.entries.items()))


@dataclass(frozen=True)
class Chain:
    """Several translators: each is asked for what those before it did not know."""

    translators: tuple[Translator, ...]

    def translate(self, lemmas: Sequence[str]) -> list[str | None]:
        """The first translation that any has for each lemma."""
        found: list[str | None] = [None] * len(lemmas)
        for translator in self.translators:
            missing = [index for index, translation in enumerate(found) if translation is None]
            if not missing:
                break
            for index, translation in zip(missing, translator.translate([lemmas[i] for i in missing]), strict=True):
                found[index] = translation
        return found


def translated(sentence: Sentence, translator: Translator) -> Sentence:
    """The sentence with its lemmas translated, where the translator knows them."""
    translations = translator.translate([token.lemma for token in sentence.tokens])
    tokens = [
        Token(token.form, translation, token.start, token.end) if translation else token
        for token, translation in zip(sentence.tokens, translations, strict=True)
    ]
    return replace(sentence, tokens=tuple(tokens))


def translated_by(sentence: Sentence, glossary: Mapping[str, str], model: str | None) -> Sentence:
    """The sentence with its lemmas translated by a glossary and, where that lacks some, by a model if it is there."""
    known: Translator = Glossary(glossary)
    if model is not None and None in known.translate([token.lemma for token in sentence.tokens]):
        translator = local_translator(model)
        known = known if translator is None else Chain((known, translator))
    return translated(sentence, known)


def label_lemma(label: str) -> str:
    """The word in a label: without quotes, without part of speech and sense.

    >>> label_lemma("light_bulb.n.01"), label_lemma('"tom"'), label_lemma("dog-01")
    ('light_bulb', 'tom', 'dog-01')
    """
    if label.startswith('"'):
        return label.strip('"')
    word, dot, sense = label.rpartition(".")
    return word.rpartition(".")[0] if dot and sense.isdecimal() and "." in word else label


def learn_glossary(examples: Iterable[tuple[Iterable[str], Iterable[str]]]) -> Glossary:
    """A glossary from the lemmas of training sentences and the labels of their graphs.

    Competitive linking (Melamed 2000): in each sentence the lemma and the label that go together most often in the
    whole treebank are linked, then the best pair of those left, and so on.  A lemma's translation is the label that it
    is linked with most often.

    >>> learn_glossary([(["Hund", "bellen"], ["dog.n.01", "bark.v.01"]), (["Hund"], ["dog.n.01"])]).entries
    {'Hund': 'dog', 'bellen': 'bark'}
    """
    pairs = [(sorted(set(lemmas)), sorted({label_lemma(label) for label in labels})) for lemmas, labels in examples]
    strength = _association(pairs)
    links: Counter[tuple[str, str]] = Counter()
    for lemmas, labels in pairs:
        links.update(_linked(lemmas, labels, strength))
    best: dict[str, tuple[int, float, str]] = {}
    for (lemma, label), count in links.items():
        candidate = (count, strength[lemma, label], label)
        best[lemma] = max(best.get(lemma, candidate), candidate)
    return Glossary({lemma: label for lemma, (_, _, label) in sorted(best.items())})


def learn_links(examples: Iterable[tuple[Iterable[str], Iterable[str]]]) -> dict[tuple[str, str], float]:
    """How strongly each lemma and each label that occur in one sentence belong together, from 0 to 2."""
    return _association([(sorted(set(lemmas)), sorted(set(labels))) for lemmas, labels in examples])


def _association(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[tuple[str, str], float]:
    """Dice coefficients of lemma and label over sentences, plus one for a label that is the lemma."""
    together = Counter((lemma, label) for lemmas, labels in pairs for lemma in lemmas for label in labels)
    sentences = Counter(lemma for lemmas, _ in pairs for lemma in lemmas)
    graphs = Counter(label for _, labels in pairs for label in labels)
    return {
        (lemma, label): 2 * count / (sentences[lemma] + graphs[label]) + (lemma.lower() == label)
        for (lemma, label), count in together.items()
    }


def _linked(
    lemmas: Sequence[str], labels: Sequence[str], strength: Mapping[tuple[str, str], float]
) -> Iterator[tuple[str, str]]:
    """Pairs of lemma and label, strongest first, each lemma and each label once."""
    candidates = sorted(((strength[lemma, label], lemma, label) for lemma in lemmas for label in labels), reverse=True)
    free_lemmas, free_labels = set(lemmas), set(labels)
    for value, lemma, label in candidates:
        if value >= _WEAKEST_LINK and lemma in free_lemmas and label in free_labels:
            free_lemmas.remove(lemma)
            free_labels.remove(label)
            yield lemma, label


# Translation of lemmas by a Marian model (opus-mt) through the package transformers; translations are kept on disk.


GERMAN_TO_ENGLISH = "Helsinki-NLP/opus-mt-de-en"
_SIGNS = " \t\n.,;:!?\"'„“”()"


class MarianTranslator:
    """Translates lemmas one by one, many in a batch, each only once: ``memory`` is a glossary file that grows.

    The model is loaded when the first unknown lemma comes; one that is a name and not a folder is downloaded, unless
    ``local`` says that only what was downloaded before counts.  Threads may share a translator.
    """

    def __init__(
        self,
        model: str = GERMAN_TO_ENGLISH,
        memory: str | os.PathLike[str] | None = None,
        batch_size: int = 64,
        *,
        local: bool = False,
    ) -> None:
        self.model = model
        self.memory = Path(memory) if memory is not None else default_memory(model)
        self.batch_size = batch_size
        self.local = local
        self._lock = threading.Lock()

    def translate(self, lemmas: Sequence[str]) -> list[str | None]:
        """The translation of each lemma, in lower case; None where the model has nothing to say."""
        with self._lock:
            return self._translate(lemmas)

    def _translate(self, lemmas: Sequence[str]) -> list[str | None]:
        new = [
            lemma
            for lemma in dict.fromkeys(lemmas)
            if lemma.strip() and lemma.isprintable() and lemma not in self._known
        ]
        for start in range(0, len(new), self.batch_size):
            batch = new[start : start + self.batch_size]
            for lemma, translation in zip(batch, self._generate(batch), strict=True):
                self._known[lemma] = " ".join(translation.split()).strip(_SIGNS).lower() or lemma
        if new:
            self._remember()
        return [self._known.get(lemma) for lemma in lemmas]

    def _remember(self) -> None:
        """Keep what is known on disk; where that can't be done, it is translated again next time."""
        try:
            self.memory.parent.mkdir(parents=True, exist_ok=True)
            Glossary(self._known).dump(self.memory)
        except (OSError, UsageError) as error:
            warnings.warn(f"translations are not kept: {error}", RuntimeWarning, stacklevel=3)

    @cached_property
    def _known(self) -> dict[str, str]:
        try:
            return dict(Glossary.load(self.memory).entries) if self.memory.exists() else {}
        except InputError:  # damaged: made again
            return {}

    def load(self) -> None:
        """Load the model now."""
        assert self._loaded

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            from safetensors import SafetensorError
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        except ImportError:
            raise MissingDependencyError("transformers", "translation by a Marian model") from None
        safe: dict[str, Any] = {"trust_remote_code": False, "local_files_only": self.local}
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")  # for whole sentences only
                tokenizer = AutoTokenizer.from_pretrained(self.model, **safe)
            return tokenizer, AutoModelForSeq2SeqLM.from_pretrained(self.model, use_safetensors=True, **safe)
        except ImportError as error:
            raise MissingDependencyError("sentencepiece", "translation by a Marian model", "marian") from error
        except (OSError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ModelError(
                f"the translation model {self.model} can't be loaded ({reason}); download it, or use a glossary"
            ) from None

    def _generate(self, lemmas: list[str]) -> list[str]:
        tokenizer, model = self._loaded
        batch = tokenizer(lemmas, return_tensors="pt", padding=True)
        generated = model.generate(**batch, num_beams=4, max_new_tokens=16)
        translations: list[str] = tokenizer.batch_decode(generated, skip_special_tokens=True)
        return translations


def default_memory(model: str) -> Path:
    """The file in the cache folder that remembers what a model translated."""
    return cache_folder() / "translations" / f"{model.strip('/').replace('/', '--')}.tsv"


@cache
def local_translator(model: str) -> MarianTranslator | None:
    """The translator of a model that was downloaded before, or None, with a warning, if it can't be loaded."""
    translator = MarianTranslator(model, local=True)
    try:
        translator.load()
    except (MissingDependencyError, ModelError) as error:
        warnings.warn(f"lemmas that training did not see are not translated: {error}", RuntimeWarning, stacklevel=2)
        return None
    return translator
