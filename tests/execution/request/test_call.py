"""Calls: their inputs, and calls that are derivatives of calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.request.call import (
    Call,
    algorithms_of,
    all_arrays,
    derive,
    gather,
    input_shapes,
    inputs_of,
    result_names,
    with_all_inputs,
    without_seeds,
)

MODEL = by_name("panda").model
LINKS = MODEL.link_names[-1], MODEL.link_names[2]
B = 2
S = states(MODEL, B)


def call_of(function: Any = wd.rnea, **options: Any) -> Call:
    return function.describe(MODEL, S.q, S.v, S.a, **options)


def everything() -> Call:
    """A call with all kinds of inputs."""
    forces = {link: np.ones((B, 6)) for link in LINKS}
    params = MODEL.params(mass={LINKS[0]: np.ones(B)}, com={LINKS[0]: np.ones((B, 3))})
    return call_of(f_ext=forces, gravity=np.ones(3), params=params)


def test_inputs_have_a_fixed_order() -> None:
    """Arguments, gravity, forces in the model's order whatever the caller's, parameters."""
    call = everything()
    names = ["q", "v", "a", "gravity", f"f_ext:{LINKS[1]}", f"f_ext:{LINKS[0]}"]
    names += ["params:mass", "params:com"]
    assert list(inputs_of(call)) == list(all_arrays(call)) == names
    gravity, f_ext = call.forces
    turned = replace(call, forces=(gravity, dict(reversed(f_ext.items()))))
    assert list(inputs_of(turned)) == names


def test_input_shapes_are_those_of_the_arrays() -> None:
    """The shape is that of one environment's slice, or of an array that is common to all."""
    _, arrays = gather(everything())
    for name, shape in input_shapes(everything()).items():
        assert arrays[name].shape in ((B, *shape), shape)


def test_forces_on_all_links_may_be_one_array() -> None:
    """Its shape is (B, nlinks, 6)."""
    call = call_of(f_ext=np.ones((B, MODEL.nlinks, 6)))
    assert input_shapes(call)["f_ext"] == (MODEL.nlinks, 6)
    with pytest.raises(KeyError, match="no link named 'nowhere'"):
        inputs_of(call_of(f_ext={"nowhere": np.ones((B, 6))}))


def test_gravity_of_a_call_overrides_that_of_params() -> None:
    """The gravity of params counts if the call has none."""
    params = MODEL.params(gravity=np.full((B, 3), 2.0))
    assert all_arrays(call_of(params=params))["gravity"][0, 0] == 2.0
    assert all_arrays(call_of(params=params, gravity=np.ones(3)))["gravity"][0] == 1.0
    assert "gravity" not in inputs_of(call_of())


def test_params_must_be_those_of_the_model() -> None:
    """Params of another model are refused by name, and so are other objects."""
    other = wd.load_robot("ur5e")
    with pytest.raises(ValueError, match=f"of {other.name}, not {MODEL.name}; make them with"):
        inputs_of(call_of(params=other.params(mass={other.root: np.ones(B)})))
    heavier = MODEL.with_payload(LINKS[0], 1.0)
    with pytest.raises(ValueError, match="another model of that name"):
        inputs_of(call_of(params=heavier.params(mass={LINKS[0]: np.ones(B)})))
    same = wd.load_robot("panda")
    assert same is not MODEL and same.key == MODEL.key
    assert inputs_of(call_of(params=same.params(mass={LINKS[0]: np.ones(B)})))
    with pytest.raises(TypeError, match=r"params must come from model.params\(...\), got dict"):
        inputs_of(call_of(params={"mass": 1.0}))


def test_choices_have_the_axes_of_inputs_by_velocity() -> None:
    """None without such inputs."""
    call = replace(call_of(), by_velocity=None)
    assert call.choices[-1] is None
    assert replace(call, by_velocity={"f": "axes"}).choices[-1] == {"f": "axes"}  # type: ignore[dict-item]


def test_gathering_inputs_twice_changes_nothing() -> None:
    """A gathered call has the same inputs and the same key."""
    call = everything()
    once = with_all_inputs(call)
    assert gather(call)[0] is gather(call)[0]
    assert once.key == call.key and dict(inputs_of(once)) == dict(inputs_of(call))
    assert list(all_arrays(with_all_inputs(once))) == list(once.arrays) == list(all_arrays(call))
    bare = replace(once, forces=(None, None))
    assert list(inputs_of(bare)) == list(inputs_of(call))


