"""Momentum and centroidal quantities: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from devices import Placed
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import ROBOTS, Robot, by_name
from states import States, error, states, step

import warpdyn as wd
from warpdyn.functions import centroidal, inertial

ROUND_OFF = {"float64": 1e-11, "float32": 2e-5}
"""Relative to the largest term: a few hundred roundings, and a solution of three equations in the averages."""

DIFFERENCE = 3e-8
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-16 / 1e-5 to rounding, of each term."""

H = 1e-5
"""Step of central differences [s]."""

REFERENCES = ("local", "world", "local_world_aligned", "centroidal", "centroidal_local")

OF_Q = (
    centroidal.momentum_jacobian,
    centroidal.centroidal_momentum_matrix,
    centroidal.locked_inertia,
    centroidal.average_velocity_jacobian,
)
OF_Q_V = (
    centroidal.momentum,
    centroidal.centroidal_momentum,
    centroidal.centroidal_momentum_matrix_derivative,
    centroidal.average_velocity,
)
KERNELS = (*OF_Q, *OF_Q_V, centroidal.centroidal_momentum_rate)


def arguments(function, s: States) -> tuple[np.ndarray, ...]:
    return (s.q,) if function in OF_Q else (s.q, s.v) if function in OF_Q_V else (s.q, s.v, s.a)


def cross(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """u × w; `w` may have columns, (B, 3, n)."""
    return np.cross(u, w) if w.ndim == u.ndim else np.cross(u[..., None], w, axis=1)


def shifted(h: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Forces (B, 6) or (B, 6, n) about a point that lies `by` from the one they are about."""
    return np.concatenate([h[:, :3], h[:, 3:] - cross(by, h[:, :3])], axis=1)


def times(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("eij,ej->ei", A, v)


class Links:
    """Every link's mass, placement and inertia in the world, from the description and `fk`."""

    def __init__(self, model: wd.Model, q: np.ndarray):
        self.model, self.q = model, q
        self.T = wd.oracle(wd.fk, model, q)
        self.m = np.array([link.mass for link in model.links])
        coms = np.array([[*link.com, 1.0] for link in model.links])
        self.c = np.einsum("elij,lj->eli", self.T, coms)[..., :3]
        self.com = np.einsum("l,eli->ei", self.m, self.c) / self.m.sum()
        R = self.T[..., :3, :3]
        self.J = R @ np.array([link.inertia for link in model.links]) @ np.swapaxes(R, -1, -2)

    def inertia(self, point: np.ndarray) -> np.ndarray:
        """(B, 6, 6) inertia of all about a point, in the world's axes."""
        vectors = inertial.from_body(self.m, self.c - point[:, None], self.J)
        return inertial.to_spatial_inertia(vectors).sum(axis=1)

    def momentum(self, v: np.ndarray) -> np.ndarray:
        """(B, 6) about the centre of mass: the sum over links of what moves with them."""
        total = np.zeros((len(self.q), 6))
        for i, link in enumerate(self.model.link_names):
            V = times(wd.oracle(wd.jacobian, self.model, self.q, frame=link), v)
            w = V[:, 3:]
            linear = self.m[i] * (V[:, :3] + np.cross(w, self.c[:, i] - self.T[:, i, :3, 3]))
            angular = times(self.J[:, i], w) + np.cross(self.c[:, i] - self.com, linear)
            total += np.hstack([linear, angular])
        return total


def test_momentum_is_the_sum_over_links(robot: Robot) -> None:
    """h = A v = sum of I v over the links about the centre of mass of them all, root-fixed ones included."""
    model, s = robot.model, states(robot.model, 2)
    wanted = Links(model, s.q).momentum(s.v)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    assert error(times(A, s.v), wanted, np.abs(A)) <= ROUND_OFF["float64"]
    h = wd.oracle(centroidal.centroidal_momentum, model, s.q, s.v)
    assert error(h, wanted, np.abs(A)) <= ROUND_OFF["float64"]


def test_linear_momentum_is_mass_times_velocity_of_the_com(robot: Robot) -> None:
    """A[:3] v / m = d/dt of the centre of mass along v."""
    model, s = robot.model, states(robot.model, 2)
    later, earlier = (Links(model, step(model, s.q, t * s.v)).com for t in (H, -H))
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)[:, :3] / model.total_mass
    assert error(times(A, s.v), (later - earlier) / (2 * H), np.abs(A), np.ones(1)) <= DIFFERENCE


def test_matrix_derivative_is_the_rate_of_the_matrix(robot: Robot) -> None:
    """dA/dt by central differences along v."""
    model, s = robot.model, states(robot.model, 2)
    later, earlier = (
        wd.oracle(centroidal.centroidal_momentum_matrix, model, step(model, s.q, t * s.v))
        for t in (H, -H)
    )
    found = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    assert error(found, (later - earlier) / (2 * H), later, np.ones(1)) <= DIFFERENCE


def test_rate_of_momentum_is_a_matrix_and_its_derivative(robot: Robot) -> None:
    """h' = A a + dA/dt v."""
    model, s = robot.model, states(robot.model, 2)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    dA = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    found = wd.oracle(centroidal.centroidal_momentum_rate, model, s.q, s.v, s.a)
    wanted = times(A, s.a) + times(dA, s.v)
    assert error(found, wanted, np.abs(A), np.abs(dA)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.floating], ids=lambda r: r.name)
