"""Momentum, locked inertia and average velocity: laws on every robot, kernels and oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from links import Links, shift_forces, times
from robots import ROBOTS, Robot, by_name
from states import error, states, step

import warpdyn as wd
from warpdyn.functions import centroidal

ROUND_OFF = {"float64": 1e-11, "float32": 2e-5}
"""Relative to the largest term: a few hundred roundings, and a solution of three equations in the
averages."""

DIFFERENCE = 3e-8
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-16 / 1e-5 to
rounding, of each term."""

H = 1e-5
"""Step of central differences [s]."""

REFERENCES = ("local", "world", "local_world_aligned", "centroidal", "centroidal_local")

JACOBIANS = (
    centroidal.momentum_jacobian,
    centroidal.centroidal_momentum_matrix,
    centroidal.locked_inertia,
    centroidal.average_velocity_jacobian,
)
VECTORS = (centroidal.momentum, centroidal.centroidal_momentum, centroidal.average_velocity)


def test_momentum_is_the_sum_over_links(robot: Robot) -> None:
    """h = A v = sum of I v over the links about their common centre of mass, root-fixed ones
    included.
    """
    model, s = robot.model, states(robot.model, 2)
    wanted = Links(model, s.q).momentum(s.v)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    assert error(times(A, s.v), wanted, np.abs(A)) <= ROUND_OFF["float64"]
    h = wd.oracle(centroidal.centroidal_momentum, model, s.q, s.v)
    assert error(h, wanted, np.abs(A)) <= ROUND_OFF["float64"]


def test_linear_momentum_is_mass_times_velocity_of_the_com(robot: Robot) -> None:
    """A[:3] v / m is the rate of the centre of mass along v."""
    model, s = robot.model, states(robot.model, 2)
    later, earlier = (Links(model, step(model, s.q, t * s.v)).com for t in (H, -H))
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)[:, :3] / model.total_mass
    assert error(times(A, s.v), (later - earlier) / (2 * H), np.abs(A), np.ones(1)) <= DIFFERENCE


def test_locked_inertia_is_the_sum_of_the_links_moved_inertias(robot: Robot) -> None:
    """The inertia is about each reference point, in each reference's axes."""
    model, q = robot.model, states(robot.model, 2).q
    links = Links(model, q)
    root = links.T[:, 0]
    R = np.zeros((len(q), 6, 6))
    R[:, :3, :3] = R[:, 3:, 3:] = root[:, :3, :3]
    at_base = links.inertia(root[:, :3, 3])
    wanted = {
        "local": np.swapaxes(R, 1, 2) @ at_base @ R,
        "world": links.inertia(np.zeros((len(q), 3))),
        "local_world_aligned": at_base,
        "centroidal": links.inertia(links.com),
        "centroidal_local": np.swapaxes(R, 1, 2) @ links.inertia(links.com) @ R,
    }
    for reference in REFERENCES:
        found = wd.oracle(centroidal.locked_inertia, model, q, reference=reference)
        assert error(found, wanted[reference], at_base) <= ROUND_OFF["float64"]


def test_references_express_one_momentum_at_several_points(robot: Robot) -> None:
    """h_world is h_com moved by c, that of the base by c - p. "local" has the root link's axes."""
    model, s = robot.model, states(robot.model, 2)
    links = Links(model, s.q)
    R, p = links.T[:, 0, :3, :3], links.T[:, 0, :3, 3]
    about_com = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    mixed = shift_forces(about_com, p - links.com)
    back = np.swapaxes(R, 1, 2)
    turned = np.concatenate([back @ about_com[:, :3], back @ about_com[:, 3:]], axis=1)
    wanted = {
        "centroidal": about_com,
        "centroidal_local": turned,
        "world": shift_forces(about_com, -links.com),
        "local_world_aligned": mixed,
        "local": np.concatenate([back @ mixed[:, :3], back @ mixed[:, 3:]], axis=1),
    }
    for reference in REFERENCES:
        J = wd.oracle(centroidal.momentum_jacobian, model, s.q, reference=reference)
        assert error(J, wanted[reference], about_com) <= ROUND_OFF["float64"]
        h = wd.oracle(centroidal.momentum, model, s.q, s.v, reference=reference)
        assert error(h, times(J, s.v), np.abs(J)) <= ROUND_OFF["float64"]
    found = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q, reference="body")
    assert error(found, turned) <= ROUND_OFF["float64"]
    h = wd.oracle(centroidal.centroidal_momentum, model, s.q, s.v, reference="local")
    assert error(h, times(turned, s.v), np.abs(turned)) <= ROUND_OFF["float64"]


def test_average_velocity_times_locked_inertia_is_momentum(robot: Robot) -> None:
    """The law holds in every reference. The Jacobian of the average velocity times v is that
    velocity.
    """
    model, s = robot.model, states(robot.model, 2)
    for reference in REFERENCES:
        inertia = wd.oracle(centroidal.locked_inertia, model, s.q, reference=reference)
        V = wd.oracle(centroidal.average_velocity, model, s.q, s.v, reference=reference)
        h = wd.oracle(centroidal.momentum, model, s.q, s.v, reference=reference)
        terms = np.abs(inertia) * np.abs(V)[:, None]
        assert error(times(inertia, V), h, terms) <= ROUND_OFF["float64"]
        J = wd.oracle(centroidal.average_velocity_jacobian, model, s.q, reference=reference)
        assert error(times(J, s.v), V, np.abs(J)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("reference", ["local", "local_world_aligned"])
def test_average_centroidal_velocity_is_the_average_velocity_at_the_com(reference: str) -> None:
    """The reference "centroidal", and in the root link's axes."""
    model = by_name("quadruped_floating").model
    s = states(model, 2)
    V = wd.oracle(centroidal.average_velocity, model, s.q, s.v, reference="centroidal")
    J = wd.oracle(centroidal.average_velocity_jacobian, model, s.q, reference="centroidal")
    if reference == "local":
        back = np.swapaxes(Links(model, s.q).T[:, 0, :3, :3], 1, 2)
        V = np.hstack([times(back, V[:, :3]), times(back, V[:, 3:])])
        J = np.concatenate([back @ J[:, :3], back @ J[:, 3:]], axis=1)
    found = wd.oracle(centroidal.average_centroidal_velocity, model, s.q, s.v, reference=reference)
    assert error(found, V) <= ROUND_OFF["float64"]
    found = wd.oracle(
        centroidal.average_centroidal_velocity_jacobian, model, s.q, reference=reference
    )
    assert error(found, J) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.floating], ids=lambda r: r.name)
