"""Compare soft contacts with JaxSim's: forces at the same states, and roll-outs.

    python -m benchmarks.jaxsim_contacts [box quadruped] [--store]

This needs warpdyn and `pip install jaxsim` in an environment of their own. It prints the largest
differences. --store writes JaxSim's results for these scenes; the tests read them.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from typing import Any

import jax
import jax.numpy as jnp
import jaxsim
import jaxsim.api as js
import numpy as np
from jaxsim.parsers import descriptions
from tqdm import tqdm

import warpdyn as wd

from .jaxsim_scenes import KEPT, PARITY, SCENES, SECONDS, STORED, Scene, load_results

INTEGRATORS = {
    "semi_implicit": js.model.IntegratorType.SemiImplicitEuler,
    "rk4": js.model.IntegratorType.RungeKutta4,
}
DYNAMIC = ("q_rate", "acceleration world", "deformation_rate", "forces")
"""Answers that `state_derivative` has too, in its order."""

KINDS = {"revolute": 1, "continuous": 1, "prismatic": 2}


class JaxSimScene:
    """A scene as a JaxSim model. Links on fixed joints are merged, and their points belong to moving links."""

    def __init__(self, scene: Scene, integrator: str = "semi_implicit"):
        model = scene.model
        owners = {link.name: self._owner(model, link.name) for link in model.links}
        moving = {
            name: descriptions.LinkDescription(name=name, mass=0.0, inertia=jnp.zeros((6, 6)))
            for name in dict.fromkeys(owners.values())
        }
        at = {name: wd.oracle(wd.fk, model, model.neutral, frame=name) for name in owners}
        for link in model.links:
            if not link.mass:
                continue
            whole = moving[owners[link.name]]
            X = np.linalg.inv(at[owners[link.name]]) @ at[link.name]
            R = X[:3, :3]
            own = jaxsim.math.Inertia.to_sixd(
                mass=link.mass,
                com=jnp.array(X[:3, 3] + R @ link.com),
                I=jnp.array(R @ np.array(link.inertia) @ R.T),
            )
            moving[whole.name] = descriptions.LinkDescription(
                name=whole.name, mass=whole.mass + link.mass, inertia=whole.inertia + own
            )
        joints = [
            descriptions.JointDescription(
                name=joint.name,
                axis=np.array(joint.axis, dtype=float),
                pose=self._pose(joint.pose),
                jtype=KINDS[joint.kind.name],
                parent=moving[joint.parent],
                child=moving[joint.child],
                position_limit=(joint.limits.lower, joint.limits.upper),
            )
            for joint in model.moving_joints
            if joint.kind.name in KINDS
        ]
        shapes = []
        for point in scene.points:
            owner = owners[point.link]
            X = np.linalg.inv(at[owner]) @ at[point.link]
            place = X[:3, :3] @ np.array(point.centre) + X[:3, 3]
            shapes.append(
                descriptions.CollisionShape(
                    collidable_points=(
                        descriptions.CollidablePoint(parent_link=moving[owner], position=place),
                    )
                )
            )
        description = descriptions.ModelDescription.build_model_from(
            name=model.name,
            links=list(moving.values()),
            joints=joints,
            collisions=tuple(shapes),
            fixed_base=False,
            base_link_name=model.root,
        )
        friction, K, D, p, q = scene.ground
        self.scene = scene
        self.model = js.model.JaxSimModel.build(
            model_description=description,
            time_step=scene.dt,
            integrator=INTEGRATORS[integrator],
            gravity=-jaxsim.math.STANDARD_GRAVITY,
            contact_params=jaxsim.rbda.contacts.SoftContactsParams.build(
                K=K, D=D, mu=friction, p=p, q=q
            ),
        )
        ours = [j.name for j in model.moving_joints if j.kind.name in KINDS]
        self.joints = [ours.index(name) for name in self.model.joint_names()]
        self.back = np.argsort(self.joints)
        self.links = [list(self.model.link_names()).index(owners[p.link]) for p in scene.points]

    @staticmethod
    def _owner(model: wd.Model, link: str) -> str:
        joint = model.parent_joint(link)
        while joint is not None and joint.kind.name == "fixed":
            link = joint.parent
            joint = model.parent_joint(link)
        return link

    @staticmethod
    def _pose(pose: Any) -> np.ndarray:
        X = pose.placement.as_matrix()
        T = np.eye(4)
        T[:3, :3] = [list(row) for row in X.R.matrix.rows]
        T[:3, 3] = list(X.p)
        return T

    def data(self, q: np.ndarray, v: np.ndarray, deformation: np.ndarray) -> Any:
        """JaxSim's data of a state, in the body representation."""
        return js.data.JaxSimModelData.build(
            model=self.model,
            base_position=q[:3],
            base_quaternion=q[[6, 3, 4, 5]],
            joint_positions=q[7:][self.joints],
            base_linear_velocity=v[:3],
            base_angular_velocity=v[3:6],
            joint_velocities=v[6:][self.joints],
            contact_state={"tangential_deformation": jnp.array(deformation)},
            velocity_representation=jaxsim.VelRepr.Body,
        )

    def q(self, data: Any) -> np.ndarray:
        """warpdyn's configuration of JaxSim's data."""
        w, x, y, z = np.array(data.base_orientation)
        joints = np.array(data.joint_positions)[self.back]
        return np.array([*np.array(data.base_position), x, y, z, w, *joints])

    def columns(self, J: Any) -> np.ndarray:
        """A Jacobian with its columns in warpdyn's order of joints."""
        J = np.array(J)
        return np.concatenate([J[..., :6], J[..., 6:][..., self.back]], -1)

    def answers(self, state: dict[str, np.ndarray]) -> dict[str, Any]:
        """JaxSim's results for a state."""
        data = self.data(state["q"], state["v"], state["deformation"])
        wrenches, rates = self.model.contact_model.compute_contact_forces(
            model=self.model, data=data
        )
        tau = jnp.array(state["tau"][6:][self.joints])
        # In the other representations it adds contact forces, which are inertial, as they are.
        with data.switch_velocity_representation(jaxsim.VelRepr.Inertial):
            base, joints, _ = js.ode.system_acceleration(
                model=self.model, data=data, joint_torques=tau
            )
        rate = js.ode.system_dynamics(model=self.model, data=data, joint_torques=tau)
        turning = np.array(rate["base_quaternion"])[[1, 2, 3, 0]]
        places, speeds = js.contact.collidable_point_kinematics(self.model, data)
        result: dict[str, Any] = {
            "forces": np.array(wrenches)[:, :3],
            "deformation_rate": np.array(rates["m_dot"]),
            "acceleration world": np.array([*base, *np.array(joints)[self.back]]),
            "q_rate": np.array(
                [*rate["base_position"], *turning, *np.array(rate["joint_positions"])[self.back]]
            ),
            "positions": np.array(places),
            "velocities": np.array(speeds),
            "transforms": np.array(js.contact.transforms(self.model, data)),
            "in_contact": np.array(js.contact.in_contact(self.model, data), dtype=float)[
                self.links
            ],
        }
        representations = {
            "local": jaxsim.VelRepr.Body,
            "local_world_aligned": jaxsim.VelRepr.Mixed,
            "world": jaxsim.VelRepr.Inertial,
        }
        for reference, theirs in representations.items():
            words = {"model": self.model, "data": data, "output_vel_repr": theirs}
            result[f"jacobian {reference}"] = self.columns(js.contact.jacobian(**words))
            result[f"derivative {reference}"] = self.columns(
                js.contact.jacobian_derivative(**words)
            )
        return result

    def roll_out(self) -> np.ndarray:
        """Configurations at intervals of `KEPT` seconds."""
        kp, kd = self.scene.gains
        start = jnp.array(self.scene.q[7:][self.joints])

        @jax.jit
        def advance(data: Any) -> Any:
            def once(data: Any, _: Any) -> tuple[Any, None]:
                tau = kp * (start - data.joint_positions) - kd * data.joint_velocities
                return js.model.step(self.model, data, joint_force_references=tau), None

            return jax.lax.scan(once, data, None, round(KEPT / self.scene.dt))[0]

        data = self.data(self.scene.q, self.scene.v, np.zeros((len(self.scene.points), 3)))
        kept = [self.q(data)]
        for _ in tqdm(range(round(SECONDS / KEPT)), desc=self.scene.model.name):
            data = advance(data)
            kept.append(self.q(data))
        return np.array(kept)

    def estimates(self) -> list[dict[str, Any]]:
        """JaxSim's own estimates of K and D for a few inputs."""
        asked = [
            {"max_penetration": 0.005, "number_of_active_collidable_points_steady_state": 4},
            {"max_penetration": 1e-4, "damping_ratio": 0.5},
            {"static_friction_coefficient": 0.7},
        ]
        found = []
        for question in asked:
            parameters = js.contact.estimate_good_contact_parameters(self.model, **question)
            names = ("mu", "K", "D", "p", "q")
            found.append(
                {"asked": question, "answer": [float(getattr(parameters, n)) for n in names]}
            )
        return found


