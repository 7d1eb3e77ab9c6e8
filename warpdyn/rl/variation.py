"""Variation between environments and episodes: random numbers of the simulation, pushes, noise."""

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

    law: "uniform" and "log_uniform" between low and high; "normal" with mean low and deviation
    high.
    how: "abs" is the number itself, "scale" a factor on the default, "add" an offset to it.
    when: "startup" once, "reset" at each episode, "interval" also every `seconds`.
    of: for quantities of the model, a pattern of the names of links or joints that vary.
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
        """Largest draw; for the normal law, one draw in 700 is larger."""
        return self.low + 3.0 * self.high if self.law == "normal" else self.high

    def drawn(self, key: Key, default: Any) -> Any:
        """A value for an environment, always relative to the default, so that draws do not
        accumulate."""
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
    """A velocity change of a free base every `seconds` [s], in a random horizontal direction, of at
    most `speed` [m/s]."""

    speed: float
    seconds: float = 5.0


class HeldPush(NamedTuple):
    """A force on a link every `seconds` [s], held for `hold` [s], in a random horizontal direction,
    of at most `force` [N]. It acts at the link's origin.

    link: its name; empty for the robot's root.
    """

    force: float
    hold: float = 0.2
    seconds: float = 5.0
    link: str = ""


class Noise(NamedTuple):
    """Noise on a policy's observations: "uniform" within ±size, or "normal" with deviation `size`.

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
