from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.errors import InputError, MissingDependencyError, ModelError, UsageError
from perin.graphs import load
from perin.text import Chain, Glossary, MarianTranslator, learn_glossary, tokenize, translated
from perin.text.translation import default_memory, label_lemma, translated_by

FIELDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).map(str.strip).filter(bool)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(FIELDS, FIELDS))
def test_glossary_files(tmp_path_factory: pytest.TempPathFactory, entries: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("glossary") / "g.tsv"
    Glossary(entries).dump(path)
    assert Glossary.load(path).entries == entries


def test_comments_and_faults_of_glossary_files(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    path.write_text("# comment\n\nHund\tdog\n#\tnumber\n", encoding="utf-8")
    assert Glossary.load(path).entries == {"Hund": "dog", "#": "number"}
    for fault in ("Hund", "Hund\t", "\tdog", "Hund\tdog\tnoun"):
        path.write_text(f"Katze\tcat\n{fault}\n", encoding="utf-8")
        with pytest.raises(InputError) as raised:
            Glossary.load(path)
        assert str(raised.value).startswith(f"{path}:2: a line of a glossary is: lemma, tab, translation; found")


def test_entries_that_would_break_a_file(tmp_path: Path) -> None:
    for entry in ({"a\tb": "c"}, {"a": "b\nc"}):
        with pytest.raises(UsageError, match="a tab or a line end is in the entry"):
            Glossary(entry).dump(tmp_path / "g.tsv")
    assert not list(tmp_path.iterdir())


def test_translated_sentences_keep_what_is_not_known() -> None:
    sentence = tokenize("Der Hund schlief.", "deu", id="1")
    result = translated(sentence, Glossary({"Hund": "dog", "schlafen": "sleep"}))
    assert [token.lemma for token in result.tokens] == ["der", "dog", "sleep", "."]
    assert [(token.form, token.start, token.end) for token in result.tokens] == [
        (token.form, token.start, token.end) for token in sentence.tokens
    ]
    assert (result.id, result.text) == ("1", sentence.text)


def test_a_chain_asks_the_next_for_what_is_missing() -> None:
    asked: list[list[str]] = []

    class Last:
        def translate(self, lemmas: list[str]) -> list[str | None]:
            asked.append(list(lemmas))
            return [lemma.upper() if lemma != "z" else None for lemma in lemmas]

    chain = Chain((Glossary({"a": "1"}), Glossary({"a": "2", "b": "3"}), Last()))
    assert chain.translate(["a", "b", "c", "z"]) == ["1", "3", "C", None]
    assert asked == [["c", "z"]]
    assert chain.translate(["a", "b"]) == ["1", "3"]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("label", "lemma"),
    [
        ("dog.n.01", "dog"),
        ('"tom"', "tom"),
        ("u.s..n.01", "u.s."),
        ("a.b", "a.b"),
        ("3.14", "3.14"),
        ("x", "x"),
        ('"3.5"', "3.5"),
    ],
)
def test_words_of_labels(label: str, lemma: str) -> None:
    assert label_lemma(label) == lemma


def test_a_glossary_is_learned_from_what_goes_together() -> None:
    words = {"Hund": "dog", "Katze": "cat", "schlafen": "sleep", "essen": "eat", "Fisch": "fish"}
    sentences = [
        ("Hund", "schlafen"),
        ("Katze", "schlafen"),
        ("Hund", "essen", "Fisch"),
        ("Katze", "essen"),
        ("Fisch", "schlafen"),
    ]
    examples = [
        ([*lemmas, "der", "."], [f"{words[lemma]}.x.01" for lemma in lemmas] + ["time.n.08"]) for lemmas in sentences
    ]
    learned = learn_glossary(examples).entries
    assert {lemma: learned[lemma] for lemma in words} == words
    assert learn_glossary(reversed(examples)).entries == learned
    assert learn_glossary([]).entries == {}


def test_a_name_is_its_own_translation() -> None:
    assert (
        learn_glossary([(["Tom", "er"], ['"tom"', "male.n.02"]), (["Tom"], ['"tom"', "male.n.02"])]).entries["Tom"]
        == "tom"
    )


def test_the_treebank_glossary_translates_most_words_of_dev(shared: Path) -> None:
    """Measured when written: 0.72 of the words in labels are translations of a lemma of the sentence."""
    folder = shared / "data" / "drg-deu"

    def examples(split: str) -> list[tuple[list[str], list[str]]]:
        found = []
        for graph in load(folder / f"{split}.mrp.gz"):
            lemmas = [token.lemma for token in tokenize(graph.input or "", "deu").tokens]
            labels = [
                node.label for node in graph.nodes if node.label and ("." in node.label or node.label.startswith('"'))
            ]
            found.append((lemmas, labels))
        return found

    glossary = learn_glossary(examples("train"))
    covered = total = 0
    for lemmas, labels in examples("dev"):
        words = {translation for translation in glossary.translate(lemmas) if translation}
        covered += sum(label_lemma(label) in words for label in labels)
        total += len(labels)
    assert covered / total >= 0.65


class FakeModel:
    """Upper-cases what it gets, and counts the batches."""

    batches: list[list[str]]

    def __init__(self) -> None:
        self.batches = []

    def tokenizer(self, lemmas: list[str], **options: object) -> dict[str, list[str]]:
        assert options == {"return_tensors": "pt", "padding": True}
        return {"input_ids": lemmas}

    def generate(self, input_ids: list[str], **options: object) -> list[str]:
        self.batches.append(input_ids)
        return [f"{lemma.upper()}." if lemma != "." else "." for lemma in input_ids]


@pytest.fixture
def fake_transformers(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    model = FakeModel()

    class Tokenizer:
        def __call__(self, lemmas: list[str], **options: object) -> dict[str, list[str]]:
            return model.tokenizer(lemmas, **options)

        def batch_decode(self, generated: list[str], *, skip_special_tokens: bool) -> list[str]:
            assert skip_special_tokens
            return generated

    module = ModuleType("transformers")
    module.AutoTokenizer = SimpleNamespace(from_pretrained=lambda name, **safe: Tokenizer())  # type: ignore[attr-defined]
    module.AutoModelForSeq2SeqLM = SimpleNamespace(from_pretrained=lambda name, **safe: model)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", module)
    return model


def test_marian_translates_in_batches_and_remembers(tmp_path: Path, fake_transformers: FakeModel) -> None:
    memory = tmp_path / "deep" / "memory.tsv"
    translator = MarianTranslator("some/model", memory, batch_size=2)
    assert translator.translate(["Hund", "Katze", "Hund", "Maus", "."]) == ["hund", "katze", "hund", "maus", "."]
    assert fake_transformers.batches == [["Hund", "Katze"], ["Maus", "."]]
    again = MarianTranslator("some/model", memory)
    assert again.translate(["Maus", "", " ", "<a\nb>"]) == ["maus", None, None, None]
    assert len(fake_transformers.batches) == 2
    assert Glossary.load(memory).entries["Hund"] == "hund"


def test_marian_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match="translation by a Marian model needs the package transformers"):
        MarianTranslator(memory=tmp_path / "m.tsv").translate(["Hund"])


def test_marian_without_its_model(tmp_path: Path, fake_transformers: FakeModel) -> None:
    def fail(name: str, **safe: object) -> None:
        raise OSError(f"{name} is nowhere\nsecond line")

    sys.modules["transformers"].AutoTokenizer = SimpleNamespace(from_pretrained=fail)  # type: ignore[attr-defined]
    with pytest.raises(
        ModelError, match=r"^the translation model a/b can't be loaded \(a/b is nowhere\); download it, or use a"
    ):
        MarianTranslator("a/b", tmp_path / "m.tsv").translate(["Hund"])


def test_the_memory_is_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path))
    assert MarianTranslator("a/b").memory == default_memory("a/b") == tmp_path / "translations" / "a--b.tsv"


