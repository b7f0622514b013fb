"""The trained network in NumPy and C: what ``network`` computes in PyTorch, for parsing on a processor without it.

:class:`InferenceNetwork` has the names and weights of :class:`perin.network.network.Network`.  Its encoders are those
that need no PyTorch: the BERT family on subwords, and ``characters``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perin.contract import Sentence
from perin.contract.heads import Prediction
from perin.inference.arithmetic import Arithmetic, Ints, Value, activated, softmax
from perin.inference.layers import (
    Attention,
    CharacterEmbedding,
    Context,
    FeedForward,
    Floats,
    Linear,
    Parameters,
    Residual,
    apply_all,
)
from perin.inference.tape import choose_arithmetic
from perin.network.encoders import first_position
from perin.network.inputs import InputBatch, Sequences
from perin.network.settings import CHARACTERS, HeadSizes, NetworkSettings, owner_name


class Encoding(NamedTuple):
    """The encoded tokens of a batch."""

    contextual: Value
    """e [tokens, D]: what queries are made from."""
    tokens: Value
    """[tokens, D]: what the decoder and the anchor head look at: e with character embeddings."""
    lengths: Ints
    sentences: Sequence[Sentence]


class InferenceNetwork:
    """A network with given weights, by the names that they have in :class:`perin.network.network.Network`.

    ``config`` is that of a pretrained encoder.  With 8 ``bits``, encoder, queries and decoder compute in eight bits,
    and so do the heads of the treebanks in ``quantized_heads``.  It holds no state: any number of threads may use it
    at once.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        treebanks: Mapping[str, HeadSizes],
        weights: Mapping[str, NDArray[Any]],
        config: Mapping[str, Any] | None = None,
        *,
        bits: int = 32,
        quantized_heads: Collection[str] = (),
    ) -> None:
        self.bits = bits
        self.treebanks = dict(treebanks)
        parameters = Parameters(weights)
        whole = parameters.of_bits(bits)
        self.quantized = parameters.quantized
        self.encoder: CharactersEncoder | SubwordEncoder
        if settings.encoder == CHARACTERS:
            self.encoder = CharactersEncoder(whole.of("encoder"), settings)
        else:
            assert config is not None
            self.encoder = SubwordEncoder(whole.of("encoder"), config)
        width = settings.width or self.encoder.width
        self.resize = None if width == self.encoder.width else parameters.linear("resize")
        self.characters = [
            CharacterEmbedding(parameters.of(f"characters.{kind}"))
            for kind in (("forms", "lemmas") if settings.character_embeddings else ())
        ]
        self.queries = {name: Queries(whole.of(f"queries.{name}"), width) for name in treebanks}
        self.decoder = Decoder(whole.of("decoder"), settings.layers, settings.heads)
        in_eight = {
            (kind, owner_name(name, treebanks[name], kind))
            for name in treebanks
            if bits == 8 and name in quantized_heads
            for kind in treebanks[name].kinds
        }
        heads: dict[tuple[str, str], Head] = {}
        self.heads: dict[str, dict[str, Head]] = {}
        for name, sizes in treebanks.items():
            self.heads[name] = {}
            for kind in sizes.kinds:
                key = (kind, owner_name(name, sizes, kind))
                if key not in heads:
                    own = parameters.of("heads." + ".".join(key), 8 if key in in_eight else 32)
                    heads[key] = _head(kind, own, settings)
                self.heads[name][kind] = heads[key]

    def predict(
        self, batch: InputBatch, treebanks: Sequence[str], chosen: Arithmetic | None = None
    ) -> dict[str, list[Prediction]]:
        """What the network says about the sentences of a batch for some treebanks, from one pass of the encoder."""
        chosen = chosen or choose_arithmetic()
        encoding = self.encode(chosen, batch)
        return {name: self.predictions(chosen, encoding, name) for name in treebanks}

    def encode(self, chosen: Arithmetic, batch: InputBatch) -> Encoding:
        """One pass of the encoder."""
        contextual = self.encoder(chosen, batch)
        if self.resize is not None:
            contextual = chosen.linear(self.resize, contextual)
        tokens = contextual
        for embedding, bags in zip(self.characters, (batch.forms, batch.lemmas), strict=False):
            assert bags is not None
            tokens = chosen.add(tokens, embedding(chosen, *bags))
        return Encoding(contextual, tokens, batch.tokens.lengths, batch.sentences)

    def decode(self, chosen: Arithmetic, encoding: Encoding, treebank: str) -> Value:
        """The hidden states [queries, D] of a treebank's queries."""
        queries = self.queries[treebank](chosen, encoding.contextual)
        lengths = encoding.lengths * self.treebanks[treebank].queries
        return self.decoder(chosen, queries, lengths, encoding.tokens, encoding.lengths)

    def predictions(self, chosen: Arithmetic, encoding: Encoding, treebank: str) -> list[Prediction]:
        """What the heads of a treebank say about the sentences."""
        sizes, heads = self.treebanks[treebank], self.heads[treebank]
        lengths = encoding.lengths * sizes.queries
        with chosen.scratch():
            h = self.decode(chosen, encoding, treebank)
            labels = heads["labels"]
            assert isinstance(labels, LabelHead)
            accepted = labels(chosen, h, lengths, sizes.null_threshold)
            nodes = chosen.pool(h, accepted.rows, np.arange(len(accepted.rows)), len(accepted.rows))
            ends = np.cumsum(lengths)
            counts = np.diff(np.searchsorted(accepted.rows, ends), prepend=0)
            return self._of_nodes(chosen, treebank, nodes, accepted.distributions, accepted.rows, counts, encoding)

    def _of_nodes(
        self,
        chosen: Arithmetic,
        treebank: str,
        nodes: Value,
        labels: Floats,
        rows: Ints,
        counts: Ints,
        encoding: Encoding,
    ) -> list[Prediction]:
        sizes, heads = self.treebanks[treebank], self.heads[treebank]
        nothing: list[None] = [None] * len(counts)

        def pairs(kind: str, *, distribution: bool = False) -> list[Floats]:
            head = heads[kind]
            assert isinstance(head, PairHead)
            return head(chosen, nodes, counts, nodes, counts, distribution=distribution)

        presence = [scores[:, :, 0] for scores in pairs("presence")]
        edge_labels = pairs("edge_labels", distribution=not sizes.multi_label)
        attributes = pairs("edge_attributes", distribution=True) if sizes.edge_attributes else nothing
        anchors: Sequence[Floats | None] = nothing
        if sizes.anchors:
            head = heads["anchors"]
            assert isinstance(head, PairHead)
            scores = head(chosen, nodes, counts, encoding.tokens, encoding.lengths, distribution=False)
            anchors = [each[:, :, 0] for each in scores]
        single = {kind: heads[kind] for kind in ("properties", "property_classes", "tops") if kind in heads}
        scored = {kind: head(chosen, nodes) for kind, head in single.items() if isinstance(head, SingleHead)}
        flags = activated(scored["properties"][:, 0], "sigmoid") if sizes.properties else None
        classes = _classes(sizes, scored.get("property_classes"))
        ends = np.cumsum(counts).tolist()
        starts = encoding.lengths.cumsum() - encoding.lengths
        results = []
        for number, (sentence, end) in enumerate(zip(encoding.sentences, ends, strict=True)):
            own = slice(end - int(counts[number]), end)
            results.append(
                Prediction(
                    sentence,
                    sizes.queries,
                    labels=labels[own],
                    accepted=rows[own] - int(starts[number]) * sizes.queries,
                    presence=presence[number],
                    edge_labels=edge_labels[number],
                    anchors=anchors[number],
                    edge_attributes=attributes[number],
                    properties=None if flags is None else flags[own],
                    property_classes={name: array[own] for name, array in classes.items()},
                    tops=softmax(scored["tops"][own, 0]) if sizes.tops else None,
                )
            )
        return results


