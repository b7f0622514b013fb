"""Translation of lemmas by a Marian model (opus-mt) through the package transformers; translations are kept on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from perin.errors import MissingDependencyError, ModelError
from perin.text.translation import Glossary

GERMAN_TO_ENGLISH = "Helsinki-NLP/opus-mt-de-en"
_SIGNS = " \t\n.,;:!?\"'„“”()"


class MarianTranslator:
    """Translates lemmas one by one, many in a batch, each only once: ``memory`` is a glossary file that grows.

    The model is loaded (and downloaded, if ``model`` is a name and not a folder) when the first unknown lemma comes.
    """

    def __init__(
        self, model: str = GERMAN_TO_ENGLISH, memory: str | os.PathLike[str] | None = None, batch_size: int = 64
    ) -> None:
        self.model = model
        self.memory = Path(memory) if memory is not None else default_memory(model)
        self.batch_size = batch_size

    def translate(self, lemmas: Sequence[str]) -> list[str | None]:
        """The translation of each lemma, in lower case; None where the model has nothing to say."""
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
            self.memory.parent.mkdir(parents=True, exist_ok=True)
            Glossary(self._known).dump(self.memory)
        return [self._known.get(lemma) for lemma in lemmas]

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(Glossary.load(self.memory).entries) if self.memory.exists() else {}

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        except ImportError:
            raise MissingDependencyError("transformers", "translation by a Marian model") from None
        try:
            return AutoTokenizer.from_pretrained(self.model), AutoModelForSeq2SeqLM.from_pretrained(self.model)
        except ImportError as error:
            raise MissingDependencyError("sentencepiece", "translation by a Marian model", "marian") from error
        except (OSError, ValueError) as error:
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
    """The file in the user's cache folder that remembers what a model translated."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "perin" / "translations" / f"{model.strip('/').replace('/', '--')}.tsv"
