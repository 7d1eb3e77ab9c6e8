"""Parameters that differ between environments: each environment equals the model rebuilt with its
own numbers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from ball_beside import ball_beside
from devices import DeviceArray
from hand_made_urdf import joint, link, urdf
from programs import evaluate
from robots import Robot, by_name
from states import error, states
from varied_rig import (
    LINK_NUMBERS,
    MASSLESS_EFFECTS,
    RIG,
    RIG_TEXT,
    ROUND_OFF,
    random_values,
    rebuilt,
)

import warpdyn as wd
from warpdyn.execution import batched
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import all_arrays, input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.functions.inverse_kinematics import inverse_kinematics

FREE_RIG = Robot("rig", RIG_TEXT, floating=True).model.rename(name="free_rig")


def signature(function: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


FUNCTIONS = [
    function
    for function in (*batched.FUNCTIONS.values(), wd.vjp, wd.jvp, wd.derivatives)
    if "params" in signature(function)
    if function is not wd.inverse_kinematics  # it repeats
]

OPTIONS = {
    **{"frame": "slider", "subtree": "tool"},
    "points": (wd.ContactPoint("slider", (0.1, 0.0, 0.2), 0.05),),
}


def arguments(
    function: Any, model: wd.Model, count: int
) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Random arrays that a function takes, and its required options."""
    s = states(model, count)
    parameters = signature(function).values()
    arrays = {"q": s.q, "v": s.v, "a": s.a, "tau": s.tau, "b": s.tau}
    arrays |= {"momentum": s.a, "rate": s.tau, "external": s.v}
    arrays |= {"forces": np.ones((count, 1, 3)), "pattern": np.array([[0.1, 0.2], [0.3, -0.1]])}
    options = {p.name: OPTIONS[p.name] for p in parameters if p.name in OPTIONS}
    if function is wd.state_derivative:
        options["ground"] = wd.SoftGround()
    if function is wd.pair_distances:
        options["pairs"] = [ball_beside("slider")]
    return [
        arrays[p.name] for p in parameters if p.default is p.empty and p.name in arrays
    ], options


@pytest.mark.parametrize(
    ("function", "model"),
    [
        (f, model)
        for f in FUNCTIONS
        for model in (RIG, FREE_RIG)
        if model.nv > 5 or "part" not in signature(f)
    ],
    ids=lambda x: getattr(x, "__name__", None) or x.name,
)
def test_each_environment_equals_the_model_rebuilt_with_its_numbers(
    function: Any, model: wd.Model
) -> None:
    """The recorded program varies everything: links fixed to the root, lumped links, mimic
    joints."""
    values = random_values(
        model,
        2,
        *LINK_NUMBERS,
        *("placement", "axis", "armature", "viscous", "coulomb", "spring", "rest"),
        *MASSLESS_EFFECTS,
    )
    check_environments(function, model, values)


@pytest.mark.parametrize(
    "function", [wd.rnea, wd.crba, wd.aba, wd.momentum], ids=lambda function: function.__name__
)
@pytest.mark.parametrize("name", ["panda", "slides"])
def test_inertias_of_links_with_common_axes_may_be_summed_first(function: Any, name: str) -> None:
    """Those of fingers and hand, and of links on a slide of the floor, do not rotate relative to
    each other."""
    model = by_name(name).model
    check_environments(function, model, random_values(model, 2, *LINK_NUMBERS))
    check_environments(function, model, random_values(model, 2, "inertia"))


def check_environments(
    function: Any, model: wd.Model, values: Mapping[str, Mapping[str, np.ndarray]]
) -> None:
    """Compare the recorded program with the rebuilt models of two environments."""
    arrays, options = arguments(function, model, 2)
    params = model.params(**values)
    call = describe_call(function, (model, *arrays), {**options, "params": params})
    inputs = all_arrays(call)
    program = record_call(call, input_shapes(call), False)
    shapes = input_shapes(call)
    for e in range(2):
        # What serves all environments has no row for each.
        here = {n: x[e] if np.ndim(x) > len(shapes[n]) else x for n, x in inputs.items()}
        if program.routines:  # whose loops are no printed lines
            results = program.on_numbers({n: np.asarray(x).tolist() for n, x in here.items()})
            found = [x for each in results.values() for x in np.ravel(each)]
        else:
            found = evaluate(program, here)
        each_array = [x if function is wd.height_scan and x is arrays[1] else x[e] for x in arrays]
        own = wd.oracle(function, rebuilt(model, values, e), *each_array, **options)
        own = own if isinstance(own, tuple) else (own,)
        wanted = np.concatenate([np.ravel(x) for x in own])
        assert error(np.array(found), wanted) <= 100 * ROUND_OFF["float64"]


