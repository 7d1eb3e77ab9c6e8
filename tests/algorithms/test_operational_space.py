"""Operational-space inertia, bias and inverse: laws, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_peer import in_pinocchio, pin
from robots import by_name
from states import error, size, states

import warpdyn as wd
from warpdyn.functions.dynamics import mass_matrix_inverse
from warpdyn.functions.operational_space import (
    dynamically_consistent_inverse,
    operational_space,
    operational_space_inertia,
)

ROBOTS = ("panda", "branches_wxyz", "mimic_chain_floating", "quadruped_floating")
REFERENCES = ("local", "world", "local_world_aligned")

SINGULAR = 1e-9
"""Relative: some frames come near singular configurations, where Lambda grows."""


def case(name: str, count: int = 2):
    model = by_name(name).model
    frame = "panda_hand" if name == "panda" else model.link_names[-1]
    return model, frame, states(model, count)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", ROBOTS)
def test_inertia_and_consistent_inverse_satisfy_their_definitions(
    name: str, reference: str
) -> None:
    """Lambda J M^-1 J^T = 1, Jbar = M^-1 J^T Lambda, J Jbar = 1.

    The separate functions give the same numbers.
    """
    model, frame, s = case(name)
    inertia, _, inverse = wd.oracle(
        operational_space, model, s.q, s.v, frame=frame, reference=reference
    )
    J = wd.oracle(wd.jacobian, model, s.q, frame=frame, reference=reference)
    Minv = wd.oracle(mass_matrix_inverse, model, s.q)
    mobility = J @ Minv @ J.swapaxes(1, 2)
    one = np.broadcast_to(np.eye(6), mobility.shape)
    assert error(inertia @ mobility, one, np.abs(inertia) @ np.abs(mobility)) <= 1e-12
    assert error(inverse, Minv @ J.swapaxes(1, 2) @ inertia) <= SINGULAR
    assert error(J @ inverse, one, np.abs(J) @ np.abs(inverse)) <= 1e-11
    options = {"frame": frame, "reference": reference}
    assert np.array_equal(wd.oracle(operational_space_inertia, model, s.q, **options), inertia)
    assert np.array_equal(wd.oracle(dynamically_consistent_inverse, model, s.q, **options), inverse)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", ROBOTS[:2])
def test_forces_on_the_frame_give_its_acceleration(name: str, reference: str) -> None:
    """The rate A of the frame's velocity for tau = J^T f, by Pinocchio's kinematics, satisfies
    Lambda A + bias = f. The bias has gravity, forces on links and friction.
    """
    model, frame, s = case(name)
    model = model.with_friction(viscous=0.3, coulomb=0.2)
    peer, force = in_pinocchio(by_name(name)), s.forces[:, 0]
    given = {"gravity": s.gravity, "f_ext": s.forces}
    inertia, bias, _ = wd.oracle(
        operational_space, model, s.q, s.v, frame=frame, reference=reference, **given
    )
    J = wd.oracle(wd.jacobian, model, s.q, frame=frame, reference=reference)
    a = wd.oracle(wd.aba, model, s.q, s.v, np.einsum("eij,ei->ej", J, force), **given)
    kind = {"local": pin.LOCAL, "world": pin.WORLD, "local_world_aligned": pin.LOCAL_WORLD_ALIGNED}[
        reference
    ]
    rate = (
        pin.getFrameClassicalAcceleration
        if reference == "local_world_aligned"
        else pin.getFrameAcceleration
    )
    data, A = peer.pin.createData(), []
    for e in range(len(s.q)):
        pin.forwardKinematics(peer.pin, data, peer.q(s.q[e]), peer.v(s.v[e]), peer.v(a[e]))
        pin.updateFramePlacements(peer.pin, data)
        A.append(rate(peer.pin, data, peer.pin.getFrameId(frame, pin.BODY), kind).vector)
    parts = np.einsum("eij,ej->ei", inertia, np.array(A)), bias
    assert error(parts[0] + parts[1], force, *parts) <= SINGULAR


@pytest.mark.parametrize("part", ["linear", "angular"])
def test_the_inertia_of_a_part_is_the_inverse_of_its_mobility(part: str) -> None:
    """The inertia of three directions is the inverse of that part of J M^-1 J^T, not a part of the
    whole.
    """
    model, frame, s = case("panda")
    inertia, bias, inverse = wd.oracle(operational_space, model, s.q, s.v, frame=frame, part=part)
    rows = slice(0, 3) if part == "linear" else slice(3, 6)
    J = wd.oracle(wd.jacobian, model, s.q, frame=frame)[:, rows]
    one = np.broadcast_to(np.eye(3), inertia.shape)
    mobility = J @ wd.oracle(mass_matrix_inverse, model, s.q) @ J.swapaxes(1, 2)
    assert error(inertia @ mobility, one) <= 1e-11
    assert error(J @ inverse, one) <= 1e-11 and bias.shape == (2, 3)


def test_the_bias_without_gravity_is_quadratic_in_v() -> None:
    """The bias at rest is zero."""
    model, frame, s = case("panda")
    free = {"gravity": (0.0, 0.0, 0.0), "frame": frame}
    still = wd.oracle(operational_space, model, s.q, 0 * s.v, **free)[1]
    assert not still.any()
    doubled = wd.oracle(operational_space, model, s.q, 2 * s.v, **free)[1]
    assert error(doubled, 4 * wd.oracle(operational_space, model, s.q, s.v, **free)[1]) <= 1e-12


@pytest.mark.parametrize("name", ["panda", "mimic_chain_floating"])
def test_the_kernel_equals_the_oracle(name: str, dtype) -> None:
    """Three results of one call."""
    model, frame, s = case(name, 19)
    s = s.rounded(dtype)
    q, v = s.q.astype(dtype), s.v.astype(dtype)
    found = operational_space(model, q, v, frame=frame)
    wanted = wd.oracle(operational_space, model, s.q, s.v, frame=frame)
    inertia = operational_space_inertia(model, q, frame=frame, reference="mixed")
    inverse = dynamically_consistent_inverse(model, q, frame=frame, reference="mixed")
    for e in range(len(q)):
        mobility = np.linalg.cond(wanted[0][e])
        room = (1e-13 if str(dtype) == "float64" else 3e-6) * mobility
        for mine, its in zip(
            (*found, inertia, inverse), (*wanted, wanted[0], wanted[2]), strict=True
        ):
            assert error(mine[e], its[e], size(its[e])) <= room
