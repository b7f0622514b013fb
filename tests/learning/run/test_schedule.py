"""Learning rates: frozen, rising, falling, and never all warm-up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perin.learning.run.schedule import DELAY_SHARE, WARMUP_SHARE, Schedule, fitted

DECAYS = st.sampled_from(["inverse-sqrt", "linear", "cosine", "constant"])


def test_paper_schedule_by_hand():
    schedule = Schedule(total=100_000, delay=2000, warmup=6000)
    assert schedule(1999) == 0.0
    assert schedule(4999) == pytest.approx(0.5)
    assert schedule(7999) == pytest.approx(1.0)
    assert schedule(2000 + 24_000 - 1) == pytest.approx(math.sqrt(6000 / 24_000))


@given(st.integers(1, 5000), st.integers(0, 3000), st.integers(0, 9000), DECAYS)
def test_between_zero_and_one_and_falling_after_the_warmup(total, delay, warmup, decay):
    schedule = fitted(total, delay, warmup, decay)
    factors = [schedule(step) for step in range(total)]
    assert all(0.0 <= factor <= 1.0 for factor in factors)
    assert schedule.delay <= DELAY_SHARE * total
    assert schedule.warmup <= WARMUP_SHARE * total
    start = schedule.delay + schedule.warmup
    assert all(a >= b for a, b in zip(factors[start:], factors[start + 1 :], strict=False))
    assert max(factors) > 0.9


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_ends_near_zero_or_at_the_floor(decay):
    assert Schedule(1000, 0, 100, decay)(999) < 0.01
    assert Schedule(1000, 0, 100, decay, floor=0.2)(999) == 0.2
