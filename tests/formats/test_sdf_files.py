"""Real SDF files and Drake's values, where they lie beside the checkout; collected only there (conftest.py)."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from states import error

import warpdyn as wd
from warpdyn.algebra.quaternions import quaternion_rotation
from warpdyn.algebra.spatial import HERE, ZERO_MOTION, Placement
from warpdyn.formats.load import load as load_any
from warpdyn.formats.sdf import load_sdf
from warpdyn.model import Model
from warpdyn.model.description import ModelError, ModelWarning
from warpdyn.model.lumping import build_tree

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "sdf"
FILES = sorted(FOLDER.glob("*.sdf"))
VALUES = sorted(FOLDER.glob("reference/*.npz"))

DIGITS = 1e-12
"""Relative to the largest entry; poses go through products of matrices here, of quaternions in Drake."""

REFUSED = {
    "cassie_v4": 'link "cassie::right-hip-roll": <pose> is "-0.01793 -junk0.0001 -0.04428 0 0 0"; it needs 6',
    "crooked_double_pendulum": 'joint "double_pendulum_with_base::lower_joint": it has no <axis>',
    "inertial_stats_auto": '<inertial auto="true"> asks for an inertia computed from shapes',
    "joint_axis_xyz_normalization": 'joint "joint4": axis is (0, 0, 0)',
    "joint_complete": "it has no <gearbox_reference_body>",
    "joint_nested_parent_child": 'J2": it closes a loop between "M1::L1" and "L1"',
    "joint_screw_thread_pitch": 'both_params": it closes a loop',
    "placement_frame": "nothing outside the file is read",
    "pr2": 'torso_lift_screw_torso_lift_joint": it closes a loop',
    "world_joint_child_frame": 'J2": it closes a loop',
}
"""Files that are no robot of this library as they stand, and what is said of each."""


def load(path: Path, text: str | None = None, **options: object) -> Model:
    """All that a file holds as one robot."""
    text = path.read_text() if text is None else text
    if "<world" in text:
        options["model"] = "world"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_sdf(text, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_loads_or_is_refused_for_its_reason(path: Path) -> None:
    """Every file is a robot, or the error says what is wrong with it."""
    if path.stem not in REFUSED:
        assert load(path).nlinks
        return
    with pytest.raises(ModelError) as caught:
        load(path)
    assert REFUSED[path.stem] in str(caught.value)


@pytest.mark.parametrize(
    "stem", ["pr2", "joint_nested_parent_child", "joint_screw_thread_pitch", "cassie_v4"]
)
def test_loops_can_be_cut(stem: str) -> None:
    """What is refused for its loops alone loads with loops="cut", with a remark for each."""
    path = FOLDER / f"{stem}.sdf"
    model = load(path, path.read_text().replace("-junk", "-"), loops="cut")
    assert any("closes a loop" in line and "left open" in line for line in model.warnings)


def test_cassies_gearboxes_are_mimic_joints() -> None:
    """With its broken number mended Cassie has ten motors that joints follow through gears."""
    path = FOLDER / "cassie_v4.sdf"
    model = load(path, path.read_text().replace("-junk", "-"), loops="cut")
    geared = [joint for joint in model.joints if joint.mimic]
    assert len(geared) == 10 and all(
        joint.mimic.joint.endswith("-ip") for joint in geared if joint.mimic
    )


@pytest.mark.parametrize("stem", ["cassie_v4", "joint_mimic_rack_pinion"])
def test_the_urdf_files_load(stem: str) -> None:
    """By their content."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert load_any(FOLDER / f"{stem}.urdf").nv


# Drake's values.


