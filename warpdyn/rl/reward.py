"""Rewards as objects: a weight and a function, which a task adds to those of its `reward`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reward:
    """A reward per second: its weight, and a function of the robot and the episode.

    function: `function(robot, s, **arguments)` returns a number, in NumPy's notation. Tasks add,
    replace and remove rewards by name, without methods that call those of their base classes:

        rewards = {**Walk.rewards, "slip": Reward(-0.2, slip), "calm": Reward(-0.01, calm, size=2)}
    """

    weight: float
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __init__(self, weight: float, function: Callable[..., Any], **arguments: Any):
        object.__setattr__(self, "weight", float(weight))
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "arguments", arguments)

    def __call__(self, robot: Any, s: Any) -> Any:
        return self.function(robot, s, **self.arguments)

    def with_weight(self, weight: float) -> Reward:
        """The same reward with another weight."""
        return Reward(weight, self.function, **self.arguments)
