"""Public functions of dynamics: methods, forms of forces and gravity, shapes, refusals with
remedies.
"""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_defaults, check_shapes
from hand_made_urdf import joint, link, urdf
from long_chains import chain
from robots import by_name
from states import error, states

import warpdyn as wd

ROUND_OFF = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest term: a few hundred roundings in a row on robots of up to 34
coordinates."""

MODEL = wd.load_robot("cartpole")
S = states(MODEL, 3)
GIVEN = {
    "rnea": (S.q, S.v, S.a),
    "aba": (S.q, S.v, S.tau),
    "gravity_torques": (S.q,),
    "bias_forces": (S.q, S.v),
    "effect_torques": (S.q, S.v),
    "solve": (S.q, S.tau),
    "crba": (S.q,),
    "coriolis_matrix": (S.q, S.v),
    "mass_matrix_inverse": (S.q,),
}
MATRICES = ("crba", "coriolis_matrix", "mass_matrix_inverse")
WITH_FORCES = ("rnea", "aba", "gravity_torques", "bias_forces")

IDLE = urdf("idle", link("a", 1.0), link("b"), joint("spin", "continuous", "a", "b"))
"""A joint that moves nothing."""


@pytest.mark.parametrize("name", GIVEN)
def test_functions_of_dynamics_have_their_documented_shapes(name: str) -> None:
    """A vector of nv, or a square matrix."""
    shape = (MODEL.nv, MODEL.nv) if name in MATRICES else (MODEL.nv,)
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=shape)


@pytest.mark.parametrize("name", ["rnea", "crba", "aba", "effect_torques"])
def test_functions_of_dynamics_accept_one_robot_a_batch_and_out(name: str) -> None:
    """Both precisions are tested."""
    check_call(getattr(wd, name), MODEL, *GIVEN[name], single=1e-3)


# Forces and gravity.


@pytest.mark.parametrize("name", WITH_FORCES)
def test_gravity_is_the_earths_by_default(name: str) -> None:
    """(0, 0, -9.81) m/s², and no force on any link."""
    function = getattr(wd, name)
    wanted = wd.oracle(function, MODEL, *GIVEN[name])
    zeros = np.zeros((3, MODEL.nlinks, 6))
    for given in ({"gravity": (0.0, 0.0, -9.81)}, {"f_ext": zeros}, {"f_ext": {}}):
        assert np.array_equal(wd.oracle(function, MODEL, *GIVEN[name], **given), wanted)


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "rooted_floating", "branches_wxyz"])
def test_forces_by_name_and_by_index_give_the_same_results(name: str, run) -> None:
    """A mapping with some links equals the full array with zeros elsewhere, in any order of links."""
    model = by_name(name).model
    s = states(model)
    chosen = [
        model.link_names[-1],
        model.link_names[0],
        model.link_names[len(model.link_names) // 2],
    ]
    forces = np.zeros_like(s.forces)
    for k in map(model.link_index, chosen):
        forces[:, k] = s.forces[:, k]
    mapping = {name: s.forces[:, model.link_index(name)] for name in chosen}
    by_name_ = run(wd.rnea, model, s.q, s.v, s.a, f_ext=mapping)
    assert (
        error(by_name_, wd.oracle(wd.rnea, model, s.q, s.v, s.a, f_ext=forces))
        <= ROUND_OFF["float64"]
    )
    reordered = dict(reversed(mapping.items()))
    assert np.array_equal(run(wd.rnea, model, s.q, s.v, s.a, f_ext=reordered), by_name_)
    assert (
        error(wd.oracle(wd.rnea, model, s.q, s.v, s.a, f_ext=mapping), by_name_)
        <= ROUND_OFF["float64"]
    )


def test_each_form_of_one_gravity_gives_the_same_results(run) -> None:
    """A list, a tuple, a (3,) array, and the same vector in every row."""
    model = by_name("cartpole").model
    s = states(model)
    g = [1.0, -2.0, 3.0]
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=g)
    for form in (g, tuple(g), np.array(g), np.tile(g, (len(s.q), 1))):
        assert (
            error(run(wd.rnea, model, s.q, s.v, s.a, gravity=form), wanted) <= ROUND_OFF["float64"]
        )


# Methods of forward dynamics.


@pytest.mark.parametrize("name", ["panda", "branches_wxyz", "mimic_chain"])
def test_the_methods_of_forward_dynamics_agree(name: str, run) -> None:
    """method="aba", "crba" and "auto" give one acceleration."""
    model, s = by_name(name).model, states(by_name(name).model)
    wanted = wd.oracle(wd.aba, model, s.q, s.v, s.tau)
    methods = ("crba",) if by_name(name).has_mimic else ("aba", "crba")
    for method in methods:
        assert error(run(wd.aba, model, s.q, s.v, s.tau, method=method), wanted) <= 1e-9


def test_the_shorter_method_is_the_default() -> None:
    """method="auto". With mimic joints it is always the mass matrix."""
    check_defaults(wd.aba, MODEL, *GIVEN["aba"], method="auto")
    names = {
        way: wd.aba.describe(MODEL, *GIVEN["aba"], method=way).name for way in ("auto", "crba")
    }
    assert names == {"auto": "aba", "crba": "aba_by_crba"}


@pytest.mark.parametrize(
    ("name", "of_aba", "of_solve"),
    [
        ("cartpole", {"aba", "forward_dynamics_crba"}, {"solve", "solve_articulated"}),
        ("mimic_chain", {"forward_dynamics_crba"}, {"solve"}),
        ("long_chain", {"aba"}, {"solve", "solve_articulated"}),
    ],
)
def test_the_robot_decides_which_algorithms_are_candidates(
    name: str, of_aba: set[str], of_solve: set[str]
) -> None:
    """Articulated bodies have no mimic joints. For a long chain they are always shorter."""
    model = chain(50) if name == "long_chain" else by_name(name).model
    q, v = np.zeros((1, model.nq)), np.zeros((1, model.nv))
    aba, solve = wd.aba.describe(model, q, v, v), wd.solve.describe(model, q, v)
    assert {each.__name__ for each in aba.algorithms} == of_aba
    assert {each.__name__ for each in solve.algorithms} == of_solve
    assert solve.solves is not None and (solve.solves.unknown, solve.solves.right) == ("x", "b")


# Refusals.


def test_unknown_and_unsuitable_methods_are_refused() -> None:
    """An unknown method, and articulated bodies for a robot with mimic joints."""
    model = by_name("mimic_chain").model
    with pytest.raises(ValueError, match='method must be "auto", "aba" or "crba"'):
        wd.aba(model, np.zeros(2), np.zeros(2), np.zeros(2), method="rnea")
    with pytest.raises(ValueError, match="mimic joints"):
        wd.aba(model, np.zeros(2), np.zeros(2), np.zeros(2), method="aba")


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
def test_a_joint_without_inertia_is_refused_by_name(kind: str, floating: bool) -> None:
    """aba would divide by zero. The message names the joint and the remedy. Armature is one."""
    parts = (
        link("base", 1.0), link("arm", 1.0, (0.1, 0, 0.2)), link("ghost"),
        joint("turn", "revolute", "base", "arm"), joint("vain", kind, "arm", "ghost", (0.1, 0, 0)),
    )  # fmt: skip
    model = wd.load_urdf(urdf("idle", *parts), floating_base=floating)
    s = states(model, 3)
    with pytest.raises(
        wd.ModelError, match=r'idle: joint "vain" moves no inertia.*with_armature\(\{"vain"'
    ):
        wd.aba(model, s.q, s.v, s.tau)
    assert np.all(np.isfinite(wd.rnea(model, s.q, s.v, s.a)))
    mended = model.with_armature({"vain": 0.01})
    a = wd.aba(mended, s.q, s.v, s.tau)
    M = np.abs(wd.oracle(wd.crba, mended, s.q)) @ np.abs(a[..., None])
    assert error(wd.oracle(wd.rnea, mended, s.q, s.v, a), s.tau, M) <= ROUND_OFF["float64"]


def test_functions_without_an_inverse_accept_a_joint_without_inertia() -> None:
    """rnea, crba and the terms of such a robot are zeros."""
    model = wd.load_urdf(IDLE)
    zero = np.zeros((1, 1))
    for name in ("rnea", "bias_forces", "gravity_torques", "crba", "coriolis_matrix"):
        count = len(GIVEN[name])
        assert not wd.oracle(getattr(wd, name), model, *[zero] * count).any()


@pytest.mark.parametrize("name", WITH_FORCES)
def test_forces_on_unknown_links_are_refused_with_suggestions(name: str) -> None:
    """Wrong widths and types are refused too."""
    function, given = getattr(wd, name), GIVEN[name]
    with pytest.raises(KeyError, match="cartpole has no link named 'pol'; did you mean 'pole'"):
        function(MODEL, *given, f_ext={"pol": np.zeros((3, 6))})
    with pytest.raises(ValueError, match=r"f_ext.*\(B, 6\).*got \(3, 3\)"):
        function(MODEL, *given, f_ext={"pole": np.zeros((3, 3))})
    with pytest.raises(ValueError, match=r"gravity must be .*got \(3, 2\)"):
        function(MODEL, *given, gravity=np.zeros((3, 2)))
