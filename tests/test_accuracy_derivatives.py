"""Accuracy of derivatives and matrices against Pinocchio in float64, on real robots."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from robots import Robot
from states import error, states

import warpdyn as wd
from tests.test_accuracy import cases, note
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.execution.request.evaluate import tree_of

TARGETS = {"float64": {True: 1e-10, False: 1e-11}, "float32": {True: 1e-4, False: 1e-4}}
"""Targets relative to the largest entry, of derivatives and of matrices."""

RESIDUAL = {"float64": 6e-16, "float32": 3e-7}
"""Bounds of the equations' relative error, used where rounding the mass matrix costs over a quarter of a target."""

ALGORITHMS: dict[str, tuple[Callable, Sequence[str]]] = {
    "mass_matrix_inverse": (wd.mass_matrix_inverse, ("q",)),
    "coriolis_matrix": (wd.coriolis_matrix, ("q", "v")),
    "centroidal_momentum_matrix": (wd.centroidal_momentum_matrix, ("q",)),
    "jacobian_derivative": (wd.jacobian_derivative, ("q", "v")),
    "rnea_derivatives": (wd.rnea_derivatives, ("q", "v", "a")),
    "aba_derivatives": (wd.aba_derivatives, ("q", "v", "tau")),
}

BY_DEFAULT = ("erd_panda", "erd_ur5")

ROBOTS = (
    *(
        "panda",
        "ur5e",
        "quadruped_floating",
        "humanoid_floating",
        "erd_panda",
        "erd_panda_floating",
        "erd_ur5",
    ),
    *(
        "erd_talos_reduced",
        "erd_talos_reduced_floating",
        "erd_solo12",
        "erd_solo12_floating",
        "erd_anymal_c_floating",
    ),
    *(
        "erd_tiago_no_hand",
        "erd_romeo",
        "erd_double_pendulum_continuous_floating",
        "erd_g1_floating",
        "erd_baxter",
    ),
)


def chosen_cases() -> list:
    """A third of the cases run by default; the kernels of the others take long to compile."""
    return [
        pytest.param(
            *case.values, id=case.id, marks=() if case.id in BY_DEFAULT else pytest.mark.slow
        )
        for case in cases()
        if case.id in ROBOTS
    ]


@pytest.mark.parametrize("accurate", chosen_cases())
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_errors_against_pinocchio_meet_the_targets(
    run, accurate: Robot, algorithm: str, dtype: np.dtype
) -> None:
    """The error against Pinocchio in float64, for the same inputs, is at most the target."""
    model = accurate.model
    function, names = ALGORITHMS[algorithm]
    solves = algorithm in ("mass_matrix_inverse", "aba_derivatives")
    if solves and (accurate.has_mimic or unmoved_joint(tree_of(model)) is not None):
        pytest.skip(
            "Pinocchio inverts the mass matrix of the joints, mimic joints among them; or there is no inverse"
        )
    s = states(model, 9).rounded(dtype)
    given = [getattr(s, name) for name in names]
    frame = max(
        model.link_names,
        key=lambda name: len(tree_of(model).path(tree_of(model).frames[name].body)),
    )
    options = {"frame": frame} if algorithm == "jacobian_derivative" else {}
    found = run(function, model, *given, dtype=dtype, **options)
    wanted = in_pinocchio(accurate, algorithm, names, given, frame)
    found = found if isinstance(found, tuple) else (found,)
    worst = max(error(x, y) for x, y in zip(found, wanted, strict=True))
    note(accurate, algorithm, dtype, worst)
    target = TARGETS[str(dtype)][algorithm.endswith("derivatives")]
    if worst <= target:
        return
    assert solves and cost_of_rounding(wanted, dtype) > target / 4, f"{worst} > {target}"
    assert residual(model, given, found) <= RESIDUAL[str(dtype)]


