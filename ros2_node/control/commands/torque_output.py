"""Commands from computed torques: scale, ramp, limits, and the stop sequence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from warpdyn.model import Model

from ..blend_spacing import BlendSpacing
from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.low_pass import LowPass
from .bumpless_transfer import BumplessTransfer, Fade, Transfer

STOP_TIME = 0.2
"""Longest ramp of a stop sequence [s]. The node must exit within one second of SIGINT."""
LAST_COMMANDS = 5
"""Number of equal commands at the end of a stop sequence. An effort controller applies the last one
until it receives another."""
RISE_TIME, POLICY_RISE_TIME = 0.02, 0.005
"""Rise times where `max_torque_rate` is -1: a command changes by the joint's effort limit in this
time [s], 0.02 or, under a policy, whose targets step, 0.005. Commands of tracking and impedance
laws use a hundredth of this rate, and up to all of it with velocity noise of 10 mrad/s at 1 kHz.
Those of a walking policy use half of it at 250 Hz. One wrong message at 1 kHz changes a command by
at most a twentieth of the limit (a fifth under a policy)."""
SATURATED = 0.2
"""Commands that stay at an effort limit for longer than this cause a warning [s]."""
STOP_PERIOD = 0.01
"""Time between two commands of a stop sequence [s]."""


class TorqueOutput:
    """The commands of one robot, in the order of its command joints.

    A stop sequence scales the last command down, whatever the state is, and ends with a few equal
    commands: zeros, or the last command if `stale_action` is "hold". Neither the rate limit nor the
    state can delay it.
    """

    def __init__(self, model: Model, joints: Sequence[str], settings: Settings) -> None:
        self.joints = tuple(joints)
        columns = model.v_indices(joints)
        self._columns = (
            slice(None) if columns == list(range(model.nv)) else np.array(columns, dtype=int)
        )
        described = model.effort_limit[columns]
        self._described = np.where(described > 0.0, described, np.inf)  # inf for NaN as well
        self.command = np.zeros(len(self.joints))
        self.clamped = 0
        self._clamped_since: float | None = None
        self.rate_limited = 0
        cutoff = settings.torque_filter
        self._filter = LowPass(cutoff, model.nv) if cutoff else None
        self._smoothed = -np.inf
        self._ramp_time = settings.ramp_time
        self._blend = BumplessTransfer()
        self._excess = Fade(np.zeros(len(self.joints)), 0.0, 0.0)
        self.change(settings)
        self._share = 1.0
        """Share of the torques in the commands, which rises from 0 to 1 in `ramp_time` after
        ~/enable."""
        self._computed, self._begins = 0.0, True
        """The time of the last command, and True if the next one is the first after ~/enable."""
        self._changes = BlendSpacing()
        self._stop_from: float | None = None
        self._stop_command = np.zeros(len(self.joints))
        self._stop_action, self._stop_ramp = settings.stale_action, 0.0
        self._last_left = 0

    def change(self, settings: Settings) -> None:
        """Use new parameters from the next command on, which starts at the last one; ValueError if
        a list does not fit the joints."""
        n = len(self.joints)
        scale = per_joint("torque_scale", settings.torque_scale, n)
        rate = per_joint("max_torque_rate", settings.max_torque_rate, n)
        self._rate_is_derived = rate < 0.0
        limit, self.limit = self.limits_for(settings)
        self._scale = scale
        rise_time = POLICY_RISE_TIME if settings.policy else RISE_TIME
        rate = np.where(rate < 0.0, limit / rise_time, rate)
        has_rate = (rate > 0.0) & np.isfinite(rate)
        self._rate = np.where(has_rate, rate, 0.0)
        self._unbounded = np.where(has_rate, 0.0, np.inf)
        """Addend to the largest step of each joint: infinity where it has no rate."""
        self._rate_is_limited = bool(has_rate.any())
        self._per_rate = np.where(has_rate, 1.0 / np.where(has_rate, rate, 1.0), 0.0)
        is_limited = np.isfinite(limit)
        self.effort_limit = limit
        """Effort limits without effort_limit_scale; inf where there is none."""
        with np.errstate(divide="ignore"):  # where nothing may leave, no ratio is small enough
            self._per_limit = 1.0 / self.limit
        self.unlimited = tuple(
            joint for joint, has in zip(self.joints, is_limited, strict=True) if not has
        )
        # A shorter ramp must not cause a step, neither of an earlier change nor of the ramp itself.
        longest, self._ramp_time = max(self._ramp_time, settings.ramp_time), settings.ramp_time
        self._blend.begin(longest)
        self._stale_action = settings.stale_action

    def limits_for(self, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
        """Effort limits (n,) without effort_limit_scale, inf for joints without a limit, and the
        finite limits of commands; ValueError if a list does not fit the joints."""
        limit = per_joint("effort_limits", settings.effort_limits, len(self.joints))
        limit = np.minimum(self._described, np.where(limit > 0.0, limit, np.inf))
        is_limited = np.isfinite(limit)
        most = np.where(is_limited, limit, np.finfo(float).max)
        most[is_limited] *= settings.effort_limit_scale
        return limit, most

    def start(self, now: float) -> None:
        """Start the ramp from zero, or from the last command of the stop sequence."""
        self._share = 0.0
        self._computed, self._begins = now, True
        if self._filter is not None:
            self._filter.forget()
        self._clamped_since = None
        self._stop_from = None
        self._last_left = 0
        self._blend.clear()
        self._keep_bound(now, self._ramp_time)
        if self.command.any():
            self._blend.add(self.command.copy(), now, self._ramp_time)

    def continue_from(self, other: TorqueOutput) -> None:
        """Continue from the last command of another output of the same joints, which the controller still holds."""
        if other.joints == self.joints:
            self.command[:] = other.command

    def blend(self, longest: float = math.inf) -> None:
        """Blend from the last command to the next ones within the ramp time, and within `longest`
        at most [s], for example when the payload changes."""
        self._blend.begin(min(self._ramp_time, longest))

    def blend_again(self, longest: float) -> None:
        """Blend in the same way, in place of a transfer that is still running."""
        self._blend.clear()
        self.blend(longest)

    def may_begin_at_last(self) -> bool:
        """True if a change of parameters may begin at the last command (`BlendSpacing`)."""
        return self._changes.may_blend(self._computed)

    @property
    def pending(self) -> Transfer | None:
        """The transfer that the next command starts."""
        return self._blend.pending

    def transfer(self, pending: Transfer | None, unfiltered: np.ndarray | None = None) -> None:
        """Let the next command start this transfer in place of the pending one.

        unfiltered: the step of the torques (nv,) before `torque_filter`, which does not filter it.
        """
        self._blend.replace(pending)
        if unfiltered is not None and self._filter is not None:
            self._filter.shift(unfiltered)

    def target(self, torque: np.ndarray) -> np.ndarray:
        """The command for torques (nv,) after scale, ramp and limits, without transfers and rate."""
        return np.clip(self._ramp(torque, self._computed), -self.limit, self.limit)

    def settle(self, torque: np.ndarray, now: float) -> None:
        """Let a stop sequence with the action "hold" start at these torques (nv,) instead of the
        last ones."""
        wanted = self._ramp(torque, now)
        if finite(wanted):
            self.command[:] = np.clip(wanted, -self.limit, self.limit)

    def smooth(self, torque: np.ndarray, now: float) -> np.ndarray:
        """Torques (nv,) after the low pass `torque_filter`; the same array if there is no filter."""
        if self._filter is None:
            return torque
        passed, self._smoothed = now - self._smoothed, now
        return self._filter.follow(torque, passed)

    def compute(self, torque: np.ndarray, now: float) -> np.ndarray | None:
        """The command for computed torques (nv,), in an array that is reused; None if a number is not finite."""
        wanted = self._ramp(torque, now)
        # For nearly every command, one product shows that all of it is finite and within the limits.
        ratio = wanted * self._per_limit
        is_clamped = False
        if not ratio @ ratio <= 1.0:
            if not np.isfinite(wanted).all():
                return None
            is_clamped = not (np.abs(wanted) <= self.limit).all()
            if is_clamped:
                np.clip(wanted, -self.limit, self.limit, out=wanted)
                self.clamped += 1
        if not is_clamped:
            self._clamped_since = None
        elif self._clamped_since is None:
            self._clamped_since = now
        bound = self.limit
        if self._blend.active:
            if self._blend.pending is not None:
                self._keep_bound(now, self._blend.pending.duration)
            bound = self.limit + self._excess.at(now)
            wanted = np.clip(self._blend.apply(wanted, self.command, now), -bound, bound)
        if self._rate_is_limited:
            passed = min(now - self._computed, 0.1)
            # For nearly every command, one product shows that it is slow enough.
            needed = (wanted - self.command) * self._per_rate
            if not needed @ needed <= passed * passed:
                wanted = self._limit_rate(wanted, passed, bound)
        self._computed, self._begins = now, False
        self.command[:] = wanted
        return self.command

    def _limit_rate(self, wanted: np.ndarray, passed: float, bound: np.ndarray) -> np.ndarray:
        """The wanted command, with a change from the last one that `max_torque_rate` allows."""
        step = self._rate * passed + self._unbounded
        if self._begins:  # a ramp of no time is a step, unless a rate was set
            step[self._rate_is_derived] = np.inf
        if (np.abs(wanted - self.command) <= step).all():
            return wanted
        self.rate_limited += 1
        limited = np.clip(wanted, self.command - step, self.command + step)
        return np.clip(limited, -bound, bound)

    def saturated_joints(self, now: float) -> str:
        """The joints that have been at their effort limits for longer than SATURATED; empty if none."""
        if self._clamped_since is None or now - self._clamped_since <= SATURATED:
            return ""
        at_limit = np.abs(self.command) >= self.limit
        return ", ".join(j for j, at in zip(self.joints, at_limit, strict=True) if at)

    def scale_and_limit(self, torque: np.ndarray) -> None:
        """Scale and limit torques (B, nv) of many robots in place, without ramp or rate limit."""
        scaled = torque[:, self._columns] * self._scale
        torque[:, self._columns] = np.clip(scaled, -self.limit, self.limit)

    def _ramp(self, torque: np.ndarray, now: float) -> np.ndarray:
        """Torques of the command joints, scaled and, after ~/enable, ramped."""
        wanted: np.ndarray = torque[self._columns] * self._scale
        if self._share < 1.0:
            # The share never falls: a longer `ramp_time` makes the rest of the ramp slower.
            passed = max(now - self._computed, 0.0)
            rises = passed < (1.0 - self._share) * self._ramp_time
            self._share = self._share + passed / self._ramp_time if rises else 1.0
            wanted *= self._share
        return wanted

    def _keep_bound(self, now: float, duration: float) -> None:
        """Let a command beyond the limits, for example after a change of the limits, return to them
        gradually instead of at once."""
        self._excess = Fade(np.maximum(np.abs(self.command) - self.limit, 0.0), now, duration)

    # The stop sequence.

    def stop(self, now: float) -> None:
        """Start the stop sequence, unless one is running. Parameters that change later do not affect it."""
        if self.stopping:
            return
        self._stop_from = now
        self._stop_action = self._stale_action
        is_ramp = self._stop_action == "ramp_down"
        self._stop_ramp = min(self._ramp_time, STOP_TIME) if is_ramp else 0.0
        self._stop_command[:] = self.command
        self._last_left = LAST_COMMANDS

    @property
    def stopping(self) -> bool:
        return self._last_left > 0

    def stop_step(self, now: float) -> np.ndarray | None:
        """The next command of the stop sequence, None at its end; call it every STOP_PERIOD."""
        if self._last_left == 0 or self._stop_from is None:
            return None
        passed = now - self._stop_from
        if passed < self._stop_ramp:
            self.command[:] = self._stop_command * (1.0 - passed / self._stop_ramp)
            return self.command
        self.command[:] = self._stop_command if self._stop_action == "hold" else 0.0
        self._last_left -= 1
        return self.command


def finite(x: np.ndarray) -> bool:
    """True if all numbers are finite. The sum of squares, which is quick, nearly always decides."""
    return math.isfinite(x @ x) or bool(np.isfinite(x).all())


def command_joints(settings: Settings, read: Sequence[str]) -> Sequence[str]:
    """The joints of ~/commands; ValueError if the node does not read one of them."""
    for name in settings.command_joints:
        if name not in read:
            raise ValueError(
                f"command_joints names {name!r}, which is not among the joints read: {', '.join(read)}"
            )
    return settings.command_joints or read