def _plain(value: Any) -> Any:
    return np.round(value, 12).tolist() if isinstance(value, np.ndarray) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []])
    parser.add_argument("--store", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.scenes or SCENES:
        scene = SCENES[name]()
        theirs = JaxSimScene(scene)
        kept: dict[str, Any] = {
            **{"jaxsim": version("jaxsim"), "jax": version("jax")},
            "ground": list(scene.ground),
            "dt": scene.dt,
            "states": [],
            "estimates": theirs.estimates(),
            "roll_outs": {},
        }
        for state in scene.states():
            said = theirs.answers(state)
            # Of the second state only what depends on the contacts.
            few = said if not kept["states"] else {k: said[k] for k in DYNAMIC}
            kept["states"].append({k: _plain(x) for k, x in (state | few).items()})
            mine = wd.oracle(
                *(wd.state_derivative, scene.model, state["q"], state["v"], state["tau"]),
                points=scene.points,
                ground=scene.ground,
                deformation=state["deformation"],
            )
            q_rate, acceleration, *contacts = mine
            acceleration = wd.oracle(
                *(wd.convert.acceleration, scene.model, state["q"], state["v"], acceleration),
                target="world",
            )
            for what, ours in zip(DYNAMIC, (q_rate, acceleration, *contacts), strict=True):
                largest = np.abs(said[what]).max()
                print(f"{name} {what}: {np.abs(ours - said[what]).max():.2g} of {largest:.3g}")
        for integrator in PARITY:
            path = JaxSimScene(scene, integrator).roll_out()
            kept["roll_outs"][integrator] = _plain(path)
            ours = scene.roll_out(integrator)
            apart = np.abs(path[:, :3] - ours[:, :3]).max()
            turned = np.abs(np.abs((path[:, 3:7] * ours[:, 3:7]).sum(1)) - 1).max()
            print(
                f"{name} {integrator}, dt {scene.dt:g}: apart by {apart:.2g} m, "
                f"{np.sqrt(8 * turned):.2g} rad, joints "
                f"{np.abs(path[:, 7:] - ours[:, 7:]).max(initial=0.0):.2g} rad; "
                f"moved {np.abs(path[-1, :3] - path[0, :3]).max():.3g} m"
            )
        if arguments.store:
            answers = load_results() if STORED.exists() else {}
            STORED.write_text(json.dumps(answers | {name: kept}) + "\n")


if __name__ == "__main__":
    main()
