"""Public functions of momentum: references and their aliases, shapes, defaults, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contracts import check_call, check_defaults, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd

MODEL = by_name("rooted_floating").model
S = states(MODEL, 2)
REFERENCES = ("local", "world", "local_world_aligned", "centroidal", "centroidal_local")

MATRICES = (
    "momentum_jacobian",
    "centroidal_momentum_matrix",
    "average_velocity_jacobian",
    "average_centroidal_velocity_jacobian",
)
VECTORS = (
    "momentum",
    "centroidal_momentum",
    "average_velocity",
    "average_centroidal_velocity",
)
CENTROIDAL = [name for name in (*MATRICES, *VECTORS) if "centroidal" in name]
SEVERAL_POINTS = [
    *(name for name in (*MATRICES, *VECTORS) if "centroidal" not in name),
    "locked_inertia",
]
RATES = {
    "centroidal_momentum_matrix_derivative": (S.q, S.v),
    "centroidal_momentum_rate": (S.q, S.v, S.a),
}
GIVEN = {
    **dict.fromkeys((*MATRICES, "locked_inertia"), (S.q,)),
    **dict.fromkeys(VECTORS, (S.q, S.v)),
    **RATES,
}
"""Arrays of each function."""


@pytest.mark.parametrize("name", GIVEN)
def test_functions_of_momentum_have_their_documented_shapes(name: str) -> None:
    """Six rows, linear before angular, and a column for each of nv or of six."""
    columns = name in MATRICES or name.endswith("derivative")
    shape = (6, MODEL.nv) if columns else (6, 6) if name == "locked_inertia" else (6,)
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=shape)


def test_a_robot_without_joints_has_a_momentum_matrix_of_no_columns() -> None:
    """Its shape is (6, 0). The locked inertia is that of the body."""
    model = wd.load_urdf("""<robot name="block"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""")
    q = np.zeros((2, 0))
    for name in MATRICES:
        check_shapes(getattr(wd, name), model, q, shapes=(6, 0))
    assert wd.oracle(wd.locked_inertia, model, q)[0].diagonal().tolist() == [2, 2, 2, 1, 1, 1]


@pytest.mark.parametrize("name", [name for name in GIVEN if name not in RATES])
def test_local_world_aligned_is_the_default_reference(name: str) -> None:
    """The world's axes at the root link's origin, or at the centre of mass."""
    check_defaults(getattr(wd, name), MODEL, *GIVEN[name], reference="local_world_aligned")


@pytest.mark.parametrize("name", SEVERAL_POINTS)
def test_references_have_aliases(name: str) -> None:
    """body, inertial and mixed. The five names give five different results."""
    function, given = getattr(wd, name), GIVEN[name]
    found = {r: wd.oracle(function, MODEL, *given, reference=r) for r in REFERENCES}
    for alias, own in (("body", "local"), ("inertial", "world"), ("mixed", "local_world_aligned")):
        assert np.array_equal(wd.oracle(function, MODEL, *given, reference=alias), found[own])
    assert len({x.tobytes() for x in found.values()}) == len(REFERENCES)


@pytest.mark.parametrize("name", CENTROIDAL)
def test_centroidal_functions_equal_the_others_at_the_centre_of_mass(name: str) -> None:
    """They equal the functions without the word with the references "centroidal" and
    "centroidal_local".
    """
    other = {"centroidal_momentum_matrix": "momentum_jacobian"}.get(
        name, name.replace("centroidal_", "").replace("_centroidal", "")
    )
    for mine, theirs in (("local_world_aligned", "centroidal"), ("body", "centroidal_local")):
        found = wd.oracle(getattr(wd, name), MODEL, *GIVEN[name], reference=mine)
        wanted = wd.oracle(getattr(wd, other), MODEL, *GIVEN[name], reference=theirs)
        assert np.array_equal(found, wanted)


def test_momentum_accepts_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested.

    One function is enough, because all functions share one wrapper.
    """
    model = by_name("cartpole").model
    s = states(model, 3)
    check_call(wd.momentum, model, s.q, s.v)


def test_momentum_is_proportional_to_a_varied_mass() -> None:
    """Twice the mass of a link that moves alone gives twice the momentum."""
    model = by_name("single").model
    s = states(model, 2)
    params = model.params(mass={"arm": np.array([1.0, 2.0]) * model.link("arm").mass})
    plain, varied = (
        wd.oracle(wd.momentum, model, s.q, s.v, **given) for given in ({}, {"params": params})
    )
    assert error(varied[:, :3], plain[:, :3] * [[1.0], [2.0]]) <= 1e-12


# Refusals.


@pytest.mark.parametrize("name", SEVERAL_POINTS)
def test_unknown_references_are_refused(name: str) -> None:
    """The message lists five names and three aliases."""
    with pytest.raises(
        ValueError, match=r"reference must be one of local, .*centroidal.*mixed; got 'com'"
    ):
        getattr(wd, name)(MODEL, *GIVEN[name], reference="com")


@pytest.mark.parametrize("name", CENTROIDAL)
def test_centroidal_functions_refuse_the_reference_world(name: str) -> None:
    """Their reference chooses axes only."""
    with pytest.raises(
        ValueError,
        match="reference must be one of local, local_world_aligned, body, mixed; got 'world'",
    ):
        getattr(wd, name)(MODEL, *GIVEN[name], reference="world")


@pytest.mark.parametrize("name", GIVEN)
def test_a_robot_without_mass_is_refused(name: str) -> None:
    """It has no centre of mass. The message has the remedy."""
    empty = replace(MODEL, links=tuple(replace(link, mass=0.0) for link in MODEL.links))
    with pytest.raises(
        wd.ModelError, match=r"rooted has no mass.*give its links mass \(model.with_payload\)"
    ):
        getattr(wd, name)(empty, *GIVEN[name])
    (first, *others) = empty.links
    light = replace(empty, links=(replace(first, mass=0.01), *others))
    assert getattr(wd, name).describe(light, *GIVEN[name]).refuse(light) is None