@pytest.mark.parametrize(
    "function", [wd.rnea, wd.aba, wd.crba, wd.com, wd.fk], ids=lambda f: f.__name__
)
def test_kernels_read_each_environments_numbers(
    function: Any, dtype: np.dtype, device: str
) -> None:
    """There are 19 environments. Some of the links and joints vary, and some values are common to
    all."""
    arrays, options = arguments(function, RIG, 19)
    values = random_values(RIG, 19, *LINK_NUMBERS, "placement", "axis", "armature")
    values["mass"].pop("arm")
    values["com"] = {"tool": values["com"]["tool"]}
    values["inertia"].pop("pedestal")
    values["placement"].pop("elbow")
    rounded = {
        q: {n: x.astype(dtype).astype(float) for n, x in by_name.items()}
        for q, by_name in values.items()
    }
    rounded["mass"]["mirror"] = np.full(19, 0.5)
    wanted = [
        wd.oracle(
            function,
            rebuilt(RIG, rounded, e),
            *(x[e].astype(dtype).astype(float) for x in arrays),
            **options,
        )
        for e in range(19)
    ]
    placed = {
        q: {n: DeviceArray(x.astype(dtype), device).array for n, x in by_name.items()}
        for q, by_name in values.items()
    }
    placed["mass"]["mirror"] = 0.5
    options["params"] = RIG.params(**placed)
    out = DeviceArray(np.full((19, *wanted[0].shape), np.nan, dtype), device)
    function(
        RIG, *(DeviceArray(x.astype(dtype), device).array for x in arrays), out=out.array, **options
    )
    assert error(out.back(), np.array(wanted)) <= ROUND_OFF[str(dtype)] * (
        20 if function is wd.aba else 1
    )


def test_a_payload_can_be_added_and_removed_between_launches() -> None:
    """A frame with params of its own is the load. Nothing is recorded again."""
    model = RIG.with_frame("payload", "slider", (0.0, 0.1, 0.05))
    s = states(model, 8)
    none = {
        "mass": {"payload": 0.0},
        "com": {"payload": (0.0, 0.0, 0.0)},
        "inertia": {"payload": [0.0] * 6},
    }
    params = model.params(8, **none)
    run = wd.bind(wd.rnea, model, s.q, s.v, s.a, params=params)
    empty = wd.rnea(RIG, s.q, s.v, s.a)
    assert error(run(), empty) <= ROUND_OFF["float64"]
    params["mass"][3] = 2.0
    params["com"][3] = (0.01, 0.02, 0.03)
    params["inertia"][3] = (0.02, 0.001, 0.0, 0.03, 0.0, 0.04)
    loaded = model.with_link_mass("payload", 2.0).with_link_inertia(
        "payload", [[0.02, 0.001, 0.0], [0.001, 0.03, 0.0], [0.0, 0.0, 0.04]], (0.01, 0.02, 0.03)
    )
    wanted = empty.copy()
    wanted[3] = wd.rnea(loaded, s.q[3], s.v[3], s.a[3])
    assert error(run(), wanted) <= ROUND_OFF["float64"]
    for quantity in none:
        params[quantity][:] = 0.0
    assert error(run(), empty) <= ROUND_OFF["float64"]


def test_params_can_give_mass_to_a_massless_robot() -> None:
    """Functions that need a mass are then defined."""
    model = Robot(
        "twig", urdf("twig", link("base"), link("rod"), joint("turn", "continuous", "base", "rod"))
    ).model
    q = np.zeros((3, 1))
    with pytest.raises(wd.ModelError, match="no link has mass"):
        wd.com(model, q)
    mass, com = np.array([1.0, 2.0, 3.0]), np.array([(1.0, 0.0, 0.0)] * 3)
    params = model.params(
        mass={"rod": mass}, com={"rod": com}, inertia={"rod": np.full((3, 6), 0.0)}
    )
    turned = wd.com(model, q, params=params)
    assert error(np.linalg.norm(turned, axis=1), np.ones(3)) <= ROUND_OFF["float64"]
    assert (
        error(
            wd.aba(model, q, q, np.ones((3, 1)), params=params, gravity=(0, 0, 0)),
            1 / wd.oracle(wd.crba, model, q, params=params)[:, 0],
        )
        <= ROUND_OFF["float64"]
    )