class Queries:
    """q_{i,t} = tanh(W_t e_i + b_t): Q queries for each token."""

    def __init__(self, parameters: Parameters, width: int) -> None:
        self.linear = parameters.linear("linear")
        self.width = width

    def __call__(self, chosen: Arithmetic, tokens: Value) -> Value:
        """``tokens`` [T, D] to [T * Q, width]; query q belongs to token q // Q."""
        return chosen.reshape(chosen.linear(self.linear, tokens, "tanh"), self.width)


class Decoder:
    """A pre-norm Transformer over the queries of a sentence with cross-attention to its tokens."""

    def __init__(self, parameters: Parameters, layers: int, heads: int) -> None:
        self.layers = []
        for number in range(layers):
            own = parameters.of(f"layers.{number}")
            attentions = [
                Residual(own.of(name), Attention(own.of(f"{name}.sublayer"), heads))
                for name in ("self_attention", "cross_attention")
            ]
            feedforward = Residual(own.of("feedforward"), FeedForward(own.of("feedforward.sublayer"), "relu"))
            self.layers.append((*attentions, feedforward))
        self.norm = parameters.norm("norm")

    def __call__(self, chosen: Arithmetic, queries: Value, lengths: Ints, tokens: Value, token_lengths: Ints) -> Value:
        """``queries`` [query rows, D] and ``tokens`` [token rows, D] to hidden states h [query rows, D]."""
        among_queries, with_tokens = Context(lengths), Context(lengths, tokens, token_lengths)
        residuals = (
            pair
            for layer in self.layers
            for pair in zip(layer, (among_queries, with_tokens, among_queries), strict=True)
        )
        other = chosen.new(int(lengths.sum()), len(self.norm.weight))
        return chosen.norm(self.norm, apply_all(chosen, residuals, queries, other))