def test_momentum_in_the_base_frame_equals_the_top_of_the_mass_matrix(robot: Robot) -> None:
    """M[:6] v is the momentum in the base's own frame. A rigid motion is its own average."""
    model, s = robot.model, states(robot.model, 2)
    M = wd.oracle(wd.crba, model, s.q)
    J = wd.oracle(centroidal.momentum_jacobian, model, s.q, reference="local")
    assert error(J, M[:, :6]) <= ROUND_OFF["float64"]
    locked = wd.oracle(centroidal.locked_inertia, model, s.q, reference="local")
    assert error(locked, M[:, :6, :6]) <= ROUND_OFF["float64"]
    average = wd.oracle(centroidal.average_velocity_jacobian, model, s.q, reference="local")
    assert (
        error(average[:, :, :6], np.broadcast_to(np.eye(6), (len(s.q), 6, 6)), average)
        <= ROUND_OFF["float64"]
    )


def test_root_fixed_links_change_the_com_but_not_the_momentum() -> None:
    """The linear momentum is that of the moving links."""
    model = by_name("rooted").model
    s = states(model, 2)
    for function in (centroidal.momentum_jacobian, centroidal.locked_inertia):
        local, world, mixed = (wd.oracle(function, model, s.q, reference=r) for r in REFERENCES[:3])
        assert np.array_equal(local, world) and np.array_equal(world, mixed)
    light = replace(model, links=(replace(model.links[0], mass=0.0), *model.links[1:]))
    A, A_light = (wd.oracle(centroidal.centroidal_momentum_matrix, m, s.q) for m in (model, light))
    assert error(A[:, :3], A_light[:, :3]) <= ROUND_OFF["float64"]
    assert error(A[:, 3:], A_light[:, 3:]) > 0.01
    assert wd.oracle(centroidal.locked_inertia, model, s.q)[0, 0, 0] == pytest.approx(
        model.total_mass
    )


def test_momentum_does_not_depend_on_the_position_of_the_robot(run) -> None:
    """No bit changes, about the centre of mass or the base of a free robot."""
    model = by_name("quadruped_floating").model
    s = states(model, 4)
    far = s.q.copy()
    far[:, :3] += 1e5
    for function in (centroidal.centroidal_momentum_matrix, centroidal.momentum_jacobian):
        here, there = (run(function, model, q, dtype=np.dtype("float32")) for q in (s.q, far))
        assert np.array_equal(here, there)


@pytest.mark.parametrize("function", [*JACOBIANS, *VECTORS], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["rooted", "free_inside_wxyz", "mimic_chain_floating"])
def test_kernels_equal_the_oracle(function, name: str, run) -> None:
    """Every function is compared in float64."""
    model = by_name(name).model
    s = states(model)
    given = (s.q,) if function in JACOBIANS else (s.q, s.v)
    found = run(function, model, *given)
    assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("function", [*JACOBIANS, *VECTORS], ids=lambda f: f.__name__)
def test_single_precision_equals_the_oracle(function, run) -> None:
    """The robot has legs and is far from the origin."""
    model = by_name("quadruped_floating").model
    s = states(model)
    s.q[:, :3] += 1000.0
    s = s.rounded(np.dtype("float32"))
    given = (s.q,) if function in JACOBIANS else (s.q, s.v)
    found = run(function, model, *given, dtype=np.dtype("float32"))
    assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF["float32"]


@pytest.mark.parametrize("name", ["cartpole", "slides", "planar"])
@pytest.mark.parametrize(
    "function",
    [
        centroidal.average_centroidal_velocity,
        centroidal.average_centroidal_velocity_jacobian,
        centroidal.locked_inertia,
    ],
    ids=lambda f: f.__name__,
)
def test_a_robot_far_along_its_rails_loses_no_precision(function, name: str, run) -> None:
    """The robot is thirty metres from where its rails begin. Results are about the centre of mass,
    in float32.
    """
    model = by_name(name).model
    s = states(model)
    s.q[:, :1] += 30.0
    s = s.rounded(np.dtype("float32"))
    options = {"reference": "centroidal"} if function is centroidal.locked_inertia else {}
    given = (s.q, s.v) if function is centroidal.average_centroidal_velocity else (s.q,)
    found = run(function, model, *given, dtype=np.dtype("float32"), **options)
    wanted = wd.oracle(function, model, *given, **options)
    # The angular part is also compared by its own size. An average velocity is smaller there.
    assert error(found[:, 3:], wanted[:, 3:]) <= ROUND_OFF["float32"]


def test_translation_of_the_base_has_no_angular_momentum(run) -> None:
    """The base's linear columns are exactly the mass, without a moment."""
    model = by_name("quadruped_floating").model
    q = states(model, 4).q
    A = run(centroidal.centroidal_momentum_matrix, model, q, dtype=np.dtype("float32"))
    assert not A[:, 3:, :3].any()
