"""Intervals for small samples of tasks: bootstrap of a mean, paired bootstrap of a difference, medians.

Who calls: the suites. What may not come in: what the figures mean. Everything is seeded: the same figures give the same interval.
Method: percentile bootstrap, 2,000 resamples (Efron and Tibshirani 1993, ch. 13); paired where two methods saw the same tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mog.engine.evals.suites import Measure

RESAMPLES = 2_000
_LOW, _HIGH = 2.5, 97.5
_BLOCK = 4_000_000

Floats = NDArray[np.float64]


def mean_interval(values: Sequence[float] | Floats, seed: int, *, scale: float = 1.0) -> Measure:
    """Mean of ``values`` times ``scale`` with its 95 % interval; no cases give value 0 and no interval."""
    return _measure(np.asarray(values, dtype=np.float64) * scale, seed, lambda drawn: drawn.mean(axis=1))


def median_interval(values: Sequence[float], seed: int) -> Measure:
    """Median with its 95 % interval. Infinite values (never found) are legal and make an infinite median when they prevail."""
    return _measure(np.asarray(values, dtype=np.float64), seed, _medians)


def share(flags: Sequence[bool], seed: int) -> Measure:
    """Share of true flags in percent, with its interval."""
    return mean_interval([float(flag) for flag in flags], seed, scale=100.0)


def paired(one: Sequence[float], other: Sequence[float], seed: int, *, scale: float = 1.0) -> Measure:
    """Mean of ``one - other`` task by task, times ``scale``, with its interval. Both are over the same tasks, in one order."""
    if len(one) != len(other):
        raise ValueError("paired figures need the same tasks")
    return mean_interval(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64), seed, scale=scale)


def _medians(drawn: Floats) -> Floats:
    # the lower middle: with infinities a mean of two middles would be one too
    return np.sort(drawn, axis=1)[:, (drawn.shape[1] - 1) // 2]


def _measure(values: Floats, seed: int, of: Callable[[Floats], Floats]) -> Measure:
    if not len(values):
        return Measure(0.0)
    value = float(of(values[None, :])[0])
    drawn = np.concatenate(list(_resampled(values, seed, of)))
    low, high = np.percentile(drawn, [_LOW, _HIGH], method="lower")
    return Measure(value, float(low), float(high), len(values))


def _resampled(values: Floats, seed: int, of: Callable[[Floats], Floats]) -> Iterator[Floats]:
    """Statistic of every resample, in blocks that fit in memory."""
    random = np.random.default_rng(seed)
    block = max(1, min(RESAMPLES, _BLOCK // len(values)))
    for start in range(0, RESAMPLES, block):
        rows = min(block, RESAMPLES - start)
        yield of(values[random.integers(0, len(values), (rows, len(values)))])
