"""Links, points and reference frames: options checked before anything is recorded."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd

CLOSE = 1e-12
"""Relative to the largest entry, one path through the oracle against another."""


def test_frame_is_the_entry_of_frames() -> None:
    """Calls without `frame` and `frames` return all links in the model's order."""
    model = by_name("panda").model
    q = states(model, 2).q
    for function in (wd.fk, wd.jacobian):
        every = wd.oracle(function, model, q)
        some = model.link_names[3], model.link_names[1]
        several = wd.oracle(function, model, q, frames=some)
        for k, name in enumerate(some):
            one = wd.oracle(function, model, q, frame=name)
            assert error(several[:, k], one) <= CLOSE
            assert error(every[:, model.link_index(name)], one) <= CLOSE


def test_a_point_can_be_an_array_or_three_numbers() -> None:
    """Both give the same results. The origin is the same as no point. A point needs one frame."""
    model = by_name("panda").model
    q, name, point = states(model, 2).q, model.link_names[-1], (0.1, -0.2, 0.3)
    folded = wd.oracle(wd.jacobian, model, q, frame=name, point=point)
    array = wd.oracle(wd.jacobian, model, q, frame=name, point=np.tile(point, (2, 1)))
    assert error(folded, array) <= CLOSE
    plain = wd.oracle(wd.jacobian, model, q, frame=name)
    assert error(wd.oracle(wd.jacobian, model, q, frame=name, point=(0, 0, 0)), plain) <= CLOSE
    with pytest.raises(ValueError, match="a point is fixed to one frame"):
        wd.jacobian(model, q, frames=[name], point=point)
    with pytest.raises(ValueError, match="point must be three numbers or an array"):
        wd.jacobian(model, q, frame=name, point=(1, 2))


def test_unknown_links_are_refused_with_suggestions() -> None:
    """The functions are fk, jacobian, rnea and operational_space_inertia, with `frame`, `frames`, `relative_to` and
    `f_ext`."""
    model = by_name("panda").model
    s = states(model, 2)
    right = model.link_names[3]
    wrong = right + "x"
    for call in (
        lambda: wd.fk(model, s.q, frame=wrong),
        lambda: wd.fk(model, s.q, frames=[right, wrong]),
        lambda: wd.jacobian(model, s.q, frame=wrong),
        lambda: wd.rnea(model, s.q, s.v, s.a, f_ext={wrong: np.zeros((2, 6))}),
        lambda: wd.oracle(wd.fk, model, s.q, frame=wrong),
        lambda: wd.jacobian.describe(model, s.q, frame=right, relative_to=wrong),
        lambda: wd.operational_space_inertia.describe(model, s.q, frame=wrong),
    ):
        with pytest.raises(
            KeyError, match=f"panda has no link named '{wrong}'; did you mean .*'{right}'"
        ):
            call()


def test_frame_and_frames_exclude_each_other() -> None:
    """A word in place of a list and an empty list are refused too."""
    model = by_name("cartpole").model
    q, name = model.neutral, model.link_names[0]
    with pytest.raises(
        ValueError, match=r"frame= \(one name\) or frames= \(a list of names\), not both"
    ):
        wd.fk(model, q, frame=name, frames=[name])
    with pytest.raises(ValueError, match=r'frames must be a list of link names.*frame="name"'):
        wd.fk(model, q, frames=name)
    with pytest.raises(ValueError, match="frames must be a list of link names"):
        wd.fk(model, q, frames=[])


def test_unknown_references_are_refused_with_the_known_ones() -> None:
    """The message lists the three names and their aliases."""
    model = by_name("cartpole").model
    with pytest.raises(
        ValueError, match="local, world, local_world_aligned, body, inertial, mixed; got 'spatial'"
    ):
        wd.jacobian(model, model.neutral, frame=model.link_names[-1], reference="spatial")
