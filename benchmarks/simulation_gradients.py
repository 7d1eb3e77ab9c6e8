"""Gradients through simulation steps: errors against differences, effect of sweeps, and time.

    python -m benchmarks.simulation_gradients [--substeps 1 4 16] [--check] [--sweeps] [--times]

A quadruped stands or slides on four feet. Derivatives are products with random cotangents of all
results in float64: from `wd.vjp`, and from fourth-order differences of `wd.step` along random
directions.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np

import warpdyn as wd

from .interleave import Turn, take_turns
from .simulation import DT, QUADRUPED_STANCE

DIRECTIONS, H = 3, 2e-5
"""Random directions of each input; step of the differences, relative to the input's size."""

STENCIL = {1: 8 / 12, -1: -8 / 12, 2: -1 / 12, -2: 1 / 12}
"""Weights of a difference of fourth order."""

NONE = 1e-9
"""Products below are round-off."""

INPUTS = ("tau", "targets", "q", "v", "kp", "friction", "gravity")
CONVERGED = 64
"""Sweeps after which nothing is left undone."""

Arrays = dict[str, np.ndarray]


class Case:
    """States of a quadruped in which one environment stands or slides."""

    def __init__(self, slides: bool) -> None:
        self.model = wd.load_robot("quadruped").with_armature(0.01)
        self.points = wd.ContactPoints(self.model).only("*_foot")
        start = [0, 0, 0.32, 0, 0, 0, 1, *QUADRUPED_STANCE]
        sim = wd.Simulation(
            self.model,
            1,
            points=self.points,
            control=wd.PD(40.0, 1.0),
            start=start,
            dt=DT,
            substeps=4,
            dtype="float64",
        )
        for _ in range(100):
            sim.step(QUADRUPED_STANCE)
        v = sim.v.copy()
        if slides:  # also sideways: no symmetry, and the feet still slide after the substeps
            v[:, 0] += 2.0
            v[:, 1] += 0.5
        draw = np.random.default_rng(0)
        self.at: Arrays = {
            "tau": 0.1 * draw.normal(size=v.shape),
            "targets": np.array([QUADRUPED_STANCE]) + 0.01 * draw.normal(size=(1, 12)),
            "q": sim.q.copy(),
            "v": v,
            "kp": np.full((1, 12), 40.0),
            "friction": np.full((1, 4), 0.3 if slides else 0.8),
            "gravity": np.array([[0.1, -0.05, -9.81]]),
            "impulses": sim.impulses.copy(),
        }

    def call(self, arrays: Arrays, substeps: int, sweeps: int = 4) -> tuple[list[Any], Any]:
        """Arguments of `wd.step`."""
        return [self.model, *(arrays[n] for n in ("q", "v", "tau"))], {
            "control": wd.PD(arrays["kp"], 1.0),
            "targets": arrays["targets"],
            "points": self.points,
            "impulses": arrays["impulses"],
            "ground": wd.Ground(arrays["friction"]),
            "gravity": arrays["gravity"],
            "dt": DT,
            "substeps": substeps,
            "sweeps": sweeps,
        }

    def products(
        self, cotangents: tuple[np.ndarray, ...], substeps: int, sweeps: int = 4
    ) -> Arrays:
        """Jᵀ w for each input."""
        positional, options = self.call(self.at, substeps, sweeps)
        bars = wd.vjp(wd.step, *positional, cotangents=cotangents, wrt=INPUTS, **options)
        return dict(zip(INPUTS, bars, strict=True))


def cotangents_of(case: Case, substeps: int) -> tuple[np.ndarray, ...]:
    """Random cotangents of q, v and torques, and scaled ones of impulses and forces."""
    positional, options = case.call(case.at, substeps)
    draw = np.random.default_rng(1)
    size = {"forces": 0.01}
    results = wd.step(*positional, **options)
    return tuple(
        draw.normal(size=x.shape) * size.get(name, 1.0)
        for name, x in zip(results._fields, results, strict=True)
    )


