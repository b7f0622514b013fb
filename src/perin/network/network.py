"""The network: one encoder and one decoder for all treebanks, queries and heads for each; and its predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from perin.contract import Sentence
from perin.contract.heads import Ints, Prediction, Scores
from perin.errors import UsageError
from perin.network.encoders.encoder import build_encoder
from perin.network.heads import Heads, TreebankHeads
from perin.network.inputs import InputBatch
from perin.network.layers import (
    Attention,
    CharacterEmbedding,
    FeedForward,
    InputTensors,
    Layout,
    Residual,
    dropped,
    pick,
)
from perin.network.settings import HeadSizes, NetworkSettings


class Queries(nn.Module):
    """q_{i,t} = tanh(W_t e_i + b_t): Q queries for each token."""

    def __init__(self, source: int, width: int, queries: int) -> None:
        super().__init__()
        self.width = width
        self.linear = nn.Linear(source, queries * width)

    def forward(self, tokens: Tensor) -> Tensor:
        """``tokens`` [T, source] to [T * Q, width]; query q belongs to token q // Q."""
        queries: Tensor = self.linear(tokens).view(-1, self.width)
        return queries.tanh()


class Decoder(nn.Module):
    """A pre-norm Transformer over the queries of a sentence with cross-attention to its tokens.

    There are no positions: permuted queries give equally permuted results.
    """

    def __init__(
        self, width: int, layers: int, heads: int, feedforward: int, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(width, heads, feedforward, dropout, attention_dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> Tensor:
        """``queries`` [query rows, D] and ``tokens`` [token rows, D] to hidden states h [query rows, D]."""
        for layer in self.layers:
            queries = layer(queries, layout, tokens, token_layout)
        result: Tensor = self.norm(queries)
        return result

    def states(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> list[Tensor]:
        """What would be the hidden states if each layer in turn were the last; those of :meth:`forward` come last."""
        states = []
        for layer in self.layers:
            queries = layer(queries, layout, tokens, token_layout)
            states.append(self.norm(queries))
        return states


class DecoderLayer(nn.Module):
    """Self-attention over the queries, cross-attention to the tokens, feed-forward."""

    def __init__(self, width: int, heads: int, feedforward: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.self_attention = Residual(width, dropout, Attention(width, heads, attention_dropout))
        self.cross_attention = Residual(width, dropout, Attention(width, heads, attention_dropout))
        self.feedforward = Residual(width, dropout, FeedForward(width, feedforward, nn.ReLU(inplace=True)))

    def forward(self, queries: Tensor, layout: Layout, tokens: Tensor, token_layout: Layout) -> Tensor:
        """One layer of :class:`Decoder`."""
        queries = self.self_attention(queries, layout)
        queries = self.cross_attention(queries, layout, tokens, token_layout)
        result: Tensor = self.feedforward(queries)
        return result


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoded tokens of some sentences."""

    contextual: Tensor
    """e [tokens, D]: what queries are made from."""
    tokens: Tensor
    """[tokens, D]: what the decoder and the anchor head look at: e after word dropout, with character embeddings."""
    layout: Layout

    def of(self, sentences: NDArray[np.int64] | None) -> Encoding:
        """The encoding of some of the sentences, or of all."""
        if sentences is None or np.array_equal(sentences, np.arange(self.layout.batch)):
            return self
        rows = torch.from_numpy(self.layout.rows_of(sentences)).to(self.contextual.device)
        layout = Layout(self.layout.lengths[sentences], self.layout.device)
        return Encoding(pick(self.contextual, rows), pick(self.tokens, rows), layout)


@dataclass(frozen=True, eq=False)
class Hidden:
    """The decoded queries of some sentences for one treebank."""

    queries: Tensor
    """h [queries, D]"""
    query_layout: Layout
    tokens: Tensor
    """[tokens, D], as in :class:`Encoding`."""
    token_layout: Layout
    earlier: tuple[Tensor, ...] = ()
    """Each [queries, D]: the same after the decoder's earlier layers, if they were asked for."""

    def float(self) -> Hidden:
        """The same in 32 bits, whatever precision the network ran in."""
        earlier = tuple(state.float() for state in self.earlier)
        return replace(self, queries=self.queries.float(), tokens=self.tokens.float(), earlier=earlier)

    def after_each_layer(self) -> list[Hidden]:
        """What each of the earlier layers says, as if it were the last."""
        return [replace(self, queries=state, earlier=()) for state in self.earlier]


class Network(nn.Module):
    """Encoder, decoder, and for each treebank its queries and heads.

    ``pretrained`` false leaves a pretrained encoder's weights random, for a saved model to be loaded into.
    """

    def __init__(
        self, settings: NetworkSettings, treebanks: Mapping[str, HeadSizes], *, pretrained: bool = True
    ) -> None:
        super().__init__()
        if bad := [name for name in treebanks if not name or "." in name]:
            raise UsageError(f"{bad[0]!r} can't be the name of a treebank: it must not be empty or contain a dot")
        self.settings = settings
        self.treebanks = dict(treebanks)
        self.encoder = build_encoder(settings, pretrained=pretrained)
        source = self.encoder.width
        self.width = width = settings.width or source
        self.resize = nn.Identity() if width == source else nn.Linear(source, width)
        self.characters = nn.ModuleDict()
        if settings.character_embeddings:
            for kind in ("forms", "lemmas"):
                self.characters[kind] = CharacterEmbedding(settings.buckets, settings.gram_width, width)
        self.queries = nn.ModuleDict({name: Queries(width, width, sizes.queries) for name, sizes in treebanks.items()})
        self.decoder = Decoder(
            width,
            settings.layers,
            settings.heads,
            settings.feedforward or 4 * width,
            settings.dropout,
            settings.attention_dropout,
        )
        self.heads = Heads(settings, width, treebanks)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def encode(self, batch: InputBatch) -> Encoding:
        """One pass of the encoder, which can serve several treebanks."""
        inputs = InputTensors.of(batch, self.device)
        contextual = self.resize(self.encoder(inputs))
        tokens = contextual
        if self.training and self.settings.word_dropout:
            hidden = dropped((len(tokens), 1), self.settings.word_dropout, tokens.device)
            tokens = tokens.masked_fill(hidden, 0.0)
        if self.characters:
            assert inputs.forms is not None
            assert inputs.lemmas is not None
            tokens = tokens + self.characters["forms"](*inputs.forms) + self.characters["lemmas"](*inputs.lemmas)
        return Encoding(contextual, tokens, inputs.tokens)

    def decode(self, encoding: Encoding, treebank: str, *, every_layer: bool = False) -> Hidden:
        """The hidden states of a treebank's queries; with ``every_layer`` also those after the earlier layers."""
        layout = encoding.layout.repeated(self.treebanks[treebank].queries)
        inputs = self.queries[treebank](encoding.contextual), layout, encoding.tokens, encoding.layout
        *earlier, h = self.decoder.states(*inputs) if every_layer else (self.decoder(*inputs),)
        return Hidden(h, layout, encoding.tokens, encoding.layout, tuple(earlier))

    def forward(
        self,
        batch: InputBatch,
        sentences: Mapping[str, NDArray[np.int64] | None] | None = None,
        *,
        every_layer: bool = False,
    ) -> dict[str, Hidden]:
        """The hidden states of each wanted treebank, for some sentences of the batch or (None) for all.

        Without ``sentences``: of all sentences for all treebanks.
        """
        encoding = self.encode(batch)
        wanted = sentences if sentences is not None else dict.fromkeys(self.treebanks)
        return {
            treebank: self.decode(encoding.of(chosen), treebank, every_layer=every_layer)
            for treebank, chosen in wanted.items()
        }

    def heads_of(self, treebank: str) -> TreebankHeads:
        """The heads of a treebank."""
        return self.heads.of(treebank, self.treebanks[treebank])


# What a trained network says about sentences, as arrays.


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