def test_external_forces_change_momentum(robot: Robot) -> None:
    """h' = weight + forces on links, moments about the centre of mass, with the accelerations that `aba` finds."""
    model, s = robot.model, states(robot.model, 2)
    s.tau[:, :6] = 0.0
    a = wd.oracle(wd.aba, model, s.q, s.v, s.tau, gravity=s.gravity, f_ext=s.forces)
    found = wd.oracle(centroidal.centroidal_momentum_rate, model, s.q, s.v, a)
    links = Links(model, s.q)
    R, p = links.T[..., :3, :3], links.T[..., :3, 3]
    forces = np.einsum("elij,elj->eli", R, s.forces[..., :3])
    moments = np.einsum("elij,elj->eli", R, s.forces[..., 3:]) + np.cross(
        p - links.com[:, None], forces
    )
    wanted = np.hstack([forces.sum(axis=1) + model.total_mass * s.gravity, moments.sum(axis=1)])
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    assert error(found, wanted, np.abs(A) * np.abs(a)[:, None]) <= ROUND_OFF["float64"]


def test_locked_inertia_is_the_sum_of_moved_inertias(robot: Robot) -> None:
    """Over all links, about each point, in each reference's axes."""
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


def test_references_are_one_momentum_at_several_points(robot: Robot) -> None:
    """h_world = h_com moved by c; the base's by c - p; "local" turned into the root link's axes."""
    model, s = robot.model, states(robot.model, 2)
    links = Links(model, s.q)
    R, p = links.T[:, 0, :3, :3], links.T[:, 0, :3, 3]
    about_com = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    mixed = shifted(about_com, p - links.com)
    back = np.swapaxes(R, 1, 2)
    turned = np.concatenate([back @ about_com[:, :3], back @ about_com[:, 3:]], axis=1)
    wanted = {
        "centroidal": about_com,
        "centroidal_local": turned,
        "world": shifted(about_com, -links.com),
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
    """In every reference; and its Jacobian times v is the average velocity."""
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
def test_average_centroidal_velocity_is_that_at_the_com(reference: str) -> None:
    """The average velocity of "centroidal", and in the root link's axes."""
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
def test_momentum_in_the_base_is_the_top_of_the_mass_matrix(robot: Robot) -> None:
    """M[:6] v is the momentum of all in the base's own frame; a rigid motion is its own average."""
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


def test_a_fixed_base_has_one_reference_and_its_fixed_links_have_mass() -> None:
    """Root-fixed links change the centre of mass, not the linear momentum."""
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


# Kernels.


def kernel(
    device: str, function, model: wd.Model, *given: np.ndarray, dtype, **options
) -> np.ndarray:
    places = [Placed(np.ascontiguousarray(x, dtype=dtype), device) for x in given]
    found = function(model, *(p.array for p in places), **options)
    return np.asarray(found if isinstance(found, np.ndarray) else found.numpy(), dtype=float)


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["rooted", "free_inside_wxyz", "mimic_chain_floating"])
def test_kernels_match_the_oracle(function, name: str, device: str) -> None:
    """In float64, every text."""
    model = by_name(name).model
    s = states(model)
    given = arguments(function, s)
    found = kernel(device, function, model, *given, dtype=np.float64)
    assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_single_precision_matches_the_oracle(function, device: str) -> None:
    """In float32 on a legged robot that stands far from the origin."""
    model = by_name("quadruped_floating").model
    s = states(model)
    s.q[:, :3] += 1000.0
    s = s.rounded(np.dtype("float32"))
    given = arguments(function, s)
    found = kernel(device, function, model, *given, dtype=np.float32)
    assert error(found, wd.oracle(function, model, *given)) <= ROUND_OFF["float32"]


