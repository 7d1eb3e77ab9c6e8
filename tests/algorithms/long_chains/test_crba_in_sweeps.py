"""The inertia matrix in sweeps equals the algorithm body by body and the columns of inverse
dynamics.
"""

from __future__ import annotations

import numpy as np
import pytest
from long_chains import SWEPT, snake
from states import error, states

import warpdyn as wd
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.long_chains import chain_rows
from warpdyn.execution.request.evaluate import EPSILON, tree_of
from warpdyn.recording.program import record

ROUND_OFF = 1e-12
"""Relative to the largest entry: products and sums along a branch."""


@pytest.mark.parametrize("name", SWEPT)
def test_sweeps_equal_the_algorithm_body_by_body(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain numbers and recorded programs are compared, for the tree itself and for the tree
    prepared for a kernel.
    """
    model = SWEPT[name]()
    q = states(model, 1).q[0].tolist()
    for tree in (tree_of(model), tree_of(model).regroup().snap(EPSILON[False])):
        wanted = np.array(crba(tree, q))
        with monkeypatch.context() as patched:
            patched.setattr(chain_rows, "ENTRIES", 1)
            assert error(np.array(crba(tree, q)), wanted) <= ROUND_OFF
            program = record(lambda q, tree=tree: crba(tree, q), {"q": (tree.nq,)})
        assert program.routines
        found = np.array(program.on_numbers({"q": q})["out"])
        assert error(found, wanted) <= ROUND_OFF
        assert np.array_equal(found, found.T)


def test_columns_of_the_matrix_of_a_long_chain_equal_rnea(run) -> None:
    """M e_k = rnea(q, 0, e_k) without gravity, for 64 joints."""
    model = snake(64)
    q = states(model, 19).q
    M = run(wd.crba, model, q)
    for e in (0, 18):
        columns = wd.oracle(
            wd.rnea,
            model,
            np.tile(q[e], (64, 1)),
            np.zeros((64, 64)),
            np.eye(64),
            gravity=(0, 0, 0),
        )
        assert error(M[e], columns.T) <= ROUND_OFF


def test_the_program_grows_linearly_with_the_number_of_joints() -> None:
    """Except for the results, whose number grows with its square."""

    def statements(joints: int) -> int:
        tree = tree_of(snake(joints)).regroup().snap(EPSILON[True])
        program = record(lambda q: crba(tree, q), {"q": (joints,)})
        results = sum(s.operation == "of" for s in program.statements)
        return len(program.statements) - results

    assert statements(100) < 2 * statements(52)
