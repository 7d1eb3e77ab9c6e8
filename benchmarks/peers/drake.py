"""Drake's results for the same file in warpdyn's coordinates (`pip install drake`).

Drake itself reads URDF, SDF and MJCF. Its free bodies have the quaternion first, with w first, and the
angular velocity first, in world axes.
"""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.joints import FLOATING
from warpdyn.peers.peer import NotComparable, driven_joints, first_line, xyzw_columns


class DrakeRefusal(Exception):  # noqa: N818
    """Drake cannot read the file. The message is Drake's."""


class Drake:
    """A MultibodyPlant without a scene: poses, mass matrix and inverse dynamics."""

    name = "Drake"

    def __init__(self, path: Path) -> None:
        """Read the file. Raises ImportError without Drake and `DrakeRefusal` if Drake refuses the file."""
        self.plants = import_module("pydrake.multibody.plant")
        parsing = import_module("pydrake.multibody.parsing")
        logging.getLogger("drake").setLevel(logging.ERROR)
        self.plant = self.plants.MultibodyPlant(0.0)
        try:
            parsing.Parser(self.plant).AddModels(str(path))
        except Exception as error:
            raise DrakeRefusal(first_line(error)) from error

    def on(self, model: Model) -> Drake:
        """This plant in the coordinates of a model. Raises NotComparable if the robots differ."""
        plant, self.model = self.plant, model
        try:
            if not model.floating_base and plant.HasBodyNamed(model.root) and model.root != "world":
                body = plant.GetBodyByName(model.root)
                plant.WeldFrames(plant.world_frame(), body.body_frame())
            plant.Finalize()
        except Exception as error:
            raise NotComparable(f"Drake: {first_line(error)}") from error
        self.context = plant.CreateDefaultContext()
        self.places = [(d, self._place(d.joint)) for d in driven_joints(model)]
        width = sum(joint.num_velocities() for _, joint in self.places)
        if width != plant.num_velocities():
            raise NotComparable(
                f"Drake has {plant.num_velocities()} coordinates, {width} of them known"
            )
        return self

    def _place(self, joint: Any) -> Any:
        """Drake's joint; for a free body the joint that Drake adds."""
        plant = self.plant
        if joint.kind is not FLOATING and not joint.kind.single:
            raise NotComparable(f"a {joint.kind.name} joint has other coordinates in Drake")
        try:
            if joint.kind is not FLOATING:
                return plant.GetJointByName(joint.name)
            body = plant.GetBodyByName(joint.child)
            made = (plant.get_joint(k) for k in plant.GetJointIndices())
            return next(each for each in made if each.child_body().index() == body.index())
        except (RuntimeError, StopIteration) as error:
            raise NotComparable(f'Drake has no joint "{joint.name}"') from error

    @property
    def links(self) -> tuple[str, ...]:
        """Links that are bodies or frames in Drake."""
        plant = self.plant
        return tuple(
            n for n in self.model.link_names if plant.HasBodyNamed(n) or plant.HasFrameNamed(n)
        )

    def _set(self, q: np.ndarray) -> np.ndarray:
        """Set Drake's configuration and return G(q); Drake's velocity is G v."""
        full, G = (
            np.zeros(self.plant.num_positions()),
            np.zeros((self.plant.num_velocities(), self.model.nv)),
        )
        for d, joint in self.places:
            at, rows = joint.position_start(), slice(joint.velocity_start(), None)
            if d.joint.kind is not FLOATING:
                full[at] = d.multiplier * q[d.q][0] + d.offset
                G[rows.start, d.v] = d.multiplier
                continue
            own = q[d.q]
            x, y, z, w = own[list(xyzw_columns(self.model))]
            full[at : at + 7] = (w, x, y, z, *own[:3])
            R = wd.convert.quaternion_to_matrix(np.array([x, y, z, w]))
            k, c = rows.start, d.v.start
            G[k : k + 3, c + 3 : c + 6] = G[k + 3 : k + 6, c : c + 3] = R
        self.plant.SetPositions(self.context, full)
        return G

    def fk(self, q: np.ndarray) -> np.ndarray:
        """Poses (nlinks, 4, 4); zeros for links that Drake lacks."""
        self._set(q)
        poses = np.zeros((self.model.nlinks, 4, 4))
        for name in self.links:
            plant = self.plant
            frame = (
                plant.GetBodyByName(name).body_frame()
                if plant.HasBodyNamed(name)
                else plant.GetFrameByName(name)
            )
            poses[self.model.link_index(name)] = frame.CalcPoseInWorld(self.context).GetAsMatrix4()
        return poses

    def crba(self, q: np.ndarray) -> np.ndarray:
        """Mass matrix (nv, nv)."""
        G = self._set(q)
        return G.T @ self.plant.CalcMassMatrix(self.context) @ G

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Joint forces (nv,) at the standard gravity of both, 9.81 m/s²."""
        plant, G = self.plant, self._set(q)
        rates = G @ a
        for d, joint in self.places:
            if d.joint.kind is FLOATING:  # the derivative of R v is R (a + ω × v)
                k, own = joint.velocity_start(), v[d.v]
                R = G[k : k + 3, d.v.start + 3 : d.v.start + 6]
                rates[k + 3 : k + 6] += R @ np.cross(own[3:], own[:3])
        plant.SetVelocities(self.context, G @ v)
        none = import_module("pydrake.multibody.tree").MultibodyForces(plant)
        # Gravity only: all force elements would include the damping of joints.
        forces = plant.CalcInverseDynamics(self.context, rates, none)
        return G.T @ (forces - plant.CalcGravityGeneralizedForces(self.context))
