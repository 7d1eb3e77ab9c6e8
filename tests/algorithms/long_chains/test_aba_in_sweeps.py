"""Forward dynamics in sweeps equals the algorithm body by body and inverts inverse dynamics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from long_chains import SWEPT, snake
from states import error, states

import warpdyn as wd
from warpdyn.algorithms.aba import aba
from warpdyn.algorithms.long_chains import chain_rows
from warpdyn.execution.request.evaluate import EPSILON, tree_of
from warpdyn.recording.program import record

BACK = 1e-9
"""Relative: an acceleration, times the condition of the inertia matrix."""

RESIDUAL = 1e-11
"""Error of rnea(aba(tau)) against tau, relative to the largest term of M a."""


ROBOTS = {
    **SWEPT,
    "heavy_base": lambda: replace(SWEPT["floating"](), base_armature=0.7),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_sweeps_equal_the_algorithm_body_by_body(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain numbers and recorded programs are compared, with gravity in any direction and forces on
    every link.
    """
    model = ROBOTS[name]()
    s = states(model, 1)
    arrays = {n: getattr(s, n)[0].tolist() for n in ("q", "v", "tau", "gravity", "forces")}

    def accelerations(tree, q, v, tau, gravity, forces):
        f_ext = dict(zip(model.link_names, forces, strict=True))
        return aba(tree, q, v, tau, gravity, f_ext)

    for tree in (tree_of(model), tree_of(model).regroup().snap(EPSILON[False])):
        wanted = np.array(accelerations(tree, **arrays))
        with monkeypatch.context() as patched:
            patched.setattr(chain_rows, "ENTRIES", 1)
            assert error(np.array(accelerations(tree, **arrays)), wanted) <= BACK
            shapes = {n: np.shape(x) for n, x in arrays.items()}
            program = record(lambda tree=tree, **x: accelerations(tree, **x), shapes)
        assert program.routines
        assert error(np.array(program.on_numbers(arrays)["out"]), wanted) <= BACK


def test_forward_dynamics_of_a_long_chain_inverts_inverse_dynamics(run) -> None:
    """rnea(q, v, aba(q, v, tau)) = tau for 64 joints."""
    model = snake(64)
    s = states(model, 19)
    a = run(wd.aba, model, s.q, s.v, s.tau)
    M = wd.oracle(wd.crba, model, s.q)
    terms = np.einsum("eij,ej->ei", np.abs(M), np.abs(a))
    assert error(wd.oracle(wd.rnea, model, s.q, s.v, a), s.tau, terms) <= RESIDUAL
