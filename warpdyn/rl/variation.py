"""What differs from one environment and episode to the next: numbers that are drawn, pushes, noise."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..user_kernels import random_numbers
from ..user_kernels.random_numbers import Key

When = Literal["startup", "reset", "interval"]
Law = Literal["uniform", "log_uniform", "normal"]
How = Literal["abs", "scale", "add"]
Spread = Literal["uniform", "normal"]


class Vary(NamedTuple):
    """A number of the simulation that is drawn for each environment.

    law: "uniform" and "log_uniform" between low and high; "normal" with mean low and deviation high.
    how: "abs" is the number itself, "scale" a factor of the default, "add" what is added to it.
    when: "startup" once, "reset" with each episode, "interval" every `seconds` too.
    of: of quantities of the model, the links or joints whose names match this pattern.
    """

    low: float
    high: float
    law: Law = "uniform"
    how: How = "abs"
    when: When = "reset"
    seconds: float = 5.0
    of: str = "*"

    @property
    def largest(self) -> float:
        """No draw is larger; one in 700 of the normal law is."""
        return self.low + 3.0 * self.high if self.law == "normal" else self.high

    def drawn(self, key: Key, default: Any) -> Any:
        """A value for an environment, always from the default: never cumulative."""
        shape = np.shape(default)
        if self.law == "normal":
            x: Any = random_numbers.normal(key, shape, self.low, self.high)
        elif self.law == "uniform":
            x = random_numbers.uniform(key, shape, self.low, self.high)
        else:
            low, high = np.log(self.low), np.log(self.high)
            x = np.exp(random_numbers.uniform(key, shape, low, high))
        return x if self.how == "abs" else x * default if self.how == "scale" else x + default


class Push(NamedTuple):
    """Velocity that a free base is given every `seconds` [s], in a random level direction, of at
    most `speed` [m/s]."""

    speed: float
    seconds: float = 5.0


class Noise(NamedTuple):
    """Noise on what a policy observes: "uniform" within ±size, or "normal" with deviation `size`.

    size: a number, or one for each entry of the term.
    """

    size: Any
    law: Spread = "uniform"

    def added(self, key: Key, x: Any) -> Any:
        """The term with its noise."""
        shape = np.shape(x)
        if self.law == "normal":
            draws = random_numbers.normal(key, shape)
        else:
            draws = random_numbers.uniform(key, shape, -1.0, 1.0)
        return x + np.asarray(self.size) * draws