def test_a_robots_place_does_not_matter(device: str) -> None:
    """Where a free robot is changes not one bit of what is about its centre of mass, or its base."""
    model = by_name("quadruped_floating").model
    s = states(model, 4)
    far = s.q.copy()
    far[:, :3] += 1e5
    for function in (centroidal.centroidal_momentum_matrix, centroidal.momentum_jacobian):
        here, there = (kernel(device, function, model, q, dtype=np.float32) for q in (s.q, far))
        assert np.array_equal(here, there)


def test_moving_without_turning_has_no_angular_momentum(device: str) -> None:
    """The base's linear columns are exactly the mass and no moment, in A; and in dA/dt."""
    model = by_name("quadruped_floating").model
    s = states(model, 4)
    A = kernel(device, centroidal.centroidal_momentum_matrix, model, s.q, dtype=np.float32)
    dA = kernel(
        device, centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v, dtype=np.float32
    )
    assert not A[:, 3:, :3].any() and not dA[:, 3:, :3].any()


# Refusals.


def test_references_are_checked() -> None:
    """Names of references, with their aliases."""
    model = by_name("ur5e").model
    q = states(model, 1).q
    with pytest.raises(
        ValueError, match=r"reference must be one of local, .*centroidal.*mixed; got 'com'"
    ):
        centroidal.momentum_jacobian(model, q, reference="com")
    with pytest.raises(
        ValueError, match="reference must be one of local, local_world_aligned, body, mixed; got"
    ):
        centroidal.centroidal_momentum_matrix(model, q, reference="world")


def test_a_robot_without_mass_is_refused() -> None:
    """It has no centre of mass."""
    model = by_name("single").model
    empty = replace(model, links=tuple(replace(link, mass=0.0) for link in model.links))
    with pytest.raises(wd.ModelError, match="single has no mass"):
        centroidal.centroidal_momentum_matrix(empty, np.zeros(1))


# Pinocchio.


def on_rows(peer: Peer, A: np.ndarray) -> np.ndarray:
    return np.array([peer.back(row) for row in A])


def test_centroidal_matches_pinocchio(robot: Robot) -> None:
    """Its ccrba and dccrba, about the centre of mass of what moves; ours counts root-fixed links, and is moved there.

    Its dAg leaves out that the centre of mass moves, c' × A[:3], which is no part of dAg v as c' × m c' = 0; and the
    change of motion subspaces of joints of two axes.
    """
    peer, model, s = in_pinocchio(robot), robot.model, states(robot.model, 2)
    A = wd.oracle(centroidal.centroidal_momentum_matrix, model, s.q)
    dA = wd.oracle(centroidal.centroidal_momentum_matrix_derivative, model, s.q, s.v)
    com, data = Links(model, s.q).com, peer.pin.createData()
    for e in range(len(s.q)):
        q, v = peer.q(s.q[e]), peer.v(s.v[e])
        theirs = on_rows(peer, pin.computeCentroidalMap(peer.pin, data, q))
        by = np.array([data.com[0] - com[e]])
        assert error(shifted(A[e : e + 1], by)[0], theirs, A[e]) <= ROUND_OFF["float64"]
        if any(joint.kind.series for joint in model.joints):
            continue
        theirs = on_rows(peer, pin.computeCentroidalMapTimeVariation(peer.pin, data, q, v))
        moved = shifted(dA[e : e + 1], by)[0]
        moved[3:] += np.cross(A[e, :3] @ s.v[e] / model.total_mass, A[e, :3], axisb=0).T
        assert error(moved, theirs, A[e], dA[e]) <= ROUND_OFF["float64"]
