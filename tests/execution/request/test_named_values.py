"""Scalars selected by name, put into one list and folded again."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.execution.request.call import inputs_of
from warpdyn.execution.request.named_values import by_name, check_cotangents, flat_of, of_kind

NESTED = {"a": [[1.0, 2.0], [3.0, 4.0]], "b": [5.0], "c": 6.0}


def test_a_list_of_several_arrays_is_folded_back() -> None:
    assert flat_of(NESTED, ("c", "a")) == [6.0, 1.0, 2.0, 3.0, 4.0]
    for names in (("a", "b", "c"), ("c", "a"), ("b",)):
        values = flat_of(NESTED, names)
        assert by_name(values, NESTED, names) == {name: NESTED[name] for name in names}


def test_inputs_of_a_kind_are_named_by_their_subject() -> None:
    model = wd.load_robot("cartpole")
    q, link = np.zeros(2), model.link_names[-1]
    known = inputs_of(wd.rnea.describe(model, q, q, q, f_ext={link: np.zeros(6)}))
    values = dict.fromkeys(known, 0.0)
    assert of_kind("force", known, values) == {link: 0.0}
    assert list(of_kind("argument", known, values)) == ["q", "v", "a"]


def test_a_cotangent_of_a_wrong_shape_is_refused() -> None:
    call = wd.fk.describe(wd.load_robot("cartpole"), np.zeros(2))
    check_cotangents(call, {"out": [1.0, 2.0]}, {"out": [0.0, 0.0]})
    check_cotangents(call, {"out": [1.0]}, {"out": 0.0})
    with pytest.raises(ValueError, match="must be shaped like it"):
        check_cotangents(call, {"out": [1.0]}, {"out": [0.0, 0.0]})
