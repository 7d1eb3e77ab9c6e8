"""Detection of contacts from joint torques: true and false alarms on a thousand simulated pushes.

    python -m benchmarks.contact_detection [--pushes 1000] [--json FILE] [--plot FILE]

Each arm follows its own sine motion under computed torque. Its masses differ from those of the model,
and its measured efforts and velocities are noisy. After one second a random force acts on a random
link, at a random point, for 0.2 s. The momentum observer has the inputs that it has in the ROS node.
All arms are simulated in one batch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.hardware import processor

DT = 1e-3
PUSHED_FROM, PUSHED_FOR, RISE = 1.0, 0.2, 0.01
"""Start, duration and rise time of a push [s]."""
SETTLED = 0.2
"""False alarms are counted from this time to the push [s]."""
FORCES = (5.0, 50.0)
"""Smallest and largest force of a push [N]."""
MASS_ERROR = 0.03
"""Largest relative error of a link's mass."""
EFFORT_NOISE, VELOCITY_NOISE = 0.1, 1e-3
"""Standard deviations of white noise at 1 kHz, for an arm with torque sensors [N·m, rad/s]."""
GAINS = (25.0, 50.0, 150.0)
THRESHOLDS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
SPEED_FACTORS = (0.0, 1.0)
"""Increase of a threshold with joint speed [N·m·s/rad]."""
BINS = ((5.0, 15.0), (15.0, 30.0), (30.0, 50.0))
ROBOT, LINKS = "panda", (*(f"panda_link{k}" for k in range(2, 8)), "panda_hand")
REACH = 0.08
"""Largest distance of a push from its link's centre of mass [m]."""


@dataclass(frozen=True, eq=False)
class Pushes:
    """Observer outputs of all pushes: external torques by gain (steps, B, joints) and joint speeds
    (steps, B, joints), with the force of each push (B,) [N]."""

    external: dict[float, np.ndarray]
    speed: np.ndarray
    force: np.ndarray
    link: np.ndarray
    """(B,), index of the pushed link in `LINKS`."""
    seconds: float


@dataclass(frozen=True)
class Alarms:
    """Alarms of one setting. Rates are shares of the pushes; `by_force` has a rate for each of `BINS`."""

    gain: float
    speed_factor: float
    threshold: float
    true: float
    by_force: tuple[float, ...]
    by_link: tuple[float, ...]
    """A rate for each of `LINKS`."""
    false_per_minute: float
    """Per minute of motion without a push. Each arm counts once."""
    delay_median_ms: float
    delay_p90_ms: float


def simulate(pushes: int = 1000, seed: int = 0) -> Pushes:
    """Simulate all pushes in one batch, in float64."""
    draw = np.random.default_rng(seed)
    model = wd.load_robot(ROBOT)
    joints = model.v_indices([j for j in model.joint_names if "finger" not in j])
    B, nv, steps = pushes, model.nv, int((PUSHED_FROM + PUSHED_FOR) / DT)
    names = [link.name for link in model.links if link.mass > 0.0]
    errors = 1.0 + draw.uniform(-MASS_ERROR, MASS_ERROR, (B, len(names)))
    masses = {name: model.link(name).mass * errors[:, k].copy() for k, name in enumerate(names)}
    real = model.params(mass=masses)

    middle = 0.5 * (model.position_lower + model.position_upper)
    room = 0.5 * (model.position_upper - model.position_lower)
    centre = middle + 0.6 * room * draw.uniform(-1.0, 1.0, (B, nv))
    size = np.minimum(0.4, 0.3 * room) * draw.uniform(0.3, 1.0, (B, nv))
    w, phase = 2 * np.pi * draw.uniform(0.3, 0.8, (B, nv)), draw.uniform(0, 2 * np.pi, (B, nv))

    force = draw.uniform(*FORCES, B)
    way, arm = draw.normal(size=(B, 3)), draw.normal(size=(B, 3))
    way *= (force / np.linalg.norm(way, axis=1))[:, None]
    arm *= (REACH * draw.uniform(size=B) ** (1 / 3) / np.linalg.norm(arm, axis=1))[:, None]
    link = draw.integers(len(LINKS), size=B)
    rows = np.array(model.link_indices(LINKS))[link]
    arm += np.array([model.link(LINKS[k]).com for k in link])
    wrench = np.concatenate([way, np.cross(arm, way)], axis=1)

    q, v = centre + size * np.sin(phase), size * w * np.cos(phase)
    tau, a, f_ext = np.zeros((B, nv)), np.zeros((B, nv)), np.zeros((B, model.nlinks, 6))
    felt, noisy = v.copy(), tau.copy()
    control = wd.bind(wd.rnea, model, q, felt, a, out=tau)
    moved = wd.step(model, q, v, tau, dt=DT, f_ext=f_ext, params=real)
    forward = wd.bind(
        wd.step, model, q, v, tau, dt=DT, f_ext=f_ext, params=real, out=tuple(moved[:5])
    )
    started, observers = np.zeros(B), {}
    for gain in GAINS:
        state = tuple(np.zeros((B, nv)) for _ in range(3))
        run = wd.bind(
            wd.momentum_observer, model, q, felt, noisy, *state, dt=started, gain=gain, out=state
        )
        observers[gain] = run, state[2]
    external = {gain: np.zeros((steps, B, len(joints)), np.float32) for gain in GAINS}
    speed = np.zeros((steps, B, len(joints)), np.float32)
    moved[0][:], moved[1][:] = q, v
    begun = time.perf_counter()
    for k in tqdm(range(steps), desc="pushes", leave=False, mininterval=1.0):
        t = k * DT
        angle = w * t + phase
        q[:], v[:] = moved[0], moved[1]
        felt[:] = v + draw.normal(scale=VELOCITY_NOISE, size=v.shape)
        noisy[:] = tau + draw.normal(scale=EFFORT_NOISE, size=tau.shape)
        for gain, (run, found) in observers.items():
            run()
            external[gain][k] = found[:, joints]
        started[:] = DT
        speed[k] = np.abs(felt[:, joints])
        a[:] = -size * w * w * np.sin(angle)
        a += 100.0 * (centre + size * np.sin(angle) - q) + 20.0 * (size * w * np.cos(angle) - felt)
        control()
        share = np.clip((t - PUSHED_FROM) / RISE, 0.0, 1.0)
        f_ext[np.arange(B), rows] = share * wrench
        forward()
    return Pushes(external, speed, force, link, time.perf_counter() - begun)