def test_a_damaged_or_unwritable_memory_is_no_reason_to_stop(tmp_path: Path, fake_transformers: FakeModel) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("no tab\n")
    assert MarianTranslator("a/b", memory).translate(["Hund"]) == ["hund"]
    assert Glossary.load(memory).entries == {"Hund": "hund"}
    with pytest.warns(RuntimeWarning, match="translations are not kept"):
        assert MarianTranslator("a/b", memory / "below-a-file.tsv").translate(["Katze"]) == ["katze"]


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_a_real_marian_model(marian: Path, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    words = ["Hund", "Katze", "gehen"]
    found = MarianTranslator(str(marian), tmp_path / "memory.tsv").translate(words)
    tokenizer = transformers.MarianTokenizer.from_pretrained(marian)
    model = transformers.MarianMTModel.from_pretrained(marian).eval()
    for word, translation in zip(words, found, strict=True):
        generated = model.generate(**tokenizer([word], return_tensors="pt"), num_beams=4, max_new_tokens=16)
        [alone] = tokenizer.batch_decode(generated, skip_special_tokens=True)
        assert translation == " ".join(alone.split()).strip(" .,").lower()
    assert len(set(found)) > 1


def test_lemmas_beyond_the_glossary_are_translated_where_the_model_is(
    marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERIN_CACHE", str(tmp_path))
    sentence = tokenize("Hund Katze", "deu")
    found = translated_by(sentence, {"Hund": "dog"}, str(marian))
    [expected] = MarianTranslator(str(marian), tmp_path / "other.tsv").translate(["Katze"])
    assert [token.lemma for token in found.tokens] == ["dog", expected]
    with pytest.warns(RuntimeWarning, match=r"lemmas that training did not see are not translated: .* can't be loaded"):
        without = translated_by(sentence, {"Hund": "dog"}, str(tmp_path / "gone"))
    assert [token.lemma for token in without.tokens] == ["dog", "Katze"]
    assert translated_by(sentence, {"Hund": "dog"}, str(tmp_path / "gone")) == without  # warns once
    known = {"Hund": "dog", "Katze": "cat"}
    assert [token.lemma for token in translated_by(sentence, known, "never/loaded").tokens] == ["dog", "cat"]


def test_pickled_weights_of_a_translator_are_not_read(marian: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(marian, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="can't be loaded"):
        MarianTranslator(str(folder), tmp_path / "memory.tsv", local=True).translate(["Hund"])
