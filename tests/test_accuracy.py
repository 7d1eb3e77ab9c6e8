"""Accuracy targets: float64 within 1e-12 and float32 within 1e-5 of Pinocchio in float64, on real
robots."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from robots import BUNDLED, Robot, bundled_robot, real
from states import error, size, states

import warpdyn as wd
from warpdyn.algorithms.aba import unmoved_joint
from warpdyn.execution.request.evaluate import tree_of

TARGETS = {"float64": 1e-12, "float32": 1e-5}
"""The design's figures, relative to the largest reference entry; `aba` by the residual M a + h - tau over its terms."""

NAMES = (
    *(
        "panda",
        "ur5",
        "talos_reduced",
        "tiago_no_hand",
        "solo12",
        "anymal_b",
        "anymal_c",
        "icub",
        "g1",
        "g1_hands",
    ),
    *("allegro", "romeo", "baxter", "pr2", "tiago_dual", "double_pendulum_continuous"),
)
BY_DEFAULT = (
    "erd_panda",
    "erd_ur5",
    "erd_solo12_floating",
    "panda",
    "humanoid_floating",
    "quadruped_floating",
)


def cases() -> list:
    found: list[Robot | None] = []
    for robot in BUNDLED:
        found += [bundled_robot(robot.source.stem), bundled_robot(robot.source.stem, floating=True)]
    for name in NAMES:
        found += [real(name), real(name, floating=True)]
    return [
        pytest.param(
            robot, id=robot.name, marks=() if robot.name in BY_DEFAULT else pytest.mark.slow
        )
        for robot in found
        if robot is not None
    ]


def note(robot: Robot, algorithm: str, dtype: np.dtype, value: float) -> None:
    """Append the error to the report that WARPDYN_ACCURACY names."""
    if os.environ.get("WARPDYN_ACCURACY"):
        with Path(os.environ["WARPDYN_ACCURACY"]).open("a") as file:
            file.write(
                json.dumps([robot.name, robot.model.nv, algorithm, str(dtype), value]) + "\n"
            )


@pytest.mark.parametrize("accurate", cases())
@pytest.mark.parametrize("algorithm", ["rnea", "crba", "aba", "fk", "jacobian"])
def test_errors_against_pinocchio_meet_the_targets(
    run, accurate: Robot, algorithm: str, dtype: np.dtype
) -> None:
    """The error against Pinocchio in float64, for the same inputs, is at most the design's
    target."""
    from pinocchio_peer import Peer

    peer, model = Peer(accurate), accurate.model
    s = states(model, 17).rounded(dtype)
    if algorithm == "rnea":
        found = error(run(wd.rnea, model, s.q, s.v, s.a, dtype=dtype), peer.rnea(s.q, s.v, s.a))
    elif algorithm == "crba":
        found = error(run(wd.crba, model, s.q, dtype=dtype), peer.crba(s.q))
    elif algorithm == "fk":
        found = error(run(wd.fk, model, s.q, dtype=dtype), peer.fk(s.q))
    elif algorithm == "jacobian":
        frame = max(
            model.link_names,
            key=lambda name: len(tree_of(model).path(tree_of(model).frames[name].body)),
        )
        J = run(wd.jacobian, model, s.q, frame=frame, dtype=dtype)
        found = error(J, peer.jacobian(s.q, frame, "local_world_aligned"))
    elif unmoved_joint(tree_of(model)) is not None:
        with pytest.raises(
            wd.ModelError, match=f'joint "{unmoved_joint(tree_of(model))}" moves no inertia'
        ):
            wd.aba(model, s.q, s.v, s.tau)
        return
    else:
        M, h = peer.crba(s.q), peer.rnea(s.q, s.v, 0 * s.v)
        a = run(wd.aba, model, s.q, s.v, s.tau, dtype=dtype)
        Ma = np.einsum("eij,ej->ei", M, a)
        rows = [size(np.abs(M[e]) @ np.abs(a[e]), h[e], s.tau[e]) for e in range(len(a))]
        residual = np.max(np.abs(Ma + h - s.tau), axis=1)
        found = float(np.max(np.where(np.isnan(residual), np.inf, residual) / rows))
    note(accurate, algorithm, dtype, found)
    assert found <= TARGETS[str(dtype)]


@pytest.mark.parametrize("floating", [False, True])
def test_aba_refuses_massless_links_of_romeo(floating: bool) -> None:
    """Romeo's finger links have no mass. Their joints move no inertia, and `aba` names one of
    them."""
    romeo = real("romeo", floating)
    if romeo is None:
        pytest.skip("example-robot-data is not installed")
    s = states(romeo.model, 2)
    with pytest.raises(wd.ModelError, match=r'romeo: joint "\w+" moves no inertia.*with_armature'):
        wd.aba(romeo.model, s.q, s.v, s.tau)
