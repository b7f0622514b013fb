"""Rules of real treebanks: proven minimal, as another solver finds on all rules of the plain definition."""

from itertools import islice

import pytest
from pysat.examples.hitman import Hitman

from perin.frameworks.learn import treebank_items
from perin.frameworks.treebank import read_treebank
from perin.graphs import dump, load
from perin.labels import fold
from perin.labels.minimal import learn_rules
from perin.labels.minimal.occurrences import distinct_keys


def items_of(path, tokens):
    part = read_treebank(path, tokens, split=True)
    return part.framework.space(part.language), list(treebank_items(part.framework, part.graphs, part.sentences, {}))


def first_graphs(source, count, path):
    dump(islice(load(source), count), path)
    return path


@pytest.mark.parametrize(
    ("treebank", "sentences"),
    [("eds-eng", 14), ("ptg-eng", 40), ("ptg-ces", 30), ("amr-zho", 60), ("amr-eng", 8), ("drg-eng", 25)],
)
def test_another_solver_finds_the_same_size_on_all_rules(shared, tmp_path, enumerate_rules, treebank, sentences):
    folder = shared / "data" / treebank
    path = first_graphs(folder / "dev.mrp.gz", sentences, tmp_path / "dev.mrp")
    space, items = items_of(path, folder / "dev.conllu.gz")
    items = [item for item in items if not space.anchored or len(item.forms) <= 6]
    learned = learn_rules(items, space)
    sets = {
        key: {
            str(rule)
            for anchor in range(1 if space.anchored else len(key.forms))
            for rule in enumerate_rules(key.label, key.forms[anchor:], key.lemmas[anchor:], space)
        }
        for key in distinct_keys(items).keys
    }
    places = {}
    for number, rules in enumerate(sets.values()):
        for rule in rules:
            places.setdefault(rule, []).append(number)
    different = {tuple(found): rule for rule, found in sorted(places.items())}
    kept = set(different.values())
    with Hitman(bootstrap_with=[sorted(rules & kept) for rules in sets.values()], htype="sorted") as solver:
        assert len(learned.rules) == learned.lower_bound == len(solver.get())


@pytest.mark.parametrize("treebank", ["ptg-eng", "amr-zho"])
def test_small_treebanks_are_covered_and_rules_generalise(shared, treebank):
    folder = shared / "data" / treebank
    space, items = items_of(folder / "train.mrp.gz", folder / "train.conllu.gz")
    learned = learn_rules(items, space)
    assert learned.optimal
    assert all(learned.rules.encodings(item) for item in set(items))
    _, dev = items_of(folder / "dev.mrp.gz", folder / "dev.conllu.gz")
    labels = {fold(item.label) for item in items}
    by_rules = sum(bool(learned.rules.encodings(item)) for item in dev)
    assert by_rules > len(dev) * 0.98 > sum(fold(item.label) in labels for item in dev)


@pytest.mark.slow
def test_fewer_rules_than_the_original_on_its_tokens(shared, tmp_path):
    path = first_graphs(shared / "data" / "eds-eng" / "train.mrp.gz", 2000, tmp_path / "train.mrp")
    space, items = items_of(path, shared / "fixtures" / "rules" / "eds-2000.conllu.gz")
    learned = learn_rules(items, space)
    assert learned.optimal
    assert len(learned.rules) <= 388
    assert all(learned.rules.encodings(item) for item in set(items))


@pytest.mark.slow
@pytest.mark.parametrize("treebank", ["amr-eng", "drg-deu", "drg-eng", "eds-eng", "ptg-ces", "ucca-deu", "ucca-eng"])
def test_large_treebanks_are_solved(shared, treebank):
    folder = shared / "data" / treebank
    space, items = items_of(folder / "train.mrp.gz", folder / "train.conllu.gz")
    assert learn_rules(items, space).optimal