def cost_of_rounding(wanted: Sequence[np.ndarray], dtype: np.dtype) -> float:
    """Largest relative error of the results when only the mass matrix is rounded to the dtype.

    `wanted` ends with the inverse mass matrix. The other results are its products with exact
    numbers. In float32 the error is 1.0e-4 at the humanoid's ninth state, whose mass matrix has the
    condition number 1.7e5, and 4.5e-5 for g1. A float32 kernel also rounds the factors of the
    matrix and the acceleration. It cannot reach a target near the cost of one rounding.
    """
    M = np.linalg.inv(wanted[-1])
    solved = np.linalg.inv(M.astype(dtype).astype(float))
    return max(
        error((solved @ (M @ x.reshape(*x.shape[:2], -1))).reshape(x.shape), x) for x in wanted
    )


def residual(model: wd.Model, given: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> float:
    """Largest error of the equations that the results solve.

    Unlike the error of the results, it does not grow with the condition number. The equations are M
    X = 1 for the inverse, M qdd + h = tau, and M X = -d rnea at the kernel's own qdd. They are
    evaluated in float64, and the error is relative to |M| |X|.
    """
    found = [np.asarray(x, dtype=float) for x in found]
    identity = np.broadcast_to(np.eye(model.nv), found[-1].shape)
    if len(found) == 1:
        M, pairs = wd.crba(model, given[0]), [(found[0], identity)]
    else:
        q, v, tau = given
        by_q, by_v, M = wd.rnea_derivatives(model, q, v, found[0])
        h = wd.rnea(model, q, v, np.zeros_like(v))
        qdd = found[0][..., None]
        pairs = [
            (qdd, (tau - h)[..., None]),
            (found[1], -by_q),
            (found[2], -by_v),
            (found[3], identity),
        ]
    return max(
        float(np.max(np.abs(M @ x - right)) / np.max(np.abs(M) @ np.abs(x))) for x, right in pairs
    )


def in_pinocchio(
    robot: Robot, algorithm: str, names: Sequence[str], given: Sequence[np.ndarray], frame: str
) -> list:
    """Pinocchio's results in warpdyn's coordinates, one row for each state."""
    import pinocchio as pin
    from pinocchio_peer import Peer

    peer = Peer(robot)
    m, d = peer.pin, peer.pin.createData()

    def upper(M: np.ndarray) -> np.ndarray:
        return np.triu(M) + np.triu(M, 1).T

    def columns(J: np.ndarray) -> np.ndarray:
        full = np.zeros((6, peer.full.nv))
        full[:, peer._columns] = J.reshape(6, -1)
        return full @ peer.Gv

    def of(e: int) -> tuple:
        q, *others = (
            peer.q(x[e]) if name == "q" else peer.v(x[e])
            for name, x in zip(names, given, strict=True)
        )
        if algorithm == "mass_matrix_inverse":
            # Not computeMinverse: at the humanoid's ninth state it is 1.2e-11 from the inverse that mpmath
            # computes with 50 digits. This inverse is 6e-14 from it, and ours is 4e-13.
            return (peer.square(np.linalg.inv(upper(pin.crba(m, d, q)))),)
        if algorithm == "coriolis_matrix":
            return (peer.square(pin.computeCoriolisMatrix(m, d, q, *others)),)
        if algorithm == "centroidal_momentum_matrix":
            A = columns(pin.computeCentroidalMap(m, d, q))
            shift = d.com[0] - wd.com(
                robot.model, given[0][e]
            )  # links fixed to the world count in ours
            A[3:] += np.cross(shift, A[:3], axisb=0, axisc=0)
            return (A,)
        if algorithm == "jacobian_derivative":
            pin.computeJointJacobiansTimeVariation(m, d, q, *others)
            pin.updateFramePlacements(m, d)
            return (
                columns(
                    pin.getFrameJacobianTimeVariation(
                        m, d, peer._frame(frame), pin.LOCAL_WORLD_ALIGNED
                    )
                ),
            )
        if algorithm == "rnea_derivatives":
            by_q, by_v, by_a = pin.computeRNEADerivatives(m, d, q, *others)
            return peer.square(by_q), peer.square(by_v), peer.square(upper(by_a))
        by_q, by_v, by_tau = pin.computeABADerivatives(m, d, q, *others)
        return peer.back(d.ddq), peer.square(by_q), peer.square(by_v), peer.square(upper(by_tau))

    return [np.array(x) for x in zip(*(of(e) for e in range(len(given[0]))), strict=True)]
