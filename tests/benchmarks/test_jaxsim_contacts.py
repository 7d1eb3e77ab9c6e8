"""Soft contacts compared with JaxSim's stored results (`benchmarks.jaxsim_contacts`): single
states, and two seconds of motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from benchmarks.jaxsim_scenes import PARITY, SCENES, Scene, load_results

ROUND_OFF = 1e-9
"""In parts of the largest entry; the answers are stored with twelve decimals."""

APART = {"semi_implicit": 2e-4, "rk4": 1e-7}
"""After 2 s at the same steps [m]: of two first orders, and of two fourth orders [m, and a quaternion's
entries]."""


def answers(name: str) -> tuple[Scene, dict[str, Any]]:
    """A scene and JaxSim's results. They must have the same ground and step."""
    scene, said = SCENES[name](), load_results()[name]
    assert said["ground"] == pytest.approx(list(scene.ground)) and said["dt"] == scene.dt
    assert said["jaxsim"]
    return scene, said


def same(ours: Any, theirs: Any) -> None:
    theirs = np.array(theirs)
    assert np.shape(ours) == theirs.shape
    assert np.abs(ours - theirs).max() <= ROUND_OFF * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("number", [0, 1])
def test_forces_and_rates_agree_with_jaxsim(name: str, number: int) -> None:
    """The points stick, slip or do not touch."""
    scene, said = answers(name)
    state = {k: np.array(x) for k, x in said["states"][number].items()}
    q, v = state["q"], state["v"]
    q_rate, a, rate, forces = wd.oracle(
        *(wd.state_derivative, scene.model, q, v, state["tau"]),
        **{"points": scene.points, "ground": scene.ground, "deformation": state["deformation"]},
    )
    same(forces, state["forces"])
    same(rate, state["deformation_rate"])
    same(q_rate, state["q_rate"])
    same(
        wd.oracle(wd.convert.acceleration, scene.model, q, v, a, target="world"),
        state["acceleration world"],
    )
    assert np.abs(forces).max() > 20.0
    one = wd.oracle(
        *(wd.step, scene.model, q, v, state["tau"]),
        **{"points": scene.points, "ground": scene.ground, "deformation": state["deformation"]},
    )
    same(one[3], state["forces"])  # a semi-implicit step uses the forces at its beginning


@pytest.mark.parametrize("name", SCENES)
def test_point_kinematics_agree_with_jaxsim(name: str) -> None:
    """The test compares positions, velocities, poses, contacts, Jacobians and their derivatives in
    three references."""
    scene, said = answers(name)
    state = {k: np.array(x) for k, x in said["states"][0].items()}
    model, points, q, v = scene.model, scene.points, state["q"], state["v"]
    same(wd.oracle(wd.point_positions, model, q, points=points), state["positions"])
    same(wd.oracle(wd.point_velocities, model, q, v, points=points), state["velocities"])
    same(wd.oracle(wd.point_transforms, model, q, points=points), state["transforms"])
    touching = wd.oracle(
        *(wd.in_contact, model, q), points=points, links=[point.link for point in points]
    )
    assert list(touching) == list(state["in_contact"])
    for reference in ("local", "local_world_aligned", "world"):
        options: dict[str, Any] = {"points": points, "reference": reference}
        # JaxSim's Jacobians multiply the base's twist in its body, as ours do.
        same(wd.oracle(wd.point_jacobians, model, q, **options), state[f"jacobian {reference}"])
        same(
            wd.oracle(wd.point_jacobian_derivatives, model, q, v, **options),
            state[f"derivative {reference}"],
        )


@pytest.mark.parametrize("name", SCENES)
def test_estimated_ground_parameters_agree_with_jaxsim(name: str) -> None:
    scene, said = answers(name)
    for each in said["estimates"]:
        words = {
            "number_of_active_collidable_points_steady_state": "active_points",
            "static_friction_coefficient": "friction",
        }
        asked: dict[str, Any] = {words.get(k, k): x for k, x in each["asked"].items()}
        ground = wd.estimate_good_contact_parameters(scene.model, points=scene.points, **asked)
        assert list(ground) == pytest.approx(each["answer"], rel=1e-9)


@pytest.mark.parametrize("integrator", PARITY)
def test_two_seconds_of_motion_agree_with_jaxsim(integrator: str) -> None:
    """A box lands on an edge, slides, rotates and stops.

    With the same steps the distance is never larger than the orders of the methods allow. (The
    quadruped: `python -m benchmarks.jaxsim_contacts`.)
    """
    scene, said = answers("box")
    theirs = np.array(said["roll_outs"][integrator])
    ours = scene.roll_out(integrator)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < APART[integrator]
    assert np.hypot(*(theirs[-1] - theirs[0])[:2]) > 0.05