class Reference:
    """One file: Drake's values in this model's names and coordinates."""

    def __init__(self, path: Path) -> None:
        self.path = FOLDER / f"{path.stem}.sdf"
        text = self.path.read_text()
        self.text = re.sub(
            r"<mimic.*?</mimic>", "", text, flags=re.S
        )  # Drake leaves them out of continuous time
        self.model = load(self.path, self.text)
        self.data = np.load(path)
        self.joints = json.loads(str(self.data["joints_json"]))
        whole = "<world" in text
        self.links = [
            name if whole else name.partition("::")[2] for name in self.data["body_names"].tolist()
        ]
        self.moving = self._moving()

    def _moving(self) -> list[tuple[dict, str]]:
        """Drake's moving joints, each with the name of ours; equal names come in the order of the file."""
        pairs, used = [], set()
        for joint in self.joints:
            if not joint["nv"]:
                continue
            if joint["type"] == "quaternion_floating":
                fits = [j.name for j in self.model.moving_joints if j.kind.nv == 6]
                fits = [
                    name for name in fits if name == "floating_base" or name.endswith(joint["name"])
                ]
            else:
                names = [j.name for j in self.model.moving_joints]
                fits = [
                    name
                    for name in names
                    if name == joint["name"] or name.endswith(f"::{joint['name']}")
                ]
            name = next(name for name in fits if name not in used)
            used.add(name)
            pairs.append((joint, name))
        return pairs

    def state(self, e: int) -> tuple[np.ndarray, ...]:
        """q, v, a of this library, and T and c with Drake's v = T v, vdot = T a + c."""
        data, model = self.data, self.model
        q, v, vdot = data["q"][e], data["v"][e], data["vdot"][e]
        ours, T, c = model.neutral.copy(), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        for joint, name in self.moving:
            coordinates = model.coordinates[name]
            rows, columns = slice(joint["v0"], joint["v0"] + joint["nv"]), coordinates.v
            own = q[joint["q0"] : joint["q0"] + joint["nq"]]
            if joint["type"] == "quaternion_floating":
                ours[coordinates.q] = [*own[4:], *own[1:4], own[0]]
                R = matrix(own[[1, 2, 3, 0]])
                T[rows, columns] = np.block([[np.zeros((3, 3)), R], [R, np.zeros((3, 3))]])
                w, u = v[rows][:3], v[rows][3:]
                c[rows] = [0, 0, 0, *np.cross(w, u)]
            elif joint["type"] == "ball_rpy":
                quaternion = rpy_quaternion(*own)
                ours[coordinates.q], T[rows, columns] = quaternion, matrix(quaternion)
            else:
                ours[coordinates.q], T[rows, columns] = own, np.eye(joint["nv"])
        return ours, np.linalg.solve(T, v), np.linalg.solve(T, vdot - c), T, c


def matrix(quaternion: np.ndarray) -> np.ndarray:
    return np.array([[*row] for row in quaternion_rotation(quaternion.tolist()).matrix.rows])


def rpy_quaternion(r: float, p: float, y: float) -> np.ndarray:
    (a, b), (c, d), (e, f) = ((np.cos(x / 2), np.sin(x / 2)) for x in (r, p, y))
    return np.array(
        [b * c * e - a * d * f, a * d * e + b * c * f, a * c * f - b * d * e, a * c * e + b * d * f]
    )