def test_inverse_kinematics_uses_each_environments_robot() -> None:
    """The robot of each environment reaches its target."""
    model = by_name("panda").model
    draw = np.random.default_rng(1)
    place = np.tile(
        [
            *model.joint("panda_joint4").pose.position,
            *wd.convert.matrix_to_quaternion(np.array(model.joint("panda_joint4").pose.rotation)),
        ],
        (4, 1),
    )
    place[:, :3] += draw.uniform(-0.05, 0.05, (4, 3))
    params = model.params(placement={"panda_joint4": place})
    q = model.neutral + np.array([0.1, 0.3, 0.2, -1.5, 0.1, 1.6, 0.4, 0.0])
    targets = wd.fk(model, np.tile(q, (4, 1)), frame="panda_hand", params=params)
    near = np.tile(q + 0.1, (4, 1))
    found = inverse_kinematics(model, targets, frame="panda_hand", q0=near, params=params)
    reached = wd.fk(model, found.q, frame="panda_hand", params=params)
    assert (
        np.abs(reached - targets).max() < 1e-3
    )  # its default tolerance; the robots differ by 0.05


def operations(model: wd.Model, function: Any = wd.rnea, arrays: int = 3, **varied: Any) -> int:
    params = model.params(**varied) if varied else None
    call = describe_call(function, (model, *[...] * arrays), {"params": params})
    return record_call(call, input_shapes(call), True).operations


def test_fixed_numbers_add_no_operations() -> None:
    """Params that do not influence a result leave the program unchanged. A number that varies adds
    only its own arithmetic."""
    panda = by_name("panda").model
    plain = operations(panda)
    empty = describe_call(wd.rnea, (panda, ..., ..., ...), {"params": panda.params()})
    assert record_call(empty, input_shapes(empty), True).operations == plain
    assert operations(panda, mass={"panda_link0": 1.0}) == plain  # bolted to the floor
    assert operations(panda, armature={"panda_joint3": 0.1}) == plain + 2
    assert operations(panda, mass={"panda_link5": 1.0}) <= 1.06 * plain
    assert operations(panda, wd.fk, 1, mass=1.0, com=np.ones((13, 3))) == operations(
        panda, wd.fk, 1
    )


def test_varying_all_inertias_adds_half_of_the_operations() -> None:
    """Mass, centre and inertia of every link of panda that has mass vary."""
    panda = by_name("panda").model
    links = [x.name for x in panda.links if x.mass]
    own = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)}
    varied = {quantity: dict.fromkeys(links, value) for quantity, value in own.items()}
    assert operations(panda, **varied) <= 1.45 * operations(panda)


def test_replaced_arrays_use_the_same_program() -> None:
    """Only the numbers differ."""
    s = states(RIG, 4)
    heavy = RIG.params(mass={"arm": np.full(4, 9.0)})
    light = heavy.replace(mass=np.full((4, 1), 1.2))
    assert error(wd.com(RIG, s.q, params=light), wd.com(RIG, s.q)) <= ROUND_OFF["float64"]
    assert heavy["mass"][0, 0] == 9.0 and "params:mass" in all_arrays(
        wd.com.describe(RIG, s.q, params=light)
    )


@pytest.mark.parametrize("wrong", ["panda", 7, type(RIG)])
def test_params_of_something_other_than_a_model_are_refused(wrong: Any) -> None:
    """The message names the argument and what to call."""
    with pytest.raises(
        TypeError, match=r"must be a Model, got .*made by a model: .*params"
    ) as info:
        wd.Params(wrong, {}, {})
    assert repr(wrong) in str(info.value)
    given = RIG.params(mass={"slider": 2.0})
    assert wd.Params(RIG, given.arrays, given.names)["mass"] is given["mass"]


@pytest.mark.parametrize("number", [2, np.float32(2), np.int64(2)])
def test_one_number_may_apply_to_all_links(number: Any) -> None:
    found = RIG.params(mass=number, envs=3)["mass"]
    assert np.array_equal(found, RIG.params(mass=2.0, envs=3)["mass"]) and (found == 2.0).all()