def count_alarms(felt: Pushes, gain: float, speed_factor: float, threshold: float) -> Alarms:
    """Alarms of one setting."""
    limit = threshold + speed_factor * felt.speed
    hit = (np.abs(felt.external[gain]) > limit).any(axis=2)
    first, onset = int(SETTLED / DT), int(PUSHED_FROM / DT)
    false = hit[first:onset].any(axis=0)
    # An arm that stopped at a false alarm is not pushed.
    after = hit[onset:] & ~false
    detected = after.any(axis=0)
    delay = (after.argmax(axis=0)[detected] + 1) * DT * 1e3
    among = [~false & (felt.force >= low) & (felt.force < high) for low, high in BINS]
    on = [~false & (felt.link == k) for k in range(len(LINKS))]
    minutes = len(false) * (PUSHED_FROM - SETTLED) / 60.0
    p50, p90 = np.percentile(delay, (50, 90)) if len(delay) else (np.nan, np.nan)
    return Alarms(
        gain,
        speed_factor,
        threshold,
        float(detected.sum() / max((~false).sum(), 1)),
        _shares(detected, among),
        _shares(detected, on),
        float(false.sum() / minutes),
        float(p50),
        float(p90),
    )


def _shares(detected: np.ndarray, groups: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Detected share of each group."""
    return tuple(float(detected[each].mean()) if each.any() else np.nan for each in groups)


def table(found: Sequence[Alarms]) -> str:
    """Table with a row for each setting."""
    head = ["gain [1/s]", "factor", "threshold [N·m]", "true"]
    head += [f"{low:g} to {high:g} N" for low, high in BINS]
    head += ["false a minute", "delay, median [ms]", "p90 [ms]"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for x in found:
        shares = [f"{100 * s:.1f} %" for s in (x.true, *x.by_force)]
        numbers = [f"{x.gain:g}", f"{x.speed_factor:g}", f"{x.threshold:g}", *shares]
        numbers += [
            f"{x.false_per_minute:.2g}",
            f"{x.delay_median_ms:.0f}",
            f"{x.delay_p90_ms:.0f}",
        ]
        lines.append("| " + " | ".join(numbers) + " |")
    return "\n".join(lines)


def draw(found: Sequence[Alarms], file: str) -> None:
    """Plot true alarms, false alarms and delay over the threshold."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for gain in GAINS:
        rows = [x for x in found if x.gain == gain and x.speed_factor == 0.0]
        at = [x.threshold for x in rows]
        left.plot(at, [100 * x.true for x in rows], "o-", label=f"detected, {gain:g}/s")
        right.plot(at, [x.delay_median_ms for x in rows], "o-", label=f"{gain:g}/s")
    rows = [x for x in found if x.gain == 50.0 and x.speed_factor == 0.0]
    other = left.twinx()
    other.plot([x.threshold for x in rows], [x.false_per_minute for x in rows], "k--")
    other.set_ylabel("false alarms a minute, 50/s (dashed)")
    left.set(xlabel="threshold [N·m]", ylabel="detected pushes [%]", ylim=(0, 101))
    right.set(xlabel="threshold [N·m]", ylabel="median delay [ms]", ylim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend(fontsize=8)
    right.legend(fontsize=8, title="observer_gain")
    figure.savefig(file, dpi=130)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the pushes, print the table and write the files that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pushes", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot")
    options = parser.parse_args(arguments)
    felt = simulate(options.pushes)
    found = [
        count_alarms(felt, gain, factor, threshold)
        for gain in GAINS
        for factor in SPEED_FACTORS
        for threshold in THRESHOLDS
    ]
    print(table(found))
    print(f"{options.pushes} pushes, simulated in {felt.seconds:.1f} s")
    if options.json:
        about = {"robot": ROBOT, "pushes": options.pushes, "seconds": felt.seconds}
        about |= {"processor": processor(), "mass_error": MASS_ERROR}
        about |= {"effort_noise": EFFORT_NOISE, "velocity_noise": VELOCITY_NOISE, "links": LINKS}
        options.json.write_text(
            json.dumps({**about, "alarms": [asdict(x) for x in found]}, indent=1) + "\n"
        )
    if options.plot:
        draw(found, options.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
