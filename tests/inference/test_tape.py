"""Each operation in C against NumPy, whatever the sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perin.inference import tape as tape_module
from perin.inference.arithmetic import ACTIVATIONS, Eager
from perin.inference.layers import LARGEST_SUM, Linear, Norm, quantize
from perin.inference.tape import Tape
from perin.native import LEVELS, level, library

pytestmark = pytest.mark.skipif(library() is None, reason="the package's C code was not compiled")
each_level = pytest.mark.parametrize("level", range(len(LEVELS)), ids=LEVELS)


def random(*shape, seed=0, scale=1.0):
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


@each_level
@pytest.mark.parametrize("bits", [8, 32])
@given(st.integers(0, 70), st.integers(1, 90), st.integers(1, 70), st.booleans(), st.integers(0, 99))
@settings(max_examples=25)
def test_linear_layers(level, bits, rows, inputs, outputs, bias, seed):
    layer = Linear(random(outputs, inputs, seed=seed), random(outputs, seed=seed) if bias else None, bits)
    x = random(rows, inputs, seed=seed, scale=3)
    tape = Tape(level)
    found = tape.array(tape.linear(layer, tape.given(x)))
    right = layer(x)
    assert np.allclose(found, right, rtol=1e-5, atol=1e-5 * max(1, inputs**0.5))
    for row in range(rows):
        alone = Tape(level)
        assert np.array_equal(alone.array(alone.linear(layer, alone.given(x[row : row + 1])))[0], found[row])


@each_level
@given(st.integers(0, 40), st.integers(1, 300), st.integers(1, 70), st.integers(0, 99))
@settings(max_examples=60)
def test_sums_of_whole_numbers_are_exact(level, rows, inputs, outputs, seed):
    """Every kind of processor gives the same sums as NumPy to the last bit, for all shapes."""
    whole, _ = quantize(random(outputs, inputs, seed=seed))
    x = np.random.default_rng(seed).integers(-127, 128, (rows, inputs)).astype(np.float32)
    x[:, seed % inputs] = 127 if seed % 2 else -127  # the largest of each row, so that rounding changes nothing
    tape = Tape(level)
    found = tape.array(tape.linear(Linear(whole, None, 8, np.ones(outputs, dtype=np.float32)), tape.given(x)))
    assert np.array_equal(found, x.astype(int) @ whole.T.astype(int))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99), st.floats(-8, 8))
@settings(max_examples=60)
def test_no_sum_of_four_products_overflows(inputs, outputs, seed, exponent):
    weights = (random(outputs, inputs, seed=seed).astype(np.float64) ** 3 * 10**exponent).astype(np.float32)
    whole, scales = quantize(weights)
    padded = np.pad(whole.astype(int), ((0, 0), (0, -inputs % 8))).reshape(outputs, -1, 8)
    quads = np.stack((padded[..., [0, 1, 4, 5]], padded[..., [2, 3, 6, 7]]))
    sums = np.maximum(np.maximum(quads, 0).sum(-1), -np.minimum(quads, 0).sum(-1))
    assert sums.max() <= LARGEST_SUM
    assert np.allclose(whole * scales[:, None], weights, atol=float(scales.max()) * 0.51)


@each_level
def test_the_most_extreme_inputs_and_weights(level):
    weights = np.stack([np.full(2000, value, dtype=np.float32) for value in (1.0, -1.0, 0.5)])
    layer = Linear(weights, None, 8)
    x = np.stack((np.ones(2000), -np.ones(2000), np.where(np.arange(2000) % 3, 1.0, -1.0))).astype(np.float32)
    tape = Tape(level)
    assert np.allclose(tape.array(tape.linear(layer, tape.given(x))), layer(x))
    tape = Tape(level)
    assert not tape.array(tape.linear(layer, tape.given(np.zeros((2, 2000), np.float32)))).any()


@each_level
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(level, activation):
    x = np.concatenate((np.linspace(-15, 15, 3001), [0.0, -0.0, 1e-8, -90.0, 90.0])).astype(np.float32)[:, None]
    layer = Linear(np.ones((1, 1)), None)
    tape, eager = Tape(level), Eager()
    found = tape.array(tape.linear(layer, tape.given(x), activation))
    assert np.allclose(found, eager.linear(layer, x, activation), rtol=2e-6, atol=3e-7)


@each_level
@pytest.mark.parametrize("scale", [1.0, 8.0])
@pytest.mark.parametrize(
    ("lengths", "memory_lengths"),
    [([3], [5]), ([1, 4, 0, 2], [1, 17, 0, 16]), ([33, 70], [100, 15]), ([2, 3], [0, 4]), ([0], [3]), ([], [])],
)
@pytest.mark.parametrize(("width", "heads"), [(32, 2), (96, 2), (12, 3), (64, 1)])
def test_attention(level, width, heads, lengths, memory_lengths, scale):
    queries, memories = random(sum(lengths), width, scale=scale), random(sum(memory_lengths), 2 * width, scale=scale)
    places = [np.array(each, dtype=np.int64) for each in (lengths, memory_lengths)]
    tape = Tape(level)
    found = tape.array(tape.attention(tape.given(queries), tape.given(memories), *places, heads))
    assert np.allclose(found, Eager().attention(queries, memories, *places, heads), rtol=1e-3, atol=2e-5 * scale**2)


@each_level
@pytest.mark.parametrize("width", [1, 7, 8, 384])
def test_norms(level, width):
    norm, x = Norm(random(width), random(width, seed=1), 1e-6), random(9, width, scale=5)
    tape = Tape(level)
    assert np.allclose(tape.array(tape.norm(norm, tape.given(x))), norm(x), rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(library() is None or level() < 2, reason="the processor has one kind of fast kernels only")
@given(
    st.integers(1, 40), st.integers(1, 60), st.sampled_from(ACTIVATIONS), st.sampled_from([8, 32]), st.integers(0, 9)
)
@settings(max_examples=40)
def test_kernels_agree_to_the_last_bit(rows, width, activation, bits, seed):
    """Registers of different widths add in the same order."""
    first, second = (Linear(random(32, size, seed=seed), random(32), bits) for size in (width, 32))
    norm, x = Norm(random(32), random(32, seed=1)), random(rows, width, seed=seed)
    lengths = np.array([rows // 3, rows - rows // 3])
    results = []
    for kind in (LEVELS.index("avx2"), LEVELS.index("vnni")):
        tape = Tape(kind)
        hidden = tape.norm(norm, tape.feedforward(first, second, activation, tape.given(x)))
        memories = tape.given(random(rows, 64, seed=seed))
        results.append(tape.array(tape.attention(hidden, memories, lengths, lengths, 2)))
    assert np.array_equal(*results)


def test_what_does_not_fit_is_refused_before_c_code_sees_it():
    tape, layer = Tape(), Linear(np.ones((2, 3)), None)
    with pytest.raises(ValueError, match="sizes do not fit"):
        tape.linear(layer, tape.given(np.zeros((1, 4), np.float32)))
    with pytest.raises(TypeError, match="contiguous array of float32"):
        tape.given(np.zeros((1, 3)))
    with pytest.raises(TypeError, match="contiguous array"):
        tape.given(np.zeros((3, 2), np.float32).T)
    x = tape.given(np.zeros((2, 3), np.float32))
    with pytest.raises(IndexError):
        tape.pool(x, np.array([2]), np.array([0]), 1)
    with pytest.raises(IndexError):
        tape.bag(np.zeros((4, 2), np.float32), np.array([4]), np.array([0]))
    with pytest.raises(ValueError, match="sizes do not fit"):
        tape.attention(x, x, np.array([2]), np.array([2]), 1)


def test_nothing_is_read_where_nothing_is():
    layer = Linear(np.full((5, 3), np.nan), None)
    tape = Tape()
    accepted = tape.labels(layer, None, tape.given(np.ones((4, 3), np.float32)), np.array([2, 0, 2]), 0.5)
    assert accepted.rows.tolist() in ([0, 2], [1, 3], [0, 1, 2, 3])  # of numbers that are none, but of rows that are


@each_level
@pytest.mark.parametrize("bits", [8, 32])
@pytest.mark.parametrize("distribution", [False, True])
@pytest.mark.parametrize(("outputs", "inner"), [(1, 24), (7, 16), (20, 5)])
def test_pairs(level, bits, distribution, outputs, inner):
    layer = Linear(random(outputs * inner, 12), random(outputs * inner), bits)
    lengths, right_lengths = np.array([3, 0, 70, 1]), np.array([5, 2, 33, 0])
    x, right = random(74, 12), random(40, inner, seed=1)
    single, places = random(74, outputs, seed=2), (lengths, right_lengths)
    tape = Tape(level)
    given_ones = [tape.given(each) for each in (x, single, right)]
    found = tape.pairs(layer, *given_ones, *places, distribution=distribution)
    wanted = Eager().pairs(layer, x, single, right, *places, distribution=distribution)
    for one, two in zip(found, wanted, strict=True):
        assert one.shape == two.shape
        assert np.allclose(one, two, rtol=1e-4, atol=1e-5)


def test_memory_is_taken_once_for_what_is_used_at_once():
    """Matrices of a scratch take the place of earlier ones, and what did not fit one block does so the next time."""
    tape = Tape()
    size = tape_module._Arena.FIRST // 2
    tape.new(size, 1)
    places = set()
    for _ in range(5):
        with tape.scratch():
            places.add(tape.new(size, 1).address)
            places.add(tape.new(size, 1).address)
    assert len(places) == 2
    Tape()
    assert [len(block) for block in tape_module._arena.blocks] == [tape_module._arena.most]