def motions(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Velocity, then classical acceleration of each link's origin in world axes, angular first."""
    X: dict[int, Placement] = {-1: HERE}
    V, A = {-1: ZERO_MOTION}, {-1: ZERO_MOTION}
    tree = build_tree(model)
    for i, body in enumerate(tree.bodies):
        step = body.placement(q.tolist())
        X[i] = X[body.parent].compose(step).as_matrix()
        own = body.motion(v.tolist())
        V[i] = step.motion_to_child(V[body.parent]) + own
        A[i] = step.motion_to_child(A[body.parent]) + body.motion(a.tolist()) + V[i].cross(own)
    found = {}
    for name, frame in tree.frames.items():
        at = frame.placement
        twist, rate = at.motion_to_child(V[frame.body]), at.motion_to_child(A[frame.body])
        R = X[frame.body].compose(at).R
        linear = rate.linear + twist.angular.cross(twist.linear)
        parts = (twist.angular, twist.linear, rate.angular, linear)
        found[name] = np.array([x for part in parts for x in R.to_parent(part)])
    return found


INDEX = json.loads((FOLDER / "reference" / "index.json").read_text()) if VALUES else {}
USED = [path for path in VALUES if path.stem not in REFUSED]


@pytest.fixture(params=[pytest.param(p, id=p.stem) for p in USED], scope="module")
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(request.param)


@pytest.fixture(
    params=[pytest.param(p, id=p.stem) for p in USED if INDEX[p.stem]["dynamics"]], scope="module"
)
def dynamic(request: pytest.FixtureRequest) -> Reference:
    return Reference(request.param)


def test_links(reference: Reference) -> None:
    """Mass, centre of mass and inertia about it."""
    links = [reference.model.link(name) for name in reference.links]
    assert error(np.array([link.mass for link in links]), reference.data["mass"]) <= DIGITS
    assert error(np.array([link.com for link in links]), reference.data["com"]) <= DIGITS
    assert (
        error(np.array([link.inertia for link in links]), reference.data["inertia_com"]) <= DIGITS
    )


def test_poses_of_the_file(reference: Reference) -> None:
    """Held where the file puts it, every link stands where Drake puts it, and so do the axes."""
    model = load(reference.path, reference.text, floating_base=False)
    q = model.neutral
    poses = dict(zip(model.link_names, wd.oracle(wd.fk, model, q), strict=True))
    wanted = dict(zip(reference.links, reference.data["default_pose"], strict=True))
    assert all(error(poses[name], pose) <= DIGITS for name, pose in wanted.items())
    for joint, name in reference.moving:
        if "axis_in_joint_frame" in joint:
            own = model.joint(name)
            found = poses[own.parent][:3, :3] @ np.array(own.pose.rotation) @ own.axis
            names = [link for link in reference.links if link.split("::")[-1] == joint["parent"]]
            R = wanted[names[0]][:3, :3] if names else np.eye(3)
            turn = R @ np.array(joint["X_PF"])[:3, :3]
            assert error(found, turn @ joint["axis_in_joint_frame"]) <= DIGITS


def test_motion(dynamic: Reference) -> None:
    """Poses, velocities and accelerations of every link."""
    data, model = dynamic.data, dynamic.model
    for e in range(len(data["q"])):
        q, v, a, _, _ = dynamic.state(e)
        poses = dict(zip(model.link_names, wd.oracle(wd.fk, model, q), strict=True))
        found = motions(model, q, v, a)
        assert error(np.array([poses[name] for name in dynamic.links]), data["pose"][e]) <= DIGITS
        assert (
            error(np.array([found[name][:6] for name in dynamic.links]), data["vel"][e]) <= DIGITS
        )
        assert (
            error(np.array([found[name][6:] for name in dynamic.links]), data["acc"][e]) <= DIGITS
        )


def test_dynamics(dynamic: Reference) -> None:
    """Joint forces, gravity, bias and the inertia matrix: tau = T' tau_drake, M = T' M_drake T."""
    data, model = dynamic.data, dynamic.model
    states = [dynamic.state(e) for e in range(len(data["q"]))]
    q, v, a, T, c = (np.array(column) for column in zip(*states, strict=True))
    back = np.linalg.solve(T, -c[..., None])[..., 0]

    def own(key: str) -> np.ndarray:
        return np.einsum("eij,ei->ej", T, data[key])

    gravity = data["gravity_vector"]
    tau = own("tau_id")
    assert error(wd.oracle(wd.rnea, model, q, v, a, gravity=gravity), tau) <= DIGITS
    assert (
        error(wd.oracle(wd.rnea, model, q, 0 * v, 0 * a, gravity=gravity), own("gravity_tau"), tau)
        <= DIGITS
    )
    assert error(wd.oracle(wd.rnea, model, q, v, back, gravity=gravity), own("bias"), tau) <= DIGITS
    assert (
        error(wd.oracle(wd.crba, model, q), np.einsum("eki,ekl,elj->eij", T, data["M"], T))
        <= DIGITS
    )


def test_forward_dynamics_returns(dynamic: Reference) -> None:
    """aba gives Drake's accelerations back; bodies without mass of their own are not among these files."""
    q, v, a, T, _ = dynamic.state(0)
    tau = T.T @ dynamic.data["tau_id"][0]
    found = wd.oracle(wd.aba, dynamic.model, q, v, tau, gravity=dynamic.data["gravity_vector"])
    assert error(found, a) <= 1e-8  # times the condition of M


def test_a_model_of_a_world_is_the_same_robot() -> None:
    """One model of a world moves as it does within the world."""
    path = FOLDER / "velocity_control.sdf"
    world, alone = load(path), load_sdf(path, model="vehicle_green")
    assert alone.nv == 11 and world.nv == 22 and alone.floating_base
    links = [replace(link, name=f"vehicle_green::{link.name}") for link in alone.links]
    assert all(link == world.link(link.name) for link in links if link.mass)
