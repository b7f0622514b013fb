"""The limit of null that is best on dev."""

from perin.frameworks.vocabulary import Vocabulary
from perin.labels.rules import AbsoluteRule, RuleSpace
from perin.labels.ruleset import RuleSet
from perin.learning.data import Split
from perin.learning.run import evaluation
from perin.learning.run.evaluation import NULL_THRESHOLDS, Evaluation, choose_null_thresholds
from perin.model.folder import Treebank
from perin.model.model import Model


def treebank(framework):
    return Treebank(Vocabulary(framework, "eng", RuleSet(RuleSpace(), [AbsoluteRule("a")]), ("x",)), queries=1)


def test_the_best_limit_of_each_treebank_is_taken(monkeypatch, settings):
    model = Model.new(settings, map(treebank, ("eds", "amr", "ucca")))
    curves = {"eds-eng": {0.4: 0.8}, "amr-eng": {0.35: 0.7, 0.45: 0.7}}

    def evaluate(model, dev, *, budget):
        (name,) = dev
        assert model.network.treebanks[name].null_threshold == model.treebanks[name].null_threshold
        return Evaluation({name: {"all": curves[name].get(model.treebanks[name].null_threshold, 0.6)}}, {}, {})

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    some = Split([object()], [object()])
    found = choose_null_thresholds(model, {"eds-eng": some, "amr-eng": some, "ucca-eng": Split([], [])}, budget=1.0)
    assert {name: treebank.null_threshold for name, treebank in model.treebanks.items()} == {
        "eds-eng": 0.4,
        "amr-eng": 0.45,
        "ucca-eng": 0.5,
    }
    assert list(found["eds-eng"]) == list(NULL_THRESHOLDS)
    assert found["eds-eng"][0.4] == 0.8
