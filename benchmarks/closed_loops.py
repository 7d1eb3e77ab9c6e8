"""Steps of robots with closed loops, compared with MuJoCo C: a leg with two rods, and MJCF files.

    taskset -c 1 python -m benchmarks.closed_loops [FILE.xml ...] [--envs 4096] [--rounds 11]

Both simulate the same robot at 2 ms, without contacts and joint limits, from one assembled configuration. warpdyn
computes in float32 on one thread, 10 steps a launch. MuJoCo computes in float64 on one thread, with `solref` 0.004 for
its constraints. They are timed in turn, in CPU time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import mujoco
import numpy as np

import warpdyn as wd
from warpdyn.model.structure import start_of

from .interleave import Turn, take_turns

DT, SUBSTEPS = 0.002, 10
STEPS = 200
"""MuJoCo steps in one run."""

LEG = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
<body name="thigh"><joint name="hip" axis="0 1 0" armature="0.1"/>
 <inertial pos="0 0 -.2" mass="5" diaginertia=".08 .08 .02"/>
 <body name="shin" pos="0 0 -.45"><joint name="knee" axis="0 1 0" armature="0.1"/>
  <inertial pos="0 0 -.2" mass="1" diaginertia=".02 .02 .002"/>
  <body name="tarsus" pos="0 0 -.45"><joint name="ankle" axis="0 1 0"/>
   <inertial pos=".1 0 -.1" mass=".8" diaginertia=".01 .01 .01"/>
   <body name="crank" pos=".05 0 -.05"><joint name="crank" axis="0 1 0" armature="0.02"/>
    <inertial pos="0 0 -.03" mass=".13" diaginertia="2e-4 2e-4 2e-4"/>
    <body name="plantar" pos="0 0 -.05"><joint name="plantar" type="ball"/>
     <inertial pos=".125 0 -.1" mass=".12" diaginertia="1e-3 1e-3 1e-3"/></body></body>
   <body name="foot" pos=".3 0 -.25"><joint name="toe" axis="0 1 0"/>
    <inertial pos="0 0 -.03" mass=".15" diaginertia="2e-4 3e-4 2e-4"/></body></body></body>
 <body name="achilles" pos="-.1 0 0"><joint name="rod" type="ball"/>
  <inertial pos="0 0 -.45" mass=".17" diaginertia=".01 .01 1e-4"/></body></body></worldbody>
<equality><connect body1="achilles" body2="tarsus" anchor="0 0 -.9"/>
 <connect body1="plantar" body2="foot" anchor=".25 0 -.2"/></equality></mujoco>"""
"""A leg like Cassie's: two rods on ball joints close spatial loops."""


def load_both(source: str) -> tuple[wd.Model, mujoco.MjModel]:
    """The robot of a file or an MJCF string in warpdyn and MuJoCo, without contacts, limits and motors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = wd.load(source)
    peer = (
        mujoco.MjModel.from_xml_string(source)
        if source.lstrip().startswith("<")
        else mujoco.MjModel.from_xml_path(source)
    )
    peer.opt.timestep = DT
    peer.eq_solref[:] = (0.004, 1)
    flags = mujoco.mjtDisableBit
    peer.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_ACTUATION
    return model, peer


def measure(source: str, envs: int, rounds: int) -> tuple[int, float, float, float]:
    """Number of loop equations, ns per step of warpdyn and MuJoCo, and the ratio of the two."""
    model, peer = load_both(source)
    start = wd.loops.close(model, start_of(model)[None], largest_error=1e-6)[0]
    sim = wd.Simulation(
        model, envs, points=(), stops="none", dt=DT, substeps=SUBSTEPS, start=start.astype(float)
    )
    data = mujoco.MjData(peer)
    sim.step()
    mujoco.mj_step(peer, data, STEPS)
    ours = Turn(sim.step, envs * SUBSTEPS, clock=time.process_time)
    theirs = Turn(lambda: mujoco.mj_step(peer, data, STEPS), STEPS, clock=time.process_time)
    take_turns([ours, theirs], rounds)
    if not np.isfinite(sim.q).all():
        raise ValueError(f"{model.name} is not finite after {rounds} rounds")
    ratios = np.array(theirs.samples) / STEPS / (np.array(ours.samples) / (envs * SUBSTEPS))
    rows = sum(loop.rows for loop in model.loops)
    return rows, ours.figures["ns"], theirs.figures["ns"], float(np.median(ratios))


def main() -> None:
    """Print a row for each robot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="MJCF files in addition to the leg")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    wd.runtime.set_num_threads(1)
    wd.config.compile = "wait"
    print("| robot | equations | warpdyn [ns] | MuJoCo C [ns] | times |\n|---|---|---|---|---|")
    for source in (LEG, *arguments.files):
        name = "leg with two rods" if source is LEG else Path(source).stem
        rows, ns, other, ratio = measure(source, arguments.envs, arguments.rounds)
        print(f"| {name} | {rows} | {ns:.1f} | {other:,.0f} | {ratio:.0f} |", flush=True)


if __name__ == "__main__":
    main()
