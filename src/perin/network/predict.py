"""What a trained network says about sentences, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from perin.contract.heads import Ints, Prediction, Scores
from perin.contract.sentence import Sentence
from perin.network.heads import TreebankHeads
from perin.network.inputs import InputBatch
from perin.network.layout import Layout, pick
from perin.network.network import Hidden, Network

CHUNK = 512
"""Queries whose labels are scored at once: few enough for the scores of all rules to stay in a processor's cache."""

GROUP = 256
"""Nodes of the sentences whose pairs are scored at once, for the same reason."""


@torch.inference_mode()
def predict(network: Network, batch: InputBatch, treebanks: Sequence[str]) -> dict[str, list[Prediction]]:
    """What a network, which must be in evaluation mode, says about sentences for some treebanks.

    One pass of the encoder serves all of them.
    """
    encoding = network.encode(batch)
    return {
        name: _predictions(network.decode(encoding, name), network.heads_of(name), batch.sentences)
        for name in treebanks
    }


def _predictions(hidden: Hidden, heads: TreebankHeads, sentences: Sequence[Sentence]) -> list[Prediction]:
    layout = hidden.query_layout
    rows, probabilities = _nodes(hidden.queries, layout, heads)
    h = pick(hidden.queries, torch.from_numpy(rows).to(layout.device))
    counts = np.bincount(layout.sequences[rows], minlength=layout.batch)
    accepted = rows - np.repeat(layout.starts, counts)
    ends, token_ends = np.cumsum(counts), np.cumsum(hidden.token_layout.lengths)
    predictions: list[Prediction] = []
    for first, last in _groups(counts):
        nodes = slice(ends[first] - counts[first], ends[last - 1])
        tokens = slice(hidden.token_layout.starts[first], token_ends[last - 1])
        predictions += _of_group(
            heads,
            h[nodes],
            Layout(counts[first:last], layout.device),
            probabilities[nodes],
            accepted[nodes],
            hidden.tokens[tokens],
            Layout(hidden.token_layout.lengths[first:last], layout.device),
            sentences[first:last],
        )
    return predictions


def _groups(counts: Ints) -> Iterator[tuple[int, int]]:
    """Sentences, from the first to before the last, that have about :data:`GROUP` nodes together or are alone."""
    first = nodes = 0
    for number, count in enumerate(counts.tolist()):
        if number > first and nodes + count > GROUP:
            yield first, number
            first, nodes = number, 0
        nodes += count
    if len(counts):
        yield first, len(counts)


def _of_group(
    heads: TreebankHeads,
    h: Tensor,
    kept: Layout,
    probabilities: Tensor,
    accepted: Ints,
    token_rows: Tensor,
    tokens: Layout,
    sentences: Sequence[Sentence],
) -> list[Prediction]:
    """The predictions of some sentences, whose nodes are ``h`` [nodes, D]."""
    sizes = heads.sizes
    labels = _array(probabilities)
    presence = _array(heads.presence(h, kept).sigmoid())
    edge_labels = heads.edge_labels(h, kept)
    edge_labels_array = _array(edge_labels.sigmoid() if sizes.multi_label else _over_classes(edge_labels))
    anchors = _array(heads.anchors(h, kept, token_rows, tokens).sigmoid()) if sizes.anchors else None
    attributes = _array(_over_classes(heads.edge_attributes(h, kept))) if sizes.edge_attributes else None
    flags = _array(heads.properties(h).sigmoid()) if sizes.properties else None
    classes = heads.property_classes(h) if sizes.property_classes else {}
    class_arrays = {name: _array(logits.softmax(-1)) for name, logits in classes.items()}
    tops = _array(_over_nodes(heads.tops(h), kept)) if sizes.tops else None

    predictions = []
    for number, sentence in enumerate(sentences):
        k, t = int(kept.lengths[number]), int(tokens.lengths[number])
        nodes = slice(kept.starts[number], kept.starts[number] + k)
        predictions.append(
            Prediction(
                sentence,
                sizes.queries,
                labels=labels[nodes],
                accepted=accepted[nodes],
                presence=presence[number, :k, :k],
                edge_labels=edge_labels_array[number, :k, :k],
                anchors=None if anchors is None else anchors[number, :k, :t],
                edge_attributes=None if attributes is None else attributes[number, :k, :k],
                properties=None if flags is None else flags[nodes],
                property_classes={name: array[nodes] for name, array in class_arrays.items()},
                tops=None if tops is None else tops[number, :k],
            )
        )
    return predictions


def _nodes(queries: Tensor, layout: Layout, heads: TreebankHeads) -> tuple[Ints, Tensor]:
    """The rows of the accepted queries, ascending, and their distributions over null and the rules.

    At least one in each sentence that has tokens.
    """
    accepted, probabilities = zip(*map(heads.nodes, torch.split(queries, CHUNK)), strict=True)
    rows: Ints = np.flatnonzero(torch.cat(accepted).cpu().numpy())
    labels = torch.cat(probabilities)
    missing = (layout.lengths > 0) & (np.bincount(layout.sequences[rows], minlength=layout.batch) == 0)
    if not missing.any():
        return rows, labels
    likeliest = [_likeliest(queries, layout, heads, number) for number in np.flatnonzero(missing).tolist()]
    rows = np.concatenate((rows, [row for row, _ in likeliest]))
    labels = torch.cat((labels, *(distribution for _, distribution in likeliest)))
    order = np.argsort(rows)
    return rows[order], pick(labels, torch.from_numpy(order).to(queries.device))


def _likeliest(queries: Tensor, layout: Layout, heads: TreebankHeads, sentence: int) -> tuple[int, Tensor]:
    """The row of a sentence's query that is the least likely null, and its distribution [1, R + 1]."""
    start = int(layout.starts[sentence])
    probabilities = heads.label_probabilities(queries[start : start + int(layout.lengths[sentence])])
    least = int(probabilities[:, 0].argmin())
    return start + least, probabilities[least : least + 1]


def _over_nodes(scores: Tensor, layout: Layout) -> Tensor:
    """Scores [nodes] to distributions over the nodes of each sentence [B, N]."""
    padded = layout.pad(scores)
    return padded.masked_fill(~layout.mask, -torch.inf).softmax(-1)


def _over_classes(scores: Tensor) -> Tensor:
    """Scores [B, N, N, L], of which [B, N, L, N] is contiguous, to distributions over L, without copying them."""
    return scores.transpose(2, 3).softmax(2).transpose(2, 3)


def _array(tensor: Tensor) -> Scores:
    array: Scores = tensor.cpu().numpy()
    return array