class LabelHead:
    """A mixture of softmaxes over null and the rules."""

    def __init__(self, parameters: Parameters, components: int) -> None:
        self.output = parameters.linear("output")
        self.prior: Linear | None = None
        if components > 1:
            self.prior, self.latent = parameters.linear("prior"), parameters.linear("latent")

    def __call__(self, chosen: Arithmetic, h: Value, lengths: Ints, threshold: float) -> Any:
        """Which of the queries ``h`` [queries, D] become nodes, and their distributions."""
        if self.prior is None:
            return chosen.labels(self.output, None, h, lengths, threshold)
        gates = chosen.array(chosen.linear(self.prior, h, "sigmoid"))
        prior = chosen.given(gates / gates.sum(1, keepdims=True))
        return chosen.labels(self.output, prior, chosen.linear(self.latent, h, "tanh"), lengths, threshold)


class PairHead:
    """Biaffine scores of pairs: s' W t + u' s + v' t + b; see :class:`perin.network.heads.Biaffine`."""

    def __init__(self, parameters: Parameters) -> None:
        self.source = parameters.linear("source")
        self.target = parameters.linear("target")
        self.pair = parameters.linear("pair")
        self.single = parameters.linear("single")

    def __call__(
        self,
        chosen: Arithmetic,
        sources: Value,
        lengths: Ints,
        targets: Value,
        target_lengths: Ints,
        *,
        distribution: bool,
    ) -> list[Floats]:
        """Of each sentence the probabilities [sources, targets, outputs]."""
        with chosen.scratch():
            s = chosen.linear(self.source, sources, "elu")
            t = chosen.linear(self.target, targets, "elu")
            single = chosen.linear(self.single, s)
            return chosen.pairs(self.pair, s, single, t, lengths, target_lengths, distribution=distribution)


class SingleHead:
    """Scores of single nodes."""

    def __init__(self, parameters: Parameters) -> None:
        self.linear = parameters.linear("1")

    def __call__(self, chosen: Arithmetic, nodes: Value) -> Floats:
        """``nodes`` [nodes, D] to [nodes, outputs]."""
        with chosen.scratch():
            return chosen.array(chosen.linear(self.linear, nodes))


Head = LabelHead | PairHead | SingleHead


def _head(kind: str, parameters: Parameters, settings: NetworkSettings) -> Head:
    if kind == "labels":
        return LabelHead(parameters, settings.mixture)
    if kind in ("properties", "property_classes", "tops"):
        return SingleHead(parameters)
    return PairHead(parameters)


def _classes(sizes: HeadSizes, scores: Floats | None) -> dict[str, Floats]:
    """The distributions over the classes of each property."""
    if scores is None:
        return {}
    ends = np.cumsum([count for _, count in sizes.property_classes]).tolist()
    return {
        name: softmax(scores[:, end - count : end])
        for (name, count), end in zip(sizes.property_classes, ends, strict=True)
    }


# The encoders that need no PyTorch.


