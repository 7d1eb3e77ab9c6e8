"""Random MJCF files compared with MuJoCo: `python -m benchmarks.fuzzing mjcf COUNT`.

Files that MuJoCo refuses are drawn again. At several states the poses of bodies and sites, the mass
matrix, and the bias, passive and actuator forces are compared, and the keyframes once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

import warpdyn as wd
from benchmarks.fuzzing.outcomes import Outcome, without_names
from benchmarks.fuzzing.random_mjcf import RandomText
from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable

ACCURACY = 1e-7
"""Tolerance relative to the largest number of a quantity. MuJoCo diagonalises inertias and normalises
quaternions. Its eigenvectors are accurate to about 1e-9."""

STATES = 2
CONTROL = 5.0
"""Standard deviation of controls, large enough to reach control and force ranges."""


def cases(seed: int) -> Iterator[Outcome]:
    """Yield outcomes of random files, without end."""
    return outcomes_of_texts(RandomText, compare, seed)


def outcomes_of_texts(
    kind: type[RandomText],
    compare: Callable[[str, Path, np.random.Generator], Outcome | None],
    seed: int,
) -> Iterator[Outcome]:
    """Yield the outcomes of `compare` for random files of a kind, without end. Files whose outcome is
    None are drawn again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        number = 0
        while True:
            text = kind(Random(f"{seed}-{number}")).text()
            number += 1
            path.write_text(text)
            outcome = compare(text, path, np.random.default_rng([seed, number]))
            if outcome is not None:
                yield outcome


def compare(text: str, path: Path, rng: np.random.Generator) -> Outcome | None:
    """Outcome of one file, whose content is `text`; None if MuJoCo refuses it."""
    try:
        robot = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            model = wd.load(path, quaternion="wxyz")
    except wd.ModelError as error:
        return Outcome("refused", without_names(str(error)))
    try:
        peer = MuJoCo(model, path, whole=True)
    except NotComparable as error:
        return Outcome("refused", f"peer: {without_names(str(error))}")
    wrong = _difference(model, peer, robot, rng)
    return Outcome("different", wrong, text) if wrong else Outcome("equal")


def _difference(
    model: wd.Model, peer: MuJoCo, robot: mujoco.MjModel, rng: np.random.Generator
) -> str:
    """Name of the first quantity that differs; "" if all agree."""
    data = mujoco.MjData(robot)
    acting = model.with_springs("description").with_friction(viscous="description")
    acting = acting.with_gravity_compensation("description")
    links = [model.link_index(name) for name in peer.links]
    _silence(robot, model)
    for _ in range(STATES):
        q = wd.oracle(wd.normalize, model, model.neutral + rng.normal(size=model.nq))
        v, control = rng.normal(size=model.nv), rng.normal(size=robot.nu) * CONTROL
        data.qpos, T = peer._convert(q)
        data.qvel, data.ctrl = T @ v, control
        mujoco.mj_forward(robot, data)
        still = wd.oracle(wd.rnea, model, q, v, 0.0 * v)
        pairs = {
            "poses": (wd.oracle(wd.fk, model, q)[links], peer.fk(q)[links]),
            "mass matrix": (wd.oracle(wd.crba, model, q), peer.crba(q)),
            "bias force": (still, peer.rnea(q, v, 0.0 * v)),
            "passive force": (
                still - wd.oracle(wd.rnea, acting, q, v, 0.0 * v),
                T.T @ data.qfrc_passive,
            ),
        }
        if model.actuators:
            used = [_number(robot, each.name) for each in model.actuators]
            ours = wd.oracle(wd.actuator_torques, model, q, v, control[used])
            pairs["actuator force"] = ours, T.T @ data.qfrc_actuator
            bound = (
                np.abs(T.T @ data.qfrc_actuator) <= model.effort_limit * (1 + ACCURACY) + ACCURACY
            )
            if not any(joint.mimic for joint in model.joints):
                pairs["effort limit"] = bound.astype(float), np.ones(model.nv)
        for quantity, (mine, theirs) in pairs.items():
            if not np.allclose(
                mine, theirs, rtol=0, atol=ACCURACY * (1 + np.abs(theirs).max(initial=0))
            ):
                return quantity
    return _keyframe_difference(model, peer, robot)


def _keyframe_difference(model: wd.Model, peer: MuJoCo, robot: mujoco.MjModel) -> str:
    """ "keyframe" if a keyframe differs, else ""."""
    for number in range(robot.nkey):
        q = model.configurations[robot.key(number).name]
        qpos = peer._convert(q)[0]
        moved = [(d, start) for d, start, _ in peer.places]
        for d, start in moved:
            there = robot.key_qpos[number][start : start + d.joint.kind.nq]
            if d.joint.mimic is None and not np.allclose(
                qpos[start : start + d.joint.kind.nq], there
            ):
                return "keyframe"
    return ""


def _number(robot: mujoco.MjModel, name: str) -> int:
    """Index of an actuator."""
    return int(mujoco.mj_name2id(robot, mujoco.mjtObj.mjOBJ_ACTUATOR, name))


def _silence(robot: mujoco.MjModel, model: wd.Model) -> None:
    """Set the force of actuators to zero that the model leaves out with a remark."""
    kept = {_number(robot, each.name) for each in model.actuators}
    for number in set(range(robot.nu)) - kept:
        robot.actuator_gainprm[number] = robot.actuator_biasprm[number] = 0.0
        robot.actuator_gaintype[number] = mujoco.mjtGain.mjGAIN_FIXED
        robot.actuator_biastype[number] = mujoco.mjtBias.mjBIAS_NONE
        robot.actuator_forcelimited[number] = False
