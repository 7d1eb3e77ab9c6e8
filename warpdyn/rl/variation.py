"""Variation between environments and episodes: random numbers of the simulation, pushes, noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..model.names import spelling_hint
from ..model.old_members import OldMember
from ..model.quantities import SHAPES
from ..user_kernels import random_numbers
from ..user_kernels.random_numbers import Key

When = Literal["startup", "reset", "interval"]
Law = Literal["uniform", "log_uniform", "normal"]
How = Literal["abs", "scale", "add"]
Spread = Literal["uniform", "normal"]

ENCODER_BIAS, OBSERVATION_LATENCY = "encoder_bias", "observation_latency"
"""Names in `vary`: offsets of measured joint positions [rad or m], and the age of observations
[s]."""

ZERO = (ENCODER_BIAS, "quadratic_friction")
"""Names in `vary` whose default is always 0."""

ORIGIN = "origin"
"""Name in `vary` of an environment's place in a height map (3,), a factor on (1, 1, 0) m."""


class Vary(NamedTuple):
    """A number of the simulation that is drawn for each environment.

    law: "uniform" and "log_uniform" between low and high; "normal" with mean low and deviation
    high, cut at three deviations.
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
        """Largest draw."""
        return self.low + 3.0 * self.high if self.law == "normal" else self.high

    @property
    def smallest(self) -> float:
        """Smallest draw."""
        return self.low - 3.0 * self.high if self.law == "normal" else self.low

    def mistakes(self) -> Iterator[str]:
        """The mistakes in its fields, as text."""
        yield from _unknown_words(self, law=Law, how=How, when=When)
        if not np.all(np.isfinite([self.low, self.high])):
            yield f"low and high must be finite, got {self.low} and {self.high}"
        elif self.law == "normal" and self.high < 0:
            yield f"a deviation must not be negative, got {self.high}"
        elif self.law != "normal" and self.low > self.high:
            yield f"low must not be above high, got {self.low} and {self.high}"
        elif self.law == "log_uniform" and self.low <= 0:
            yield f'low must be positive with law="log_uniform", got {self.low}'
        if self.when == "interval" and not self.seconds > 0:
            yield f"seconds must be positive, got {self.seconds}"
        elif self.when != "interval" and self.seconds != self._field_defaults["seconds"]:
            yield f'seconds have an effect with when="interval" only, got when="{self.when}"'

    def draw(self, key: Key, default: Any) -> Any:
        """A value for an environment, always relative to the default, so that draws do not
        accumulate."""
        shape = np.shape(default)
        if self.law == "normal":
            # One draw in 370 is beyond: a negative mass, or a latency that nothing is stored for.
            x: Any = random_numbers.normal(key, shape, self.low, self.high)
            x = np.clip(x, self.smallest, self.largest)
        elif self.law == "uniform":
            x = random_numbers.uniform(key, shape, self.low, self.high)
        else:
            low, high = np.log(self.low), np.log(self.high)
            x = np.exp(random_numbers.uniform(key, shape, low, high))
        return x if self.how == "abs" else x * default if self.how == "scale" else x + default


def with_defaults(vary: Mapping[str, Vary]) -> dict[str, Vary]:
    """Laws that draw the default of each number in `vary`. That of a delay is none."""
    delays = ("latency", OBSERVATION_LATENCY)
    return {
        name: Vary(0.0, 0.0) if name in delays else Vary(1.0, 1.0, how="scale", of=each.of)
        for name, each in vary.items()
    }


def fields_without_effect(root: str, name: str, record: Any) -> Iterator[str]:
    """Fields of a `Vary` that have no effect where it stands, as text. root: "vary" or "keep", the
    attribute of the task; name: of the entry."""
    if not isinstance(record, Vary):
        return
    if record.of != "*" and (root == "keep" or name not in SHAPES):
        yield f"`of` selects links and joints of the model's numbers only, got {record.of!r}"
    if name in ZERO and record.how == "scale" and (record.low, record.high) != (1.0, 1.0):
        yield 'how="scale" multiplies a default of 0; add to it with how="add"'
    if root == "keep" and record.how == "scale":
        yield 'how="scale" has no default to multiply, and would always give 0'
    if root == "keep" and record.when == "interval":
        yield 'a kept number is drawn once, not with when="interval"; it changes in promote'


class Push(NamedTuple):
    """A velocity change of a free base every `seconds` [s], in a random horizontal direction, of at
    least `least` and at most `speed` [m/s]."""

    speed: float
    seconds: float = 5.0
    least: float = 0.0

    def mistakes(self) -> Iterator[str]:
        """The mistakes in its fields, as text."""
        if not 0 <= self.least <= self.speed < np.inf:
            yield f"speeds must be 0 <= least <= speed, got {self.least} and {self.speed}"
        if not self.seconds > 0:
            yield f"seconds must be positive, got {self.seconds}"


class HeldPush(NamedTuple):
    """A force on a link every `seconds` [s], held for `hold` [s], in a random horizontal direction,
    of at most `force` [N]. It acts at the link's origin.

    link: its name; empty for the robot's free base.
    """

    force: float
    hold: float = 0.2
    seconds: float = 5.0
    link: str = ""

    def mistakes(self) -> Iterator[str]:
        """The mistakes in its fields, as text."""
        if not 0 <= self.force < np.inf:
            yield f"force must not be negative, got {self.force}"
        if not 0 < self.hold <= self.seconds:
            yield f"times must be 0 < hold <= seconds, got {self.hold} and {self.seconds}"


class Noise(NamedTuple):
    """Noise on a policy's observations: "uniform" within ±size, or "normal" with deviation `size`.

    size: a number, or one for each entry of the term.
    """

    size: Any
    law: Spread = "uniform"

    def mistakes(self) -> Iterator[str]:
        """The mistakes in its fields, as text."""
        yield from _unknown_words(self, law=Spread)
        try:
            sizes = np.asarray(self.size, dtype=float)
        except (TypeError, ValueError):
            yield f"size must be a number, or one for each entry, got {self.size!r}"
            return
        if not np.all((sizes >= 0) & np.isfinite(sizes)):
            yield f"size must not be negative, got {self.size}"

    def add_to(self, key: Key, x: Any) -> Any:
        """The term with its noise."""
        shape = np.shape(x)
        if self.law == "normal":
            draws = random_numbers.normal(key, shape)
        else:
            draws = random_numbers.uniform(key, shape, -1.0, 1.0)
        return x + np.asarray(self.size) * draws


def _unknown_words(record: Any, **known: Any) -> Iterator[str]:
    """Fields with a string that their literal type does not allow."""
    for name, words in known.items():
        if (word := getattr(record, name)) not in get_args(words):
            yield f"{name} must be one of {', '.join(get_args(words))}; got {word!r}"


# A named tuple's body has fields and methods alone.
for _kind, _old, _new in ((Vary, "drawn", "draw"), (Noise, "added", "add_to")):
    setattr(_kind, _old, OldMember(_old, _new))


class DomainRandomization(NamedTuple):
    """Varied numbers, noise, pushes and uneven ground for training, in addition to the task's own.

    vary, noise: as in a task; they replace the task's entries of the same name. push: as in a task.
    bumps: height of small bumps on level ground [m]; each episode of an environment begins at a
    different place.
    Entries that a task cannot have are left out: numbers of the ground and bumps without contact
    points, bumps on a terrain of the task's own or with pairs on the ground, numbers of drives
    without drives, noise on terms that its policy does not observe, pushes without a free base.
    """

    vary: Mapping[str, Vary] = {}
    noise: Mapping[str, Noise] = {}
    push: Push | None = None
    bumps: float = 0.0

    def with_changes(
        self, *, noise: Mapping[str, Noise] | None = None, **vary: Vary | None
    ) -> DomainRandomization:
        """The set with other entries of `vary`, by name (None removes one), and of `noise`.

        ValueError if the set has no entry of a name to remove.
        """
        for name, x in vary.items():
            if x is None and name not in self.vary:
                raise ValueError(
                    f"the set has no entry {name!r} to remove; it has {', '.join(self.vary)}"
                    f"{spelling_hint(name, self.vary)}"
                )
        entries = {name: x for name, x in {**self.vary, **vary}.items() if x is not None}
        return self._replace(vary=entries, noise={**self.noise, **(noise or {})})


SIM_TO_REAL = DomainRandomization(
    vary={
        "friction": Vary(0.15, 1.25),
        "mass": Vary(0.85, 1.2, how="scale"),
        "com": Vary(-0.01, 0.01, how="add"),
        "kp": Vary(0.85, 1.15, how="scale"),
        "kd": Vary(0.7, 1.3, how="scale"),
        "strength": Vary(0.75, 1.05, how="scale"),
        "viscous": Vary(0.0, 0.2, how="add"),
        "coulomb": Vary(0.0, 0.3, how="add"),
        "quadratic_friction": Vary(0.0, 0.1),
        "latency": Vary(0.0, 0.03),
        "observation_latency": Vary(0.0, 0.03),
        "encoder_bias": Vary(-0.02, 0.02, how="add"),
    },
    noise={
        "velocity": Noise(0.1),
        "turning": Noise(0.2),
        "gravity": Noise(0.05),
        "joints": Noise(0.01),
        "speeds": Noise(0.075),  # 1.5 rad/s, times the 0.05 of this term
    },
    push=Push(1.5, 2.0),
    bumps=0.02,
)
"""Defaults for legged robots of 5 to 50 kg.

