"""JaxSim: jit of vmap over its functions, in the body representation, on SDF written here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from lxml import etree

from warpdyn.cli.workload import furthest_link

from ..algorithms import ALGORITHMS
from ..robots import Robot
from . import CannotDo, PreparedRun
from .in_jax import jit_call, jnp

import jaxsim.api as js  # isort: skip  (after the flags of in_jax)
from jaxsim import VelRepr  # isort: skip

NAME, PACKAGES, DTYPE = "JaxSim", ("jaxsim", "jax"), "float32"
BATCH = 1024
"""Robots at once on a CPU: with 4,096 panda's mass matrix takes 1.4 times as long for each."""
LIGHT = 1e-9
"""Mass and inertia [kg, kg·m²] of links that have none, which it would drop with their children."""


def prepare(
    robot: Robot, algorithm: str, states: Mapping[str, np.ndarray], device: str
) -> PreparedRun:
    model, count = robot.model, len(states["q"])
    if device == "cpu":
        count = min(count, BATCH)
    if ALGORITHMS[algorithm].gradient or algorithm.endswith("derivatives"):
        raise CannotDo("differentiable through JAX; not timed here")
    order, m = _build(robot)
    n = 6 if robot.floating else 0
    base_link = m.link_names().index(m.base_link())
    frame = furthest_link(model)
    if frame in m.link_names():
        index = js.link.name_to_idx(m, link_name=frame)
        jacobian_of = functools.partial(js.link.jacobian, link_index=index)
        pose_of = functools.partial(js.link.transform, m, link_index=index)
    elif frame in m.frame_names():
        index = js.frame.name_to_idx(m, frame_name=frame)
        jacobian_of = functools.partial(js.frame.jacobian, frame_index=index)
        pose_of = functools.partial(js.frame.transform, m, frame_index=index)
    else:
        raise CannotDo(f"it has no link or frame {frame}")

    def state(q: Any, v: Any) -> Any:
        base = {}
        if robot.floating:
            base = {"base_position": q[:3], "base_quaternion": jnp.roll(q[3:7], 1)}
            base |= {"base_linear_velocity": v[:3], "base_angular_velocity": v[3:6]}
        return js.data.JaxSimModelData.build(
            m,
            joint_positions=q[(7 if n else 0) :][jnp.array(order)],
            joint_velocities=v[n:][jnp.array(order)],
            velocity_representation=VelRepr.Body,
            **base,
        )

    def rnea(q: Any, v: Any, a: Any) -> Any:
        base = a[:6] if n else jnp.zeros(6)
        wrench, tau = js.model.inverse_dynamics(
            m, state(q, v), joint_accelerations=a[n:][jnp.array(order)], base_acceleration=base
        )
        return jnp.concatenate([wrench, tau])

    def aba(q: Any, v: Any, tau: Any) -> Any:
        on_links = {}
        if n:  # the base's wrench is a force on its link
            on_links = {
                "link_forces": jnp.zeros((m.number_of_links(), 6)).at[base_link].set(tau[:6])
            }
        found = js.model.forward_dynamics_aba(
            m, state(q, v), joint_forces=tau[n:][jnp.array(order)], **on_links
        )
        return jnp.concatenate(found)

    def still(q: Any) -> Any:
        return state(q, jnp.zeros(model.nv))

    chain: dict[str, tuple[Callable[..., Any], tuple[str, ...], str]] = {
        "fk_frame": (
            lambda q: pose_of(still(q)),
            ("q",),
            "JaxSimModelData.build, of the whole tree",
        ),
        "jacobian": (
            lambda q: jacobian_of(m, still(q), output_vel_repr=VelRepr.Mixed),
            ("q",),
            "jacobian",
        ),
        "rnea": (rnea, ("q", "v", "a"), "model.inverse_dynamics"),
        "crba": (
            lambda q: js.model.free_floating_mass_matrix(m, still(q)),
            ("q",),
            "model.free_floating_mass_matrix",
        ),
        "gravity_torques": (
            lambda q: js.model.free_floating_gravity_forces(m, still(q)),
            ("q",),
            "model.free_floating_gravity_forces",
        ),
    }
    if algorithm == "fk":
        raise CannotDo("fixed links are lumped: not all links")
    if algorithm == "aba":
        chain["aba"] = aba, ("q", "v", "tau"), "model.forward_dynamics_aba"
    if algorithm not in chain:
        raise CannotDo("no such function, or not timed here")
    function, names, form = chain[algorithm]
    run = jit_call(function, *(states[name][:count] for name in names), device=device)
    back = [*range(n), *(n + np.argsort(order))]

    def answers() -> list[np.ndarray]:
        found = np.asarray(run()[:16], float)
        if algorithm in ("rnea", "gravity_torques", "aba"):
            found = found[:, 6 - n :][:, back]
        elif algorithm == "crba":
            found = found[:, 6 - n :, 6 - n :][:, back][:, :, back]
        elif algorithm == "jacobian":
            found = found[:, :, 6 - n :][:, :, back]
        return [found]

    form = f"jit of vmap: {form}"
    return PreparedRun(run, count, answers, form, start=run.start, finish=run.finish)