def test_a_derivative_without_its_seeds_is_the_call() -> None:
    """`derive` adds inputs and a derivative, `without_seeds` removes them, the last ones first."""
    call = with_all_inputs(everything())
    forward = derive(call, "jvp", ("v", "params:mass"), {"v": S.v, "params:mass": np.ones((B, 1))})
    assert [x.name for x in forward.derivatives[-1].seeds] == ["seed 0:v", "seed 0:params:mass"]
    back = derive(forward, "vjp", ("q",), {"out": S.v})
    assert [x.name for x in back.derivatives[-1].seeds] == ["seed 1:out"]
    assert list(inputs_of(back)) == [
        *inputs_of(call),
        "seed 0:v",
        "seed 0:params:mass",
        "seed 1:out",
    ]
    for derivative, base in ((forward, call), (back, forward)):
        again = without_seeds(derivative)
        assert again.key == base.key and dict(inputs_of(again)) == dict(inputs_of(base))
        assert list(again.arrays) == list(base.arrays)


def test_results_of_derivatives_have_names_of_inputs_or_results() -> None:
    """Cotangents have the names of inputs, tangents those of results, columns both."""
    call = call_of()
    assert result_names(derive(call, "vjp", ("q", "a"), {"out": S.v})) == ("q", "a")
    assert result_names(derive(call, "jvp", ("q",), {"q": S.q})) == ("out",)
    assert result_names(derive(call, "columns", ("q", "v"))) == ("out by q", "out by v")


def test_the_solution_is_an_input_of_derivatives_of_solvers() -> None:
    """It is as wide as the right side, and with it one of the algorithms is enough."""
    cart = by_name("cartpole").model
    s = states(cart, B)
    call = wd.aba.describe(cart, s.q, s.v, s.a)
    bars = derive(call, "vjp", ("tau",), {"out": s.v}, s.a)
    assert input_shapes(bars)["solution:out"] == (cart.nv,) and len(bars.algorithms) == 1
    assert len(call.algorithms) == 2 and len(algorithms_of(call)) == 4
    assert "solution:out" not in inputs_of(derive(call_of(), "vjp", ("a",), {"out": S.v}, S.a))


def test_inverse_kinematics_has_no_derivatives() -> None:
    """A function that repeats until convergence is refused, with what to do."""
    frame = MODEL.link_names[-1]
    call = wd.inverse_kinematics.describe(MODEL, np.tile(np.eye(4), (B, 1, 1)), frame=frame)
    with pytest.raises(
        TypeError, match=r"inverse_kinematics has no derivatives.*Detach its arrays"
    ):
        derive(call, "jvp", (f"target:{frame}",), {f"target:{frame}": np.zeros((B, 4, 4))})


def test_a_call_takes_four_positional_arguments() -> None:
    """They are name, model, algorithms and arrays."""
    with pytest.raises(TypeError, match="positional"):
        Call("mine", MODEL, (), {}, None)  # type: ignore[misc]


def test_labels_name_the_function_and_the_robot() -> None:
    """The label of a derivative names the function, too."""
    assert wd.rnea.describe(MODEL, S.q, S.v, S.a).label == "rnea for panda"
    vjp = wd.vjp.describe(wd.rnea, MODEL, S.q, S.v, S.a, cotangents=S.tau)
    assert vjp.label == "vjp of rnea for panda"


@wd.kernel
def entry(robot: Any, q: Any, heights: wd.kernels.table((4, 5))) -> Any:  # type: ignore[valid-type]
    """One entry of a table, times a coordinate."""
    return heights.look(1, 2) * q[0]


def test_a_table_has_only_first_derivatives_by_vjp_and_jvp() -> None:
    """A second derivative by a table is refused, and so are its columns, alone or with other
    inputs."""
    call = entry.describe(MODEL, S.q, np.zeros((4, 5)))
    message = "by heights, a table, there are first derivatives, by wd.vjp and wd.jvp"
    with pytest.raises(TypeError, match=message):
        derive(call, "columns", ("q", "heights"))
    for first, second in (("q", "heights"), ("heights", "q")):
        back = derive(call, "vjp", (first,), {"out": np.ones(B)})
        with pytest.raises(TypeError, match=message):
            derive(back, "vjp", (second,), {first: S.q})


def test_a_record_has_an_entry_for_each_result() -> None:
    """The array of a single result is passed whole."""
    call = call_of()
    assert call.user_result(S.q) is S.q
    one = replace(call, named=lambda *results: results)
    assert len(call.results) == 1 and one.user_result(S.q) == (S.q,)
    two = replace(one, results=("pose", "jacobian"))
    assert two.user_result((S.q, S.v)) == (S.q, S.v)