class CharactersEncoder:
    """See :class:`perin.network.encoders.encoder.ScratchEncoder`."""

    def __init__(self, parameters: Parameters, settings: NetworkSettings) -> None:
        self.embedding = CharacterEmbedding(parameters.of("embedding"))
        self.layers = []
        for number in range(settings.scratch_layers):
            own = parameters.of(f"layers.{number}")
            attention = Attention(own.of("attention.sublayer"), settings.scratch_heads, rotary=True)
            feedforward = FeedForward(own.of("feedforward.sublayer"), "gelu")
            self.layers.append((Residual(own.of("attention"), attention), Residual(own.of("feedforward"), feedforward)))
        self.norm = parameters.norm("norm")
        self.width = settings.scratch_width

    def __call__(self, arithmetic: Arithmetic, batch: InputBatch) -> Value:
        """The contextual vectors of the tokens [tokens, D]."""
        assert batch.forms is not None
        context = Context(batch.tokens.lengths)
        out = arithmetic.new(batch.tokens.rows, self.width)
        with arithmetic.scratch():
            x = self.embedding(arithmetic, *batch.forms)
            residuals = ((residual, context) for layer in self.layers for residual in layer)
            other = arithmetic.new(batch.tokens.rows, self.width)
            return arithmetic.norm(self.norm, apply_all(arithmetic, residuals, x, other), out)


class SubwordEncoder:
    """See :class:`perin.network.encoders.encoder.SubwordEncoder` and :class:`perin.network.encoders.encoder.Bert`."""

    def __init__(self, parameters: Parameters, config: Mapping[str, Any]) -> None:
        self.width = int(config["hidden_size"])
        epsilon = float(config.get("layer_norm_eps", 1e-12))
        body = parameters.of("body")
        self.embeddings = Embeddings(body.of("embeddings"), first_position(config), epsilon)
        heads, activation = int(config["num_attention_heads"]), str(config.get("hidden_act", "gelu"))
        self.layers = [
            BertLayer(body.of(f"layers.{number}"), heads, activation, epsilon)
            for number in range(int(config["num_hidden_layers"]))
        ]
        self.weights = softmax(parameters.array("mixture.scores"))
        self.bare = parameters.array("pooling.bare")
        self.norm = parameters.norm("pooling.norm")

    def __call__(self, arithmetic: Arithmetic, batch: InputBatch) -> Value:
        """The contextual vectors of the tokens [tokens, D]."""
        subwords = batch.subwords
        assert subwords is not None
        out = arithmetic.new(batch.tokens.rows, self.width)
        with arithmetic.scratch():
            states = self.states(arithmetic, subwords.ids, subwords.windows)
            mixed = arithmetic.mix(states, self.weights, self.bare)
            pooled = arithmetic.pool(mixed, subwords.rows, subwords.tokens, batch.tokens.rows)
            return arithmetic.norm(self.norm, pooled, out)

    def states(self, arithmetic: Arithmetic, ids: NDArray[np.int64], windows: Sequences) -> list[Value]:
        """The output of each layer [rows, D] for packed subwords ``ids`` [rows]."""
        embedded = arithmetic.given(self.embeddings(ids, windows.places))
        states = [arithmetic.norm(self.embeddings.norm, embedded)]
        for layer in self.layers:
            states.append(layer(arithmetic, states[-1], Context(windows.lengths), len(ids)))
        return states[1:]


class Embeddings:
    """The sums of word, position and type embeddings, to be normalised.

    Words may be kept in eight bits, each row with a scale of its own.
    """

    def __init__(self, parameters: Parameters, first: int, epsilon: float) -> None:
        self.words = parameters.stored("words.weight")
        self.scales = parameters.scales("words.weight")
        self.places = parameters.array("positions.weight")[first:] + parameters.array("types.weight")[0]
        self.norm = parameters.norm("norm", epsilon)

    def __call__(self, ids: NDArray[np.int64], places: NDArray[np.int64]) -> Floats:
        """[rows, D] of some subwords at some places of their windows."""
        words = self.words[ids].astype(np.float32)
        if self.scales is not None:
            words *= self.scales[ids, None]
        words += self.places[places]
        result: Floats = words
        return result


class BertLayer:
    """Self-attention and feed-forward, each followed by residual connection and layer norm."""

    def __init__(self, parameters: Parameters, heads: int, activation: str, epsilon: float) -> None:
        self.attention = Attention(parameters.of("attention"), heads)
        self.attention_norm = parameters.norm("attention_norm", epsilon)
        self.feedforward = FeedForward(parameters.of("feedforward"), activation)
        self.norm = parameters.norm("norm", epsilon)

    def __call__(self, arithmetic: Arithmetic, x: Value, context: Context, rows: int) -> Value:
        """``x`` [rows, D]."""
        out = arithmetic.new(rows, len(self.norm.weight))
        with arithmetic.scratch():
            x = arithmetic.norm(self.attention_norm, self.attention(arithmetic, x, context, added=x))
            return arithmetic.norm(self.norm, self.feedforward(arithmetic, x, context, added=x), out)
