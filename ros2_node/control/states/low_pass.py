"""Exponential low pass of an array."""

from __future__ import annotations

import math

import numpy as np

from .finite_difference import Index, short_way

LONGEST_STEP = 0.1
"""After a longer pause the filter begins anew [s]."""


class LowPass:
    """A low pass of first order: y' = 2π cutoff (x - y), exact if x is constant between samples.

    At low frequencies it delays by 1 / (2π cutoff). turns: entries that are angles without an end, which go the short
    way round.
    """

    def __init__(self, cutoff: float, n: int, turns: np.ndarray | None = None) -> None:
        """cutoff: the frequency at which the amplitude is 0.71 times that of x [Hz]; n: the number of entries."""
        self._rate, self._turns = -2.0 * math.pi * cutoff, turns
        self.value = np.zeros(n)
        """The array after the low pass."""
        self._is_empty = np.ones(n, dtype=bool)

    def forget(self) -> None:
        """Start again with the next array."""
        self._is_empty[:] = True

    def shift(self, step: np.ndarray) -> None:
        """Continue where x has made this step (n,), as if it had been there before."""
        self.value += step

    def follow(
        self, x: np.ndarray, passed: float | np.ndarray, columns: Index = slice(None)
    ) -> np.ndarray:
        """Filter some entries of x (n,) after a time [s], one for all of them or one for each.
        Returns `value`, an array that is reused."""
        x, old = x[columns], self.value[columns]
        goes_on = ~self._is_empty[columns] & (passed >= 0.0) & (passed <= LONGEST_STEP)
        step = x - old
        if self._turns is not None:
            step = short_way(step, self._turns[columns])
        share = -np.expm1(self._rate * np.where(goes_on, passed, 0.0))
        self.value[columns] = np.where(goes_on, old + share * step, x)
        self._is_empty[columns] = False
        return self.value
