"""Public functions of the centre of mass: subtrees, shapes, order of links, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contracts import check_call, check_defaults, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import com

MODEL = by_name("rooted").model
S = states(MODEL, 2)
GIVEN = {
    "com": (S.q,),
    "com_velocity": (S.q, S.v),
    "com_acceleration": (S.q, S.v, S.a),
    "com_bias_acceleration": (S.q, S.v),
    "com_jacobian": (S.q,),
}


@pytest.mark.parametrize("name", GIVEN)
def test_functions_of_the_centre_of_mass_have_their_shapes(name: str) -> None:
    """A point, or three rows of nv."""
    shape = (3, MODEL.nv) if name == "com_jacobian" else (3,)
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=shape)
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=shape, subtree="tool")


@pytest.mark.parametrize("name", GIVEN)
def test_the_default_subtree_is_the_whole_robot(name: str) -> None:
    """It is the subtree of the root link."""
    check_defaults(getattr(wd, name), MODEL, *GIVEN[name], subtree=None)
    whole = wd.oracle(getattr(wd, name), MODEL, *GIVEN[name])
    root = wd.oracle(getattr(wd, name), MODEL, *GIVEN[name], subtree=MODEL.root)
    assert error(root, whole, np.ones(1)) <= 1e-14


def test_link_coms_has_the_links_in_the_models_order() -> None:
    """One row for each of `model.link_names`, also for links without mass."""
    check_shapes(wd.link_coms, MODEL, S.q, shapes=(MODEL.nlinks, 3))
    found = wd.oracle(wd.link_coms, MODEL, S.q)
    T = wd.oracle(wd.fk, MODEL, S.q)
    for k, name in enumerate(MODEL.link_names):
        wanted = T[:, k] @ [*MODEL.link(name).com, 1.0]
        assert error(found[:, k], wanted[:, :3], np.ones(1)) <= 1e-13
    tip = MODEL.link_index("tip")
    assert MODEL.link("tip").mass == 0 and np.allclose(found[:, tip], T[:, tip, :3, 3])


def test_com_accepts_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested."""
    check_call(wd.com, MODEL, S.q)
    check_call(wd.com, MODEL, S.q, subtree="tool")


def test_a_robot_without_mass_is_refused() -> None:
    """The message names the robot, as it names a subtree."""
    bare = replace(MODEL, links=tuple(replace(link, mass=0.0) for link in MODEL.links))
    for name, given in GIVEN.items():
        with pytest.raises(
            wd.ModelError, match="rooted: no link has mass, so there is no centre of mass"
        ):
            getattr(wd, name)(bare, *given)
    assert np.isfinite(wd.oracle(wd.link_coms, bare, S.q)).all()


def test_subtrees_without_mass_and_unknown_links_are_refused() -> None:
    """Both by name."""
    model = by_name("rooted").model
    q = states(model, 2).q
    with pytest.raises(wd.ModelError, match='rooted: neither link "tip" nor a descendant has mass'):
        com.com(model, q, subtree="tip")
    with pytest.raises(KeyError, match="no link named 'tipp'"):
        com.com_jacobian(model, q, subtree="tipp")
