"""Scenes on the ground in Drake: a discrete MultibodyPlant, point contacts with a half-space."""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import (
    AddMultibodyPlant,
    CoulombFriction,
    MultibodyPlantConfig,
)
from pydrake.multibody.tree import PdControllerGains
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from warpdyn.peers.peer import bare

from ..peers import CannotDo
from . import DISSIPATION, Motion, OnGround, collect

NAME, PACKAGES = "Drake", ("drake",)
SAYS = (
    "discrete plant; point contacts with a half-space, stiffness k of a point; relaxation time 0.01 s "
    "in `sap`, Hunt-Crossley dissipation 50 s/m in `tamsi`, which Drake gives up in 2026 and which "
    "takes drives explicitly, and in `lagged`, its default; stiction tolerance 1e-4 m/s; float64"
)
HUNT_CROSSLEY = 50.0
"""Dissipation [s/m]: what bounces leaves below 1 / 50 m/s."""


def roll_out(scene: OnGround, dt: float, approximation: str) -> Motion:
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlant(
        MultibodyPlantConfig(
            time_step=dt, contact_model="point", discrete_contact_approximation=approximation
        ),
        builder,
    )
    robot = _robot(plant, scene)
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    base = plant.get_body(plant.GetBodyIndices(robot)[0])
    x, y, z, w = scene.start[3:7]
    q = [w, x, y, z, *scene.start[:3], *([0.0] * plant.num_actuated_dofs())]
    plant.SetPositions(context, q)
    if scene.gains:
        names = scene.model.joint_names
        for name, angle in zip(names, scene.start[7:], strict=True):
            plant.GetJointByName(name).set_angle(context, angle)
        order = [names.index(a.joint().name()) for a in _actuators(plant)]
        targets = np.array(scene.start[7:])[order]
        plant.get_desired_state_input_port(robot).FixValue(context, [*targets, *(0 * targets)])
    plant.SetVelocities(context, [0, 0, 0, *scene.speed, *([0.0] * (plant.num_velocities() - 6))])
    rows = []
    simulator.Initialize()
    port = plant.get_contact_results_output_port()
    for k in range(round(scene.seconds / dt)):
        try:
            simulator.AdvanceTo((k + 1) * dt)
        except RuntimeError as error:
            raise CannotDo(
                f"after {k * dt:g} s: {str(error).split(' at simulation')[0]}"
            ) from error
        pose = plant.EvalBodyPoseInWorld(context, base).translation()
        velocity = plant.EvalBodySpatialVelocityInWorld(context, base).translational()
        rows.append((pose, velocity, _contact_force(port.Eval(context))))
    return collect(dt, rows)


def _robot(plant: Any, scene: OnGround) -> Any:
    """The robot in the plant, with points, drives and ground."""
    urdf = bare(scene.urdf)
    (robot,) = Parser(plant).AddModelsFromString(etree.tostring(urdf, encoding="unicode"), "urdf")
    friction = CoulombFriction(scene.friction, scene.friction)
    for point in scene.points:
        plant.RegisterCollisionGeometry(
            plant.GetBodyByName(point.link),
            RigidTransform(list(point.centre)),
            Sphere(point.radius),
            f"{point.link} {point.centre}",
            _material(scene, friction),
        )
    plant.RegisterCollisionGeometry(
        plant.world_body(), RigidTransform(), HalfSpace(), "ground", _material(scene, friction)
    )
    plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
    if scene.gains:
        model, (kp, kd) = scene.model, scene.gains
        for name, effort in zip(model.joint_names, model.effort_limit[6:], strict=True):
            actuator = plant.AddJointActuator(name, plant.GetJointByName(name), effort)
            actuator.set_controller_gains(PdControllerGains(p=kp, d=kd))
            actuator.set_default_rotor_inertia(scene.armature)
            actuator.set_default_gear_ratio(1.0)
    return robot


def _material(scene: OnGround, friction: Any) -> ProximityProperties:
    """Twice the stiffness and half the relaxation time for each of two bodies in contact."""
    material = ProximityProperties()
    AddContactMaterial(
        properties=material,
        dissipation=HUNT_CROSSLEY,
        point_stiffness=2 * scene.stiffness,
        friction=friction,
    )
    material.AddProperty("material", "relaxation_time", DISSIPATION / 2)
    return material


def _actuators(plant: Any) -> list[Any]:
    return [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices()]


def _contact_force(contacts: Any) -> np.ndarray:
    """Sum of the forces of all contacts on the robot."""
    total = np.zeros(3)
    for k in range(contacts.num_point_pair_contacts()):
        info = contacts.point_pair_contact_info(k)
        sign = -1.0 if int(info.bodyB_index()) == 0 else 1.0
        total += sign * info.contact_force()
    return total