def differences(case: Case, w: tuple[np.ndarray, ...], substeps: int) -> dict[str, float]:
    """Largest error of each input's products, relative to its largest product."""
    draw = np.random.default_rng(2)
    bars = case.products(w, substeps)
    directions = {name: draw.normal(size=(DIRECTIONS, *case.at[name].shape[1:])) for name in INPUTS}
    moved = [
        (name, u, s * H * max(1.0, float(np.abs(case.at[name]).max())))
        for name in INPUTS
        for u in directions[name]
        for s in STENCIL
    ]
    rows = {name: np.repeat(x, len(moved), axis=0) for name, x in case.at.items()}
    for k, (name, u, h) in enumerate(moved):
        rows[name][k] += h * u
    positional, options = case.call(rows, substeps)
    results = wd.step(*positional, **options)
    sums = sum(np.sum(x * c, axis=tuple(range(1, x.ndim))) for x, c in zip(results, w, strict=True))
    errors, k = {}, 0
    for name in INPUTS:
        h = moved[k][2]
        found, wanted = [], []
        for u in directions[name]:
            wanted.append(np.dot(list(STENCIL.values()), sums[k : k + len(STENCIL)]) / h)
            found.append(float(np.sum(bars[name][0] * u)))
            k += len(STENCIL)
        off, size = (float(np.abs(x).max()) for x in (np.subtract(found, wanted), wanted))
        errors[name] = off / size if size > NONE else off  # friction of sticking contacts
    return errors


def check(substeps: list[int]) -> None:
    """Print a table of errors against differences."""
    print("| | substeps | " + " | ".join(INPUTS) + " |\n" + "|---" * (2 + len(INPUTS)) + "|")
    for slides in (False, True):
        case = Case(slides)
        for n in substeps:
            errors = differences(case, cotangents_of(case, n), n)
            row = " | ".join(f"{x:.0e}" for x in errors.values())
            print(f"| {'slides' if slides else 'stands'} | {n} | {row} |", flush=True)


def by_sweeps(n: int) -> None:
    """Print the difference between derivatives of few sweeps and of a converged step."""
    print("| | sweeps | " + " | ".join(INPUTS) + " |\n" + "|---" * (2 + len(INPUTS)) + "|")
    for slides in (False, True):
        case = Case(slides)
        w = cotangents_of(case, n)
        exact = case.products(w, n, CONVERGED)
        for sweeps in (2, 4, 8):
            found = case.products(w, n, sweeps)
            row = " | ".join(
                f"{np.abs(found[x] - exact[x]).max() / max(np.abs(exact[x]).max(), NONE):.0e}"
                for x in INPUTS
            )
            print(f"| {'slides' if slides else 'stands'} | {sweeps} | {row} |", flush=True)


def times(substeps: list[int], envs: int, rounds: int) -> None:
    """Print the time of a gradient by state, torques and targets, and that of the roll-out."""
    wd.runtime.set_num_threads(1)
    print("| substeps | ns a substep | gradient, times the roll-out | compiled in CPU s |")
    print("|---|---|---|---|")
    for n in substeps:
        case = Case(slides=False)
        at = {name: np.repeat(x, envs, 0).astype(np.float32) for name, x in case.at.items()}
        positional, options = case.call(at, n)
        options |= {"control": wd.PD(40.0, 1.0), "ground": wd.Ground(), "gravity": None}
        w = tuple(np.repeat(x, envs, 0).astype(np.float32) for x in cotangents_of(case, n))
        wrt = ("q", "v", "tau", "targets")
        forward = wd.bind(wd.step, *positional, **options)
        before = os.times().user
        backward = wd.bind(wd.vjp, wd.step, *positional, cotangents=w, wrt=wrt, **options)
        backward()
        compiled = os.times().user - before
        turns = [Turn(run, envs) for run in (forward, backward)]
        take_turns(turns, rounds)
        ahead, back = (turn.figures["ns"] for turn in turns)
        print(f"| {n} | {ahead / n:.0f} | {back / ahead:.2f} | {compiled:.0f} |", flush=True)


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--substeps", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--check", action="store_true", help="against differences")
    parser.add_argument("--sweeps", action="store_true", help="few sweeps against many")
    parser.add_argument("--times", action="store_true", help="beside the roll-out's")
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    start = time.perf_counter()
    if arguments.check:
        check(arguments.substeps)
    if arguments.sweeps:
        by_sweeps(max(arguments.substeps))
    if arguments.times:
        times(arguments.substeps, arguments.envs, arguments.rounds)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