_models: dict[str, Any] = {}


def _build(robot: Robot) -> tuple[list[int], Any]:
    """JaxSim's model, and for each of its joints the column in warpdyn's joint vector."""
    if robot.name not in _models:
        m = js.model.JaxSimModel.build_from_model_description(
            sdf(robot), is_urdf=False, gravity=9.81
        )
        names = [joint.name for joint in robot.model.moving_joints if joint.kind.nq != 7]
        _models[robot.name] = [names.index(name) for name in m.joint_names()], m
    return _models[robot.name]


def sdf(robot: Robot) -> str:
    """The robot as SDF 1.10; a fixed base is welded to the world."""
    model = robot.model
    root = etree.Element("sdf", version="1.10")
    top = etree.SubElement(root, "model", name=model.name)
    into = {joint.child: joint for joint in model.joints}
    called = {
        name: f"{name}_link" if name == "world" else name for name in model.link_names
    }  # it has its own world

    def text(parent: Any, tag: str, value: Any, **attributes: str) -> Any:
        element = etree.SubElement(parent, tag, **attributes)
        element.text = (
            value if isinstance(value, str) else " ".join(repr(float(x)) for x in np.ravel(value))
        )
        return element

    for link in model.links:
        element = etree.SubElement(top, "link", name=called[link.name])
        if link.name in into:
            text(element, "pose", [0] * 6, relative_to=into[link.name].name)
        inertial = etree.SubElement(element, "inertial")
        text(inertial, "pose", [*link.com, 0, 0, 0])
        text(inertial, "mass", [max(link.mass, LIGHT)])
        inertia = etree.SubElement(inertial, "inertia")
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            text(inertia, "i" + "xyz"[i] + "xyz"[j], [link.inertia[i][j] or LIGHT * (i == j)])
    if not robot.floating:
        weld = etree.SubElement(top, "joint", name="weld", type="fixed")
        text(weld, "parent", "world")
        text(weld, "child", called[model.root])
    for joint in model.joints:
        kind = "fixed" if not joint.kind.nv else joint.kind.name
        element = etree.SubElement(top, "joint", name=joint.name, type=kind)
        pose = [*joint.pose.position, *_rpy(np.array(joint.pose.rotation))]
        text(element, "pose", pose, relative_to=called[joint.parent])
        text(element, "parent", called[joint.parent])
        text(element, "child", called[joint.child])
        axis = etree.SubElement(element, "axis")  # of a fixed joint too: it fails without
        text(axis, "xyz", joint.axis)
        limit, dynamics = etree.SubElement(axis, "limit"), etree.SubElement(axis, "dynamics")
        for name, value in (("lower", -100), ("upper", 100), ("effort", 1e4), ("velocity", 1e4)):
            text(limit, name, [value])
        for name in ("damping", "friction", "spring_reference", "spring_stiffness"):
            text(dynamics, name, [0])
    return etree.tostring(root, encoding="unicode")


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])
