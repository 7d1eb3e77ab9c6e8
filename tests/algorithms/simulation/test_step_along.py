"""Positions that velocities reach in a step."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algorithms.simulation.base_step import base_step
from warpdyn.algorithms.simulation.step_along import step_along
from warpdyn.execution.request.evaluate import tree_of


def test_joints_move_as_by_integrate() -> None:
    """Every kind except a free base, with ball and planar joints inside."""
    rng = np.random.default_rng(1)
    model = wd.load_robot("panda")
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    reached, after = step_along(tree_of(model), list(q), list(v), list(v), [], 0.1)
    assert reached == pytest.approx(q + 0.1 * v) and after == pytest.approx(v)


def test_a_free_base_moves_by_base_step_and_joints_by_their_velocities() -> None:
    rng = np.random.default_rng(0)
    model = wd.load_robot("quadruped")
    q = wd.random_configuration(model, 1, seed=0)[0]
    v = rng.normal(size=model.nv)
    H = wd.oracle(wd.crba, model, q).tolist()
    reached, after = map(list, step_along(tree_of(model), list(q), list(v), list(v), H, 0.1))
    base, twist = base_step(list(q[:7]), list(v), list(v[:6]), H, 0.1)
    assert reached[:7] == base and after[:6] == twist
    assert reached[7:] == pytest.approx(q[7:] + 0.1 * v[6:]) and after[6:] == list(v[6:])


BODY = """<body name="{0}" pos="0 0 {1}" quat="0.8 0 0.6 0"><freejoint name="free_{0}"/>
  <inertial pos="0.02 0.01 0" mass="{2}" diaginertia="{3}"/><geom type="box" size=".1 .05 .02"/>
  {4}</body>"""
FINGER = """<body name="finger" pos="0 0 0.1"><joint name="bend" axis="0 1 0"/><geom size="0.03"/></body>"""
ONE = BODY.format("a", 1, 1.0, "0.01 0.02 0.025", "")
OTHER = BODY.format("b", 2, 2.0, "0.03 0.02 0.045", FINGER)


def model_of(*bodies: str, quaternion: str = "xyzw") -> wd.Model:
    text = f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"
    return wd.load(text, quaternion=quaternion)


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
@pytest.mark.parametrize(
    ("integrator", "ground"),
    [
        ("semi_implicit", None),
        ("semi_implicit", wd.Ground(stiffness=2000.0, restitution=0.3)),
        ("semi_implicit", wd.SoftGround(stiffness=1e4, damping=1e3)),
        ("heun", wd.SoftGround(stiffness=1e4, damping=1e3)),
        ("rk4", None),
        ("rk4", wd.SoftGround(stiffness=1e4, damping=1e3)),
    ],
)
def test_two_free_bodies_of_one_model_move_as_in_two_models(
    quaternion: str, integrator: str, ground: object
) -> None:
    """The bodies move in the air and in contact, with every integrator.

    No force acts between them, so that each has the numbers of its own model.
    """
    one, other, both = (
        model_of(*bodies, quaternion=quaternion) for bodies in ((ONE,), (OTHER,), (ONE, OTHER))
    )
    rng = np.random.default_rng(2)
    v = [rng.normal(size=model.nv) for model in (one, other)]
    q = [wd.random_configuration(model, 1, seed=1)[0] for model in (one, other)]
    for each in q:
        each[:3] = 0.3, -0.2, (0.03 if ground else 1.0)
    tau = [rng.normal(size=model.nv) for model in (one, other)]
    options = {"integrator": integrator, "substeps": 6, "dt": 0.002}

    def after(model: wd.Model, *state: np.ndarray) -> wd.results.Step:
        contacts = {"points": wd.ContactPoints(model), "ground": ground} if ground else {}
        return wd.oracle(wd.step, model, *state, **options, **contacts)

    alone = [after(model, *state) for model, *state in zip((one, other), q, v, tau, strict=True)]
    together = after(both, *(np.concatenate(each) for each in (q, v, tau)))
    for name in ("q", "v", "impulses", "forces"):
        apart = np.concatenate([getattr(each, name) for each in alone])
        assert np.allclose(getattr(together, name), apart, rtol=0, atol=1e-12), name
    assert ground is None or together.impulses.any()
    # Free bodies are not among `torques`.
    assert together.torques == pytest.approx(np.concatenate(tau)[both.joint_columns])
    assert alone[1].torques == pytest.approx(tau[1][6:])


def test_free_bodies_next_to_an_arm_conserve_momentum() -> None:
    """Two free bodies follow an arm in the model. After 1 s of semi-implicit steps each centre of
    mass is on its parabola, and each angular momentum is constant.
    """
    arm = (
        '<body name="arm"><joint name="turn" axis="1 0 0"/><geom size="0.1" pos="0 0.2 0"/></body>'
    )
    model = model_of(arm, ONE, BODY.format("c", 2, 2.0, "0.03 0.02 0.045", ""))
    q, v = model.neutral.copy(), np.zeros(model.nv)
    v[1:7], v[7:13] = (1, 0, 0, 0.5, 2, 1), (1, 0, 0, 0, 3, 0)
    steps, dt = 200, 0.005
    after = wd.oracle(wd.step, model, q, v, 0 * v, dt=dt, substeps=steps, stops="none")

    def motion(
        q: np.ndarray, v: np.ndarray, link: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = wd.oracle(wd.fk, model, q, frame=link)
        twist = wd.oracle(wd.frame_velocity, model, q, v, frame=link, reference="local")
        com, J = np.array(model.link(link).com), np.array(model.link(link).inertia)
        linear = X[:3, :3] @ (twist[:3] + np.cross(twist[3:], com))
        return X[:3, :3] @ com + X[:3, 3], linear, X[:3, :3] @ J @ twist[3:]

    for link in "ac":
        (p0, u0, L0), (p1, u1, L1) = motion(q, v, link), motion(after.q, after.v, link)
        fall = -9.81 * dt * dt * steps * (steps + 1) / 2  # of semi-implicit Euler, exactly
        assert np.allclose(p1, p0 + u0 + [0, 0, fall], atol=1e-9)
        assert np.allclose(u1, u0 - [0, 0, 9.81], atol=1e-9) and np.allclose(L1, L0, atol=1e-9)
