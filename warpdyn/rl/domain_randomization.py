"""Differences between simulation and a real robot, which are drawn while a policy is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .task import Task
from .variation import DomainRandomization, Noise, Push, Vary
from .varied_simulation import DRIVEN, TOUCHED


def randomized_attributes(
    domain: DomainRandomization, task: Task, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """Attributes of the task for training. terms: those that it observes."""
    left_out = {
        *(TOUCHED if not task.points else ()),
        *((*DRIVEN, "latency") if task.drives is None else ()),
    }
    vary = {name: x for name, x in domain.vary.items() if name not in left_out}
    noise = {name: x for name, x in domain.noise.items() if name in terms}
    push = domain.push if task.model.floating_base else None
    return {
        "vary": {**task.vary, **vary},
        "noise": {**task.noise, **noise},
        "push": push or task.push,
    }


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
    push=Push(1.0, 3.0),
)
"""Defaults for legged robots of 5 to 50 kg.

Noise is that of Isaac Lab's velocity tasks. Latencies are those of a control period and a bus, 0 to
30 ms each for targets and observations. Masses, gains, strength of the motors, friction of joints
and ground and pushes are about those of mjlab's and Isaac Lab's velocity tasks.
"""
