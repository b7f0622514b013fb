"""The most probable roles that obey the rules of a framework.

Free decoding comes first.  Where its graph breaks a rule, roles are chosen again, block by block and for the nodes
concerned only: the owners of constants, what nodes need, the labels of the other edges of a source.  Each block is
solved exactly, as a maximum-weight assignment; all other roles stay and occupy what is unique.  A node is left out at
the loss of its own odds and those of its edges.  Breaking a soft rule costs what its rate says.  Then parts are joined,
and what still breaks a hard rule is removed.  All of it is polynomial, so no limit on time is needed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from perin.contract.heads import Bools, Ints, Prediction
from perin.frameworks.decoding.assignment import best_columns
from perin.frameworks.decoding.nodes import Nodes
from perin.frameworks.decoding.roles import Faults, Pair, RoleChoice, odds
from perin.frameworks.decoding.structure import Structure
from perin.frameworks.rulebook import BARRED, HARD, Floats, Need, Rulebook, Traits

_OWNERS = 5
"""How many owners are considered for a constant, and how many labels for each."""
_PARTNERS = 12
"""How many partners are considered for a node that needs a role."""
_PASSES = 8


def choose_roles(
    prediction: Prediction,
    nodes: Nodes,
    traits: list[Traits],
    book: Rulebook,
    structure: Structure,
    labels: Bools,
    allowed: Bools,
) -> tuple[Structure, Bools]:
    """The most probable roles that obey: the structure and its labels [M, L].

    ``structure`` and ``labels`` are those of free decoding, not yet joined.  ``allowed``: [K, K], the pairs that may
    have an edge.
    """
    if book.fixed and book.ruled is not None:
        rows = labels[:, book.ruled].nonzero()[0]
        if len(set(structure.edges[rows, 0].tolist())) == len(rows):
            return structure, labels
    choice = RoleChoice(prediction, nodes, traits, book, structure, labels, allowed)
    faults = choice.find_faults(book.all_checks)
    if faults:
        repair(choice, faults)
    joined, whole = choice.join()
    if not faults and not joined:
        return structure, labels
    if faults or not whole:
        choice.prune(whole=whole)
    return choice.arrays()


def repair(choice: RoleChoice, faults: Faults) -> None:
    """Choose again what is at fault; hard rules may still be broken where there was no other choice."""
    book = choice.book
    settled: set[Pair] = set()
    loose: set[Pair] = set()
    if book.owned:
        _own_constants(choice, faults)
        settled.update(pair for pair in choice.edges if choice.flags[pair[1]])
    if not book.fixed:
        for number, need in enumerate(book.needs):
            if need.assignable and (rows := _needy(choice, faults, number, need)):
                _serve(choice, number, rows, settled, loose)
    sources = {source for source, target, _ in faults.roles if (source, target) not in settled}
    sources.update(source for source, _ in loose)
    sources.update(node for node, _ in faults.torn)
    sources.update(node for node, _, incoming in faults.crowded if not incoming)
    if crowded := {(node, label) for node, label, incoming in faults.crowded if incoming}:
        entering = ((source, (target, label)) for (source, target), own in choice.edges.items() for label in own)
        sources.update(source for source, role in entering if role in crowded)
    _label_sources(choice, sources, settled, loose)
    if book.loose_needs and not book.fixed:
        for node, number in choice.lacking(book.loose_needs):
            if choice.keep[node]:
                _fill(choice, node, number)


# Constants: each gets an owner and a label, at most one constant for each owner and label, or is left out.


def _own_constants(choice: RoleChoice, faults: Faults) -> None:
    """Choose owners and labels again for the constants at fault and all others of their owners."""
    flags, edges = choice.flags, choice.edges
    if not any(flags):
        return
    owners = {source for source, target, _ in faults.roles if flags[target]}
    owners.update(node for node, _ in faults.torn)
    crowded = {(node, label) for node, label, incoming in faults.crowded if not incoming}
    if not owners and not crowded:
        return
    own = {pair[1]: pair for pair in edges if flags[pair[1]]}
    if crowded:
        owners.update(pair[0] for pair in own.values() if (pair[0], edges[pair][0]) in crowded)
    constants = sorted(node for node, pair in own.items() if pair[0] in owners)
    if not constants:
        return
    candidates = np.array([node for node, kept in enumerate(choice.keep) if kept and not flags[node]], dtype=np.int64)
    if not len(candidates):
        choice.drop_nodes(constants)
        return
    for node in constants:
        del edges[own[node]]
    others = [(pair[0], label, 1e6) for pair, labels in edges.items() if flags[pair[1]] for label in labels]
    few = min(_OWNERS, len(candidates))
    presence = choice.prediction.presence[candidates[:, None], constants]
    near = candidates[np.argsort(-presence, axis=0, kind="stable")[:few]].T
    pairs = list(zip(near.ravel().tolist(), np.repeat(constants, few).tolist(), strict=True))
    gains = choice.gains(pairs).reshape(len(constants), few, -1)
    gains -= odds(choice.prediction.presence[near[:, 0], constants])[:, None, None]  # the best is one in any case
    barred: set[tuple[int, int]] = set()
    for _ in range(_PASSES):
        found = _assign_constants(choice, constants, near, gains, barred, {entry[:2] for entry in others})
        clashes = _clashes(choice, [*others, *filter(None, found)])
        if clashes <= barred:
            break
        barred |= clashes
    choice.drop_nodes(node for node, entry in zip(constants, found, strict=True) if entry is None)
    for node, entry in zip(constants, found, strict=True):
        if entry is not None:
            choice.edges[entry[0], node] = [entry[1]]


def _assign_constants(
    choice: RoleChoice,
    constants: Sequence[int],
    near: Ints,
    gains: Floats,
    barred: set[tuple[int, int]],
    taken: set[tuple[int, int]],
) -> list[tuple[int, int, float] | None]:
    """The owner, the label and the gain of each constant, None for those that are left out.

    ``near``: [C, O], the owners considered; ``gains``: [C, O, L].  ``barred``: owners and labels that are out of the
    question; ``taken``: those that other constants have.
    """
    once = choice.book.once_out
    slots: dict[tuple[int, int, int], int] = {}
    cells: list[tuple[int, int, float]] = []
    ranks = np.argsort(-gains, axis=2, kind="stable")[:, :, :_OWNERS]
    tops = zip(near.tolist(), ranks.tolist(), np.take_along_axis(gains, ranks, axis=2).tolist(), strict=True)
    for row, columns in enumerate(tops):
        for owner, labels, values in zip(*columns, strict=True):
            for label, gain in zip(labels, values, strict=True):
                if (owner, label) in taken:
                    gain -= once[label]
                if gain > BARRED and (owner, label) not in barred:
                    slot = (owner, label, -1 if once[label] > 0 else row)
                    cells.append((row, slots.setdefault(slot, len(slots)), gain))
    again = [once[label] if row < 0 else HARD for _, label, row in slots]
    count, width = len(constants), len(slots)
    table = np.full((count, 2 * width + count), 4 * BARRED)
    for row, column, gain in cells:
        table[row, column] = gain
        table[row, width + column] = gain - again[column]
    leaves = [2 * BARRED if choice.traits[node].protected else choice.absence(node) for node in constants]
    table[np.arange(count), 2 * width + np.arange(count)] = leaves
    names = list(slots)
    found: list[tuple[int, int, float] | None] = []
    for row, column in enumerate(best_columns(table).tolist()):
        inside = column < 2 * width and table[row, column] > BARRED
        found.append((*names[column % width][:2], float(table[row, column])) if inside else None)
    return found


def _clashes(choice: RoleChoice, found: Iterable[tuple[int, int, float]]) -> set[tuple[int, int]]:
    """The slots of the weaker kind of role where an owner has two that must be apart."""
    clashes: set[tuple[int, int]] = set()
    found = list(found)
    for first, second, _ in choice.book.apart:
        best: dict[int, list[float]] = defaultdict(lambda: [-np.inf, -np.inf])
        for owner, label, gain in found:
            for side, mask in enumerate((first, second)):
                if mask[label]:
                    best[owner][side] = max(best[owner][side], gain)
        for owner, (one, other) in best.items():
            if one > -np.inf and other > -np.inf:
                clashes |= {(owner, label) for label in np.flatnonzero(second if one >= other else first).tolist()}
    return clashes


# Needs: a quantifier its BV, a name its entity, a concept its box.


def _needy(choice: RoleChoice, faults: Faults, number: int, need: Need) -> list[int]:
    """The nodes whose role has to be chosen again: they lack it, have it twice, share it, or have a wrong one."""
    rows = {node for node, at in faults.lacking if at == number}
    serving, end = need.labels, int(need.incoming)
    rows.update(role[end] for role in faults.roles if role[2] in serving)
    rows.update(node for node, label, incoming in faults.crowded if label in serving and incoming == need.incoming)
    if shared := {(node, label) for node, label, incoming in faults.crowded if incoming != need.incoming}:
        roles = ((pair, label) for pair, own in choice.edges.items() for label in own if label in serving)
        rows.update(pair[end] for pair, label in roles if (pair[1 - end], label) in shared)
    needs = 1 << number
    return sorted(
        node
        for node in rows
        if choice.keep[node] and choice.traits[node].needs & needs and not (choice.book.owned and choice.flags[node])
    )


def _serve(choice: RoleChoice, number: int, rows: list[int], settled: set[Pair], loose: set[Pair]) -> None:
    """Give each of these nodes exactly one role that it needs, or leave it out.

    Pairs that lose such a role are ``loose``, those that get one ``settled``.
    """
    book, need = choice.book, choice.book.needs[number]
    end = int(need.incoming)
    wanted = set(rows)
    served = {pair[end] for pair in settled if not need.labels.isdisjoint(choice.edges.get(pair, ()))}
    rows = [node for node in rows if node not in served]
    possible = _possible(choice)
    if not rows or not possible.any():
        return
    partners = possible.nonzero()[0].tolist()
    if len(partners) > _PARTNERS:
        presence = choice.prediction.presence[:, rows].T if end else choice.prediction.presence[rows]
        order = np.argsort(-np.where(possible, presence, -1.0), axis=1, kind="stable")[:, :_PARTNERS]
        partners = np.unique(order).tolist()
    ties = _ties(choice, rows, need.labels)
    taken: set[int] = set()
    for pair, labels in list(choice.edges.items()):
        if not need.labels.isdisjoint(labels):
            if pair[end] in wanted and pair not in settled:
                del choice.edges[pair]
                loose.add(pair)
            else:
                taken.add(pair[1 - end])
    serving = need.serving
    pairs = [(partner, row) if end else (row, partner) for row in rows for partner in partners]
    gains = choice.gains(pairs, serving)
    best = serving[gains.argmax(axis=1)].reshape(len(rows), -1)
    gains = gains.max(axis=1).reshape(len(rows), -1)
    top = gains.max(axis=1, keepdims=True)
    gains -= np.where(top > BARRED, np.minimum(top, 0.0), 0.0)  # the best partner is one in any case
    leaves = np.array([2 * BARRED if choice.traits[row].protected else choice.absence(row) - ties[row] for row in rows])
    columns = _assign_partners(
        gains,
        np.maximum(leaves, -need.price),
        float(book.once[not need.incoming][serving].max()),
        np.array([partner in taken for partner in partners]),
    )
    for row, column in enumerate(columns.tolist()):
        if column >= 0 and gains[row, column] > BARRED:
            pair = pairs[row * len(partners) + column]
            choice.edges[pair] = [int(best[row, column])]
            settled.add(pair)
            loose.discard(pair)
        elif leaves[row] >= -need.price and not choice.traits[rows[row]].protected:
            choice.drop_nodes([rows[row]])


def _fill(choice: RoleChoice, node: int, number: int) -> None:
    """Give a node one role of those that it needs, new or taken from another node that has more; or leave it out.

    This is for needs that are no assignment: a coordination needs some member, a box some content.
    """
    need = choice.book.needs[number]
    end = int(need.incoming)
    free = _possible(choice)
    free[node] = False
    presence = choice.prediction.presence[:, node] if end else choice.prediction.presence[node]
    near = [each for each in np.argsort(-presence, kind="stable").tolist() if free[each]][:_PARTNERS]
    pairs = [pair for each in near if (pair := (each, node) if end else (node, each)) not in choice.edges]
    without = -need.price
    if not choice.traits[node].protected:
        ties = _ties(choice, [node], need.labels)[node]
        without = max(without, choice.absence(node) - ties)
    once = choice.book.once_out if need.incoming else choice.book.once_in
    served: Counter[int] = Counter()
    rivals: dict[tuple[int, int], Pair] = {}
    for pair, own in choice.edges.items():
        if not need.labels.isdisjoint(own):
            served[pair[end]] += 1
            for label in own:
                rivals.setdefault((pair[1 - end], label), pair)
    best: tuple[float, Pair, int, Pair | None] = (without, (node, node), -1, None)
    for pair, label, gain in _best_labels(choice, pairs, need):
        rival = rivals.get((pair[1 - end], label)) if once[label] > 0 else None
        if rival is not None:
            needy = choice.traits[rival[end]].needs >> number & 1 and served[rival[end]] == 1
            gain -= max(0.0, choice.presence(rival)) + (need.price if needy else 0.0)
        if gain > best[0]:
            best = gain, pair, label, rival
    gain, pair, label, rival = best
    if label >= 0:
        if rival is not None:
            choice.drop_role(*rival, label)
        choice.edges[pair] = [label]
    elif without > -need.price:
        choice.drop_nodes([node])


def _best_labels(choice: RoleChoice, pairs: list[Pair], need: Need) -> Iterable[tuple[Pair, int, float]]:
    """Pairs with the best label of each that serves a need, and what it gains."""
    if not pairs or not need.labels:
        return ()
    gains = choice.gains(pairs, need.serving)
    best: list[int] = need.serving[gains.argmax(axis=1)].tolist()
    return zip(pairs, best, gains.max(axis=1).tolist(), strict=True)


def _possible(choice: RoleChoice) -> Bools:
    """[K]: the nodes that may be partners."""
    kept = np.array(choice.keep)
    return kept & ~np.array(choice.flags) if choice.book.owned else kept


def _assign_partners(gains: Floats, without: Floats, again: float, taken: Bools) -> Ints:
    """[N]: the partner of each node, -1 for none; ``again``: the cost of a partner that has such a role already."""
    if again <= 0:
        return np.where(gains.max(axis=1) >= without, gains.argmax(axis=1), -1)
    count, width = gains.shape
    alone = np.full((count, count), 4 * BARRED)
    alone.flat[:: count + 1] = without
    table = np.concatenate([gains - again * taken, gains - again, alone], axis=1)
    found = best_columns(table)
    return np.where(found < 2 * width, found % width, -1)


def _ties(choice: RoleChoice, nodes: list[int], labels: Set[int]) -> Mapping[int, float]:
    """What the edges of nodes are worth, those with one of these labels apart."""
    ties = dict.fromkeys(nodes, 0.0)
    for (source, target), own in choice.edges.items():
        if (source in ties or target in ties) and labels.isdisjoint(own):
            worth = max(0.0, choice.presence((source, target)))
            for node in (source, target):
                if node in ties:
                    ties[node] += worth
    return ties


# Labels: all other edges of a source, or no edge.


def _label_sources(choice: RoleChoice, sources: set[int], settled: set[Pair], loose: set[Pair]) -> None:
    """Choose the labels of the other pairs of each source, or no edge."""
    book, keep = choice.book, choice.keep
    pairs = sorted(
        pair
        for pair in {*(pair for pair in choice.edges if pair[0] in sources), *loose}
        if pair not in settled and keep[pair[0]] and keep[pair[1]]
    )
    if not pairs:
        return
    for pair in pairs:
        choice.edges.pop(pair, None)
    gains = choice.gains(pairs)
    out, into = defaultdict(list), defaultdict(list)
    for row, (source, target) in enumerate(pairs):
        out[source].append(row)
        into[target].append(row)
    for (source, target), labels in choice.edges.items():
        for label in labels:
            if book.once_out[label] and source in out:
                gains[out[source], label] -= book.once_out[label]
            if book.once_in[label] and target in into:
                gains[into[target], label] -= book.once_in[label]
    none = 3 * BARRED if book.fixed else 0.0
    best = [
        label if gain >= none else -1
        for label, gain in zip(gains.argmax(axis=1).tolist(), gains.max(axis=1).tolist(), strict=True)
    ]
    for rows in out.values():
        chosen = [best[row] for row in rows]
        unique = [label for label in chosen if label >= 0 and book.once_out[label]]
        if len(set(unique)) < len(unique):
            chosen = assign_labels(gains[rows], book.once[False], none)
        for row, label in zip(rows, chosen, strict=True):
            if label >= 0:
                choice.edges[pairs[row]] = [label]
    if book.multilabel:
        _add_labels(choice, [pair for pair in pairs if pair in choice.edges])


def assign_labels(gains: Floats, once: Floats, none: float) -> list[int]:
    """The labels of all edges of a source, -1 for no edge; labels that occur once are assigned.

    ``gains``: [M, L].  ``once``: [L], the cost of a second edge of a label.  ``none``: what no edge gains.
    """
    unique = once.nonzero()[0]
    count, width = len(gains), len(unique)
    free = gains.copy()
    free[:, unique] = 4 * BARRED
    other, worth = free.argmax(axis=1).tolist(), free.max(axis=1)
    alone = np.full((count, count), 8 * BARRED)
    alone.flat[:: count + 1] = np.maximum(worth, none)
    first = gains[:, unique]
    table = np.concatenate([first, first - once[unique], alone], axis=1)
    return [
        int(unique[column % width]) if column < 2 * width else label if gain >= none else -1
        for column, label, gain in zip(best_columns(table).tolist(), other, worth.tolist(), strict=True)
    ]


def _add_labels(choice: RoleChoice, pairs: list[Pair]) -> None:
    """Further labels that are probable enough and break no rule."""
    if not pairs:
        return
    book, traits = choice.book, choice.traits
    sources, targets = np.array(pairs).T
    rows, labels = (choice.prediction.edge_labels[sources, targets] >= book.further).nonzero()
    further = [
        (*pairs[row], label)
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True)
        if label not in choice.edges[pairs[row]]
    ]
    if not further:
        return
    leaving: dict[int, set[int]] = defaultdict(set)
    entering: dict[int, set[int]] = defaultdict(set)
    sides: dict[int, int] = defaultdict(int)
    for (source, target), own in choice.edges.items():
        leaving[source].update(own)
        entering[target].update(own)
        for label in own:
            sides[source] |= book.sides[label]
    for source, target, label in further:
        again = book.once_out[label] and label in leaving[source]
        again_in = book.once_in[label] and label in entering[target]
        if again or again_in or _is_torn(sides[source] | book.sides[label]):
            continue
        if not book.prices(traits[source], traits[target]).as_list[label]:
            choice.edges[source, target].append(label)
            leaving[source].add(label)
            entering[target].add(label)
            sides[source] |= book.sides[label]


def _is_torn(sides: int) -> bool:
    """Whether both bits of a rule about roles apart are set."""
    while sides:
        if sides & 3 == 3:
            return True
        sides >>= 2
    return False
