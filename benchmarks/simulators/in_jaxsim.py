"""Scenes on the ground in JaxSim, float64, with soft or rigid contacts."""

from __future__ import annotations

import os

os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp
import jaxsim.api as js
import jaxsim.rbda.contacts as contacts
import numpy as np
from jaxsim import VelRepr
from lxml import etree

from ..peers import CannotDo
from ..peers.jaxsim import sdf
from ..robots import Robot
from . import GRAVITY, Motion, OnGround

NAME, PACKAGES = "JaxSim", ("jaxsim", "jax")
SAYS = (
    "semi-implicit Euler; the ball is 1,000 points on its surface, a foot 50; soft: p = q = 0.5, K such that a "
    "share of the weight sinks in as at k, D = 2 sqrt(K m); rigid: its defaults, mu 0.5; float64"
)


POINTS_OF_A_BALL, POINTS_OF_A_FOOT = 1000, 50
"""On the surface of a sphere."""


def roll_out(scene: OnGround, dt: float, kind: str) -> Motion:
    own = scene.model
    alone = len(scene.points) == 1
    if kind == "rigid" and (alone or scene.gains):
        raise CannotDo("spheres are points on their surfaces: too many for its quadratic program")
    os.environ["JAXSIM_COLLISION_SPHERE_POINTS"] = str(
        POINTS_OF_A_BALL if alone else POINTS_OF_A_FOOT
    )
    touching = 1 if alone else 4
    depth = own.total_mass * GRAVITY / touching / scene.stiffness
    K = own.total_mass * GRAVITY / touching / depth**1.5
    D = 2 * np.sqrt(K * own.total_mass)
    chosen = {
        "soft": (
            contacts.SoftContacts.build,
            lambda: contacts.SoftContactsParams.build(K=K, D=D, mu=scene.friction),
        ),
        "rigid": (
            contacts.RigidContacts.build,
            lambda: contacts.RigidContactsParams.build(mu=scene.friction),
        ),
    }
    contact, params = chosen[kind]
    model = js.model.JaxSimModel.build_from_model_description(
        _with_shapes(scene),
        is_urdf=False,
        time_step=dt,
        gravity=float(-scene.gravity[2]),
        contact_model=contact(),
        contact_params=params(),
    )
    names = list(own.joint_names)
    order = jnp.array([names.index(n) for n in model.joint_names()], int)
    target = jnp.array(scene.start[7:])[order] if names else jnp.zeros(0)
    x, y, z, w = scene.start[3:7]
    data = js.data.JaxSimModelData.build(
        model,
        base_position=jnp.array(scene.start[:3]),
        base_quaternion=jnp.array([w, x, y, z]),
        base_linear_velocity=jnp.array(scene.speed),
        joint_positions=target,
        velocity_representation=VelRepr.Mixed,
    )
    kp, kd = scene.gains or (0.0, 0.0)
    limits = jnp.array(own.effort_limit[6:])[order] if names else jnp.zeros(0)
    lean = np.zeros((model.number_of_links(), 6))
    if (
        scene.slope
    ):  # JaxSim's gravity is along z: a force at the centre of mass of a single body replaces it
        lean[0, 0] = own.total_mass * scene.gravity[0]

    def step(data: js.data.JaxSimModelData, _: None) -> tuple[js.data.JaxSimModelData, tuple]:
        torque = kp * (target - data.joint_positions) - kd * data.joint_velocities
        torque = jnp.clip(torque, -limits, limits)
        with data.switch_velocity_representation(VelRepr.Mixed):
            data = js.model.step(
                model, data, link_forces=jnp.array(lean), joint_force_references=torque
            )
            velocity = data.base_velocity[:3]
        forces, _ = _forces(model, data, jnp.array(lean), torque)
        return data, (data.base_position, velocity, forces[:, :3].sum(0))

    count = round(scene.seconds / dt)
    _, rows = jax.jit(lambda d: jax.lax.scan(step, d, None, length=count))(data)
    return Motion(dt, *(np.asarray(x) for x in rows))


def _forces(model, data, links, torque):
    contact = model.contact_model
    if isinstance(contact, contacts.SoftContacts):
        return contact.compute_contact_forces(model, data)
    return contact.compute_contact_forces(
        model, data, link_forces=links, joint_force_references=torque
    )


def _with_shapes(scene: OnGround) -> str:
    """SDF of the robot with its points as spheres, or one box for the corners of a block."""
    root = etree.fromstring(sdf(Robot(scene.name, scene.urdf, floating=True)).encode())
    spans = np.ptp([p.centre for p in scene.points], axis=0)
    for link in root.iter("link"):
        shapes = [p for p in scene.points if p.link == link.get("name")]
        if len(shapes) == 4:  # corners of a cube's lower face
            side = float(spans[0] + 2 * shapes[0].radius)
            collision = _collision(link, (0, 0, 0), len(shapes))
            box = etree.SubElement(etree.SubElement(collision, "geometry"), "box")
            etree.SubElement(box, "size").text = f"{spans[0]} {spans[1]} {side}"
            continue
        for k, point in enumerate(shapes):
            collision = _collision(link, point.centre, k)
            sphere = etree.SubElement(etree.SubElement(collision, "geometry"), "sphere")
            etree.SubElement(sphere, "radius").text = str(point.radius)
    return etree.tostring(root, encoding="unicode")


def _collision(link, centre, k):
    collision = etree.SubElement(link, "collision", name=f"{link.get('name')}_{k}")
    etree.SubElement(collision, "pose").text = " ".join(map(str, (*centre, 0, 0, 0)))
    return collision