Noise is that of Isaac Lab's velocity tasks. Latencies are those of a control period and a bus, 0 to
30 ms each for targets and observations. Masses, gains, strength of the motors, friction of joints
and ground and pushes are about those of mjlab's and Isaac Lab's velocity tasks.
"""

SIM_TO_REAL_ARM = DomainRandomization(
    vary={
        "kp": Vary(0.9, 1.1, how="scale"),
        "kd": Vary(0.8, 1.2, how="scale"),
        "strength": Vary(0.9, 1.0, how="scale"),
        "viscous": Vary(0.0, 0.5, how="add"),
        "coulomb": Vary(0.0, 0.5, how="add"),
        "latency": Vary(0.0, 0.01),
        "observation_latency": Vary(0.0, 0.02),
        "encoder_bias": Vary(-0.002, 0.002, how="add"),
    },
    noise={
        "joints": Noise(0.001),
        "speeds": Noise(0.005),
        "cube": Noise(0.01),  # 2 mm, times the 5 of these two terms and of "goal"
        "box": Noise(0.01),
        "goal": Noise(0.01),
        "turn": Noise(0.04),
        "motion": Noise(0.02),
    },
)
"""Defaults for arms on a fixed base with exact encoders and their own gravity compensation, such as
Franka's, and for objects that a camera sees to 2 mm.

Masses of the arm stay nominal: its controller carries its weight. Objects and their friction vary
in the tasks themselves. A fixed base is not pushed.
"""
