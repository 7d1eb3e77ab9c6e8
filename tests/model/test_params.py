"""Parameters that differ between environments: each environment is the model rebuilt with its own numbers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, host, made, usable
from devices import Placed, assert_same
from programs import evaluate
from robots import Robot, by_name, joint, link, urdf
from states import error, states

import warpdyn as wd
from warpdyn.execution import batched
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import all_arrays, input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.functions.inverse_kinematics import inverse_kinematics
from warpdyn.model.description import unit_vector

ROUND_OFF = {"float64": 1e-13, "float32": 1e-5}
"""Relative to the largest entry."""

RIG_TEXT = urdf(
    "rig",
    link("pedestal", 5.0, (0.1, 0.05, 0.3)),
    link("arm", 1.2, (0.2, 0.02, 0.1)),
    link("tool", 0.6, (0.01, 0.05, 0.1)),
    link("slider", 0.4, (0.03, 0, 0.05)),
    link("mirror", 0.3, (0.05, -0.02, 0.1)),
    joint("elbow", "revolute", "pedestal", "arm", (0, 0, 0.6), (0.2, 0.3, 0), axis=(0, 1, 0)),
    joint("flange", "fixed", "arm", "tool", (0.4, 0, 0), (0.5, -0.3, 0.2)),
    joint("feed", "prismatic", "tool", "slider", (0, 0, 0.2), (0, 0.4, 0), axis=(1, 0, 0)),
    joint(
        "follow",
        "revolute",
        "arm",
        "mirror",
        (0.1, 0.2, 0),
        axis=(0, 0, -1),
        mimic=("elbow", -0.5, 0.3),
    ),
)
RIG = Robot("rig", RIG_TEXT).model.with_friction(viscous=0.1)
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
MASSLESS_EFFECTS = {"stiffness": 30.0, "damping": 2.0}
LINK_NUMBERS = ("mass", "com", "inertia")


def numbers(model: wd.Model, quantity: str, count: int, seed: int = 0) -> np.ndarray:
    """(count, k, ..) for all links, or joints, of the model: near its own where it has some."""
    draw = np.random.default_rng([seed, len(quantity)])
    links, joints = model.links, model.joints

    def near(values: Any, spread: float) -> np.ndarray:
        values = np.array(values, dtype=float)
        return values + draw.uniform(-spread, spread, (count, *values.shape))

    if quantity == "mass":
        return np.abs(near([x.mass for x in links], 0.1))
    if quantity == "com":
        return near([x.com for x in links], 0.05)
    if quantity == "inertia":
        upper = np.triu_indices(3)
        return near([np.array(x.inertia)[upper] for x in links], 1e-3)
    if quantity == "placement":
        turn = near(np.tile([0.1, -0.2, 0.3, 0.9], (len(joints), 1)), 0.2)
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
        return np.concatenate([near([x.pose.position for x in joints], 0.1), turn], axis=-1)
    if quantity == "axis":
        return draw.normal(size=(count, len(joints), 3))
    return draw.uniform(0.1, 0.4, (count, len(joints)))


def given(model: wd.Model, count: int, *quantities: str) -> dict[str, dict[str, np.ndarray]]:
    """By quantity and name, for links and joints that have a use for it."""
    found = {}
    for quantity in quantities:
        owners = model.links if quantity in LINK_NUMBERS else model.joints
        values = numbers(model, quantity, count)
        found[quantity] = {
            owner.name: values[:, k]
            for k, owner in enumerate(owners)
            if quantity in (*LINK_NUMBERS, "placement") or owner.kind.nv
            if quantity not in ("stiffness", "damping") or owner.bounded
            if quantity not in ("axis", "rest") or owner.kind.single
            if quantity != "spring" or owner.kind.elastic
        }
    return found


def rebuilt(model: wd.Model, values: Mapping[str, Mapping[str, np.ndarray]], e: int) -> wd.Model:
    """The model with the numbers of environment e."""
    own = {
        quantity: {name: x[e] for name, x in by_name.items()}
        for quantity, by_name in values.items()
    }

    def changed_link(old: wd.Link) -> wd.Link:
        new = {}
        if old.name in own.get("mass", {}):
            new["mass"] = float(own["mass"][old.name])
        if old.name in own.get("com", {}):
            new["com"] = tuple(own["com"][old.name].tolist())
        if old.name in own.get("inertia", {}):
            xx, xy, xz, yy, yz, zz = own["inertia"][old.name].tolist()
            new["inertia"] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        return replace(old, **new)

    def changed_joint(old: wd.Joint) -> wd.Joint:
        pose = own.get("placement", {}).get(old.name)
        axis = own.get("axis", {}).get(old.name)
        old = old if pose is None else replace(old, pose=wd.description.Pose.of(pose))
        return old if axis is None else replace(old, axis=unit_vector(axis))

    model = replace(
        model,
        links=tuple(map(changed_link, model.links)),
        joints=tuple(map(changed_joint, model.joints)),
    )
    if "armature" in own:
        model = model.with_armature({name: float(x) for name, x in own["armature"].items()})
    for method, quantities in (
        ("with_friction", ("viscous", "coulomb")),
        ("with_limit_springs", MASSLESS_EFFECTS),
        ("with_springs", ("spring", "rest")),
    ):
        values = {q: {name: float(x) for name, x in own[q].items()} for q in quantities if q in own}
        model = getattr(model, method)(**values) if values else model
    return model


def arguments(
    function: Any, model: wd.Model, count: int
) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Random arrays that a function takes, and the options that it cannot do without."""
    s = states(model, count)
    parameters = signature(function).values()
    arrays = {"q": s.q, "v": s.v, "a": s.a, "tau": s.tau, "b": s.tau}
    arrays |= {"momentum": s.a, "rate": s.tau, "external": s.v}
    arrays |= {"forces": np.ones((count, 1, 3)), "pattern": np.array([[0.1, 0.2], [0.3, -0.1]])}
    options = {p.name: OPTIONS[p.name] for p in parameters if p.name in OPTIONS}
    if function is wd.state_derivative:
        options["ground"] = wd.SoftGround()
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
def test_each_environment_is_a_model_of_its_own(function: Any, model: wd.Model) -> None:
    """What is recorded with everything varied gives, on each environment's numbers, the results of the model rebuilt
    with them: root-fixed links, lumped links, mimic joints."""
    values = given(
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
def test_spreads_of_links_that_do_not_turn_against_each_other(function: Any, name: str) -> None:
    """They may be added up before they are used: the fingers' and the hand's, those on a slide of the floor."""
    model = by_name(name).model
    check_environments(function, model, given(model, 2, *LINK_NUMBERS))
    check_environments(function, model, given(model, 2, "inertia"))


def check_environments(
    function: Any, model: wd.Model, values: Mapping[str, Mapping[str, np.ndarray]]
) -> None:
    """What is recorded against the rebuilt models of two environments."""
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
    """19 environments, a part of the links and joints, one value for all in between."""
    arrays, options = arguments(function, RIG, 19)
    values = given(RIG, 19, *LINK_NUMBERS, "placement", "axis", "armature")
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
        q: {n: Placed(x.astype(dtype), device).array for n, x in by_name.items()}
        for q, by_name in values.items()
    }
    placed["mass"]["mirror"] = 0.5
    options["params"] = RIG.params(**placed)
    out = Placed(np.full((19, *wanted[0].shape), np.nan, dtype), device)
    function(
        RIG, *(Placed(x.astype(dtype), device).array for x in arrays), out=out.array, **options
    )
    assert error(out.back(), np.array(wanted)) <= ROUND_OFF[str(dtype)] * (
        20 if function is wd.aba else 1
    )


def placed_like(library: str, device: str) -> Any:
    usable(library, device)
    if library == "numpy":
        return lambda x: x
    if library == "warp":
        return lambda x: wp.array(np.ascontiguousarray(x), dtype=wp.float32, device=device)
    if library == "torch":
        return partial(pytest.importorskip("torch").tensor, device=device)
    jax = pytest.importorskip("jax")
    return jax.numpy.asarray


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "warp"])
def test_libraries(library: str, device: str) -> None:
    """Values by name and whole arrays of any library, with numbers among them; results are of that library."""
    place, s = placed_like(library, device), states(RIG, 19)
    s = [x.astype(np.float32) for x in (s.q, s.v, s.a)]
    values = {
        q: {n: x.astype(np.float32) for n, x in by.items()}
        for q, by in given(RIG, 19, *LINK_NUMBERS).items()
    }
    values["mass"]["tool"] = np.float32(0.7)
    whole = numbers(RIG, "placement", 19).astype(np.float32)
    wanted = wd.rnea(RIG, *s, params=RIG.params(**values, placement=whole))
    placed = {
        q: {n: x if x.ndim == 0 else place(x) for n, x in by_name.items()}
        for q, by_name in values.items()
    }
    placed["mass"]["tool"] = 0.7
    params = RIG.params(**placed, placement=place(whole))
    assert type(params["com"]) is type(place(whole)) and tuple(params["com"].shape) == (19, 5, 3)
    found = wd.rnea(RIG, *map(place, s), params=params)
    assert type(found) is type(place(whole))
    assert_same(host(found), wanted, device)


def test_values_for_all_environments() -> None:
    """A single value is one for all; where all values are single, so is the array, unless `envs` asks for room."""
    s = states(RIG, 19)
    single = {
        q: {n: x[0] for n, x in by_name.items()}
        for q, by_name in given(RIG, 1, *LINK_NUMBERS).items()
    }
    shared, roomy = RIG.params(**single), RIG.params(19, **single)
    assert shared["com"].shape == (5, 3) and roomy["com"].shape == (19, 5, 3)
    wanted = wd.oracle(
        wd.rnea,
        rebuilt(RIG, {q: {n: x[None] for n, x in by.items()} for q, by in single.items()}, 0),
        s.q,
        s.v,
        s.a,
    )
    for params in (shared, roomy):
        assert error(wd.rnea(RIG, s.q, s.v, s.a, params=params), wanted) <= ROUND_OFF["float64"]
    one = wd.rnea(RIG, s.q[0], s.v[0], s.a[0], params=shared)
    assert error(one, wanted[0]) <= ROUND_OFF["float64"]
    assert (
        error(wd.oracle(wd.rnea, RIG, s.q[0], s.v[0], s.a[0], params=shared), wanted[0])
        <= ROUND_OFF["float64"]
    )


def test_any_memory_will_do() -> None:
    """Rows of one environment, environments side by side, every other entry: the same results."""
    s, values = states(RIG, 19), {q: numbers(RIG, q, 19) for q in LINK_NUMBERS}
    wanted = wd.rnea(RIG, s.q, s.v, s.a, params=RIG.params(**values))
    side_by_side = {
        q: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
        for q, x in values.items()
    }
    spaced = {q: np.repeat(x, 2, axis=-1)[..., ::2] for q, x in values.items()}
    backwards = {q: np.ascontiguousarray(x[::-1])[::-1] for q, x in values.items()}
    for arrays in (side_by_side, spaced, backwards):
        assert error(wd.rnea(RIG, s.q, s.v, s.a, params=RIG.params(**arrays)), wanted) <= 1e-15


def test_values_by_name_lie_side_by_side() -> None:
    """Neighbouring environments are neighbours in memory, rows no multiple of 1 KiB apart."""
    params = RIG.params(
        1024, mass={"tool": 1.0, "arm": 2.0}, com={"tool": (0.1, 0.2, 0.3)}, dtype=np.float32
    )
    assert params["com"].strides[0] == 4 and params["com"].strides[2] % 1024
    assert np.array_equal(params["mass"][5], [2.0, 1.0])  # in the order of the model


def test_gravity_of_each_environment() -> None:
    """As the argument `gravity`, which comes first."""
    s = states(RIG, 19)
    params = RIG.params(gravity=s.gravity)
    assert np.array_equal(
        wd.rnea(RIG, s.q, s.v, s.a, params=params), wd.rnea(RIG, s.q, s.v, s.a, gravity=s.gravity)
    )
    still = wd.rnea(RIG, s.q, s.v, s.a, gravity=(0, 0, 0), params=params)
    assert np.array_equal(still, wd.rnea(RIG, s.q, s.v, s.a, gravity=(0, 0, 0)))
    assert error(wd.com(RIG, s.q, params=params), wd.com(RIG, s.q)) == 0.0


def test_payload_comes_and_goes() -> None:
    """A frame with params of its own is a load that is put on and taken off between launches, without another
    recording."""
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


def test_what_a_massless_link_may_become() -> None:
    """Functions that a model without the mass is refused are defined where params give it."""
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


def test_inverse_kinematics_of_each_environments_robot() -> None:
    """Targets are reached by the robot that each environment has."""
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


# What it costs.


def operations(model: wd.Model, function: Any = wd.rnea, arrays: int = 3, **varied: Any) -> int:
    params = model.params(**varied) if varied else None
    call = describe_call(function, (model, *[...] * arrays), {"params": params})
    return record_call(call, input_shapes(call), True).operations


def test_what_does_not_vary_costs_nothing() -> None:
    """No params, or those that have no effect on a result, leave the program as it is; one number that varies adds the
    arithmetic on it."""
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


def test_all_inertias_varied_cost_half_as_much_again() -> None:
    """Mass, centre and inertia of every link of panda that has mass: numbers that vary are used as they are."""
    panda = by_name("panda").model
    links = [x.name for x in panda.links if x.mass]
    own = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.0, 0.0, 0.1, 0.0, 0.1)}
    varied = {quantity: dict.fromkeys(links, value) for quantity, value in own.items()}
    assert operations(panda, **varied) <= 1.45 * operations(panda)


# What is refused.

REFUSED = {
    "unknown link": (
        {"mass": {"sliderr": 1.0}},
        KeyError,
        "no link named 'sliderr'; did you mean 'slider'",
    ),
    "unknown joint": (
        {"armature": {"elbo": 1.0}},
        KeyError,
        "no joint named 'elbo'; did you mean 'elbow'",
    ),
    "no name": ({"mass": {}}, ValueError, "mass varies for nothing: give at least one name"),
    "too wide": (
        {"mass": {"arm": np.ones((3, 2))}},
        ValueError,
        r'mass of "arm" must be a number or \(B,\), got \(3, 2\)',
    ),
    "too narrow": (
        {"com": {"arm": 1.0}},
        ValueError,
        r'com of "arm" must be \(3,\) or \(B, 3\), got \(\)',
    ),
    "not six": (
        {"inertia": {"arm": np.eye(3)[:2]}},
        ValueError,
        r"must be \(6,\) or \(B, 6\), got \(2, 3\)",
    ),
    "not all links": (
        {"mass": np.ones((3, 4))},
        ValueError,
        r"an array \(B, 5\), for the 5 links of rig; got \(3, 4\)",
    ),
    "not alike": (
        {"mass": {"arm": np.ones(3), "tool": np.ones(4)}},
        ValueError,
        'mass is for different numbers of environments: "arm": 3, "tool": 4',
    ),
    "not together": (
        {"mass": {"arm": np.ones(3)}, "com": {"arm": np.ones((4, 3))}},
        ValueError,
        "different numbers of environments: mass: 3, com: 4",
    ),
    "not envs": ({"envs": 5, "mass": {"arm": np.ones(3)}}, ValueError, 'envs: 5, "arm": 3'),
    "not gravity": (
        {"mass": {"arm": np.ones(3)}, "gravity": np.ones((2, 3))},
        ValueError,
        "mass: 3, gravity: 2",
    ),
    "fixed": (
        {"armature": {"flange": 1.0}},
        ValueError,
        'joint "flange" of rig is fixed; armature belongs to a moving',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_params_refuse(case: str) -> None:
    """What is needed, what arrived, what to do."""
    wrong, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        RIG.params(**wrong)


def test_springs_need_limits() -> None:
    with pytest.raises(
        ValueError, match='"turn" of single has no position limits for stiffness to act beyond'
    ):
        by_name("single").model.params(stiffness={"turn": 3.0})


def test_what_a_call_refuses() -> None:
    """Params of another model, of another number of environments, of another dtype; names that do not vary."""
    s, params = states(RIG, 3), RIG.params(mass={"arm": np.ones(4)})
    with pytest.raises(ValueError, match=r"mass.* must be \(B, 1\) = \(3, 1\), got \(4, 1\)"):
        wd.rnea(RIG, s.q, s.v, s.a, params=params)
    with pytest.raises(TypeError, match=r"q is float32, .*mass.* is float64"):
        wd.com(RIG, s.q.astype(np.float32), params=params)
    with pytest.raises(ValueError, match="these params are of rig, another model of that name"):
        wd.com(RIG.with_frame("tip", "arm", (0, 0, 1)), s.q, params=params)
    with pytest.raises(ValueError, match="these params are of rig, not single"):
        wd.com(by_name("single").model, np.zeros((4, 1)), params=params)
    with pytest.raises(KeyError, match="no varying quantity named 'com'"):
        params["com"]
    with pytest.raises(KeyError, match="no varying quantity named 'com'"):
        params.replaced(com=np.ones((4, 1, 3)))


def test_replaced_arrays() -> None:
    """The same program, other numbers."""
    s = states(RIG, 4)
    heavy = RIG.params(mass={"arm": np.full(4, 9.0)})
    light = heavy.replaced(mass=np.full((4, 1), 1.2))
    assert error(wd.com(RIG, s.q, params=light), wd.com(RIG, s.q)) <= ROUND_OFF["float64"]
    assert heavy["mass"][0, 0] == 9.0 and "params:mass" in all_arrays(
        wd.com.describe(RIG, s.q, params=light)
    )


# Rows, resets and kinds.

PANDA = by_name("panda").model
DRAWS: dict[str, Any] = {
    "mass": wd.random.scale(0.8, 1.2),
    "armature": {"panda_joint[1-4]": wd.random.add(0.05, 0.1)},
    "gravity": wd.random.add(-0.1, 0.1),
}
MASK = np.array([True, False, False, True, False, False])


def drawn(library: str, seed: int = 1, device: str = "cpu") -> wd.Params:
    """Six robots drawn at random, in a library's float64 arrays."""
    usable(library, device)
    like = made(library, np.zeros(1), device)
    return wd.randomise(PANDA, 6, seed=seed, like=like, **DRAWS)


def same(a: wd.Params, b: Mapping[str, np.ndarray]) -> bool:
    """All that varies has these numbers."""
    return all(np.array_equal(host(a[quantity]), x) for quantity, x in b.items())


def hosted(params: wd.Params) -> dict[str, np.ndarray]:
    names = ("mass", "inertia", "armature", "gravity")
    return {quantity: host(params[quantity]).copy() for quantity in names}


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_of_params(library: str, device: str) -> None:
    """p[idx] are the robots of those rows: their torques are those rows of all torques."""
    params, q = drawn(library, device=device), wd.random_configuration(PANDA, 6)
    whole, numbers = wd.oracle(wd.rnea, PANDA, q, None, None, params=params), hosted(params)
    for index in (np.array([4, 1, -1]), MASK, MASK.tolist(), [0, 2], [], slice(1, 6, 2), 3):
        some = params[index]
        chosen = np.array(index, int) if isinstance(index, list) and not index else index
        assert isinstance(some, wd.Params) and some.names == params.names
        assert same(some, {quantity: x[chosen] for quantity, x in numbers.items()})
        rows = [made(library, q[chosen], device=device), None, None]
        tau = host(wd.rnea(PANDA, *rows, params=some))
        assert error(tau, whole[chosen], np.ones(1)) <= ROUND_OFF["float64"]
    assert params.envs == 6 and params[3].envs is None
    own = made(library, np.array([4, 1], np.int32), device=device)
    assert same(params[own], {quantity: x[[4, 1]] for quantity, x in numbers.items()})


def test_rows_leave_what_serves_all() -> None:
    """And read where environments lie side by side, as they do in the params of them."""
    some = PANDA.params(mass={"panda_hand": np.arange(1.0, 7.0)}, com={"panda_hand": (0, 0, 0.1)})
    assert some["com"].shape == (1, 3) and some[MASK]["com"] is some["com"]
    assert some[MASK]["mass"][:, 0].tolist() == [1.0, 4.0]
    few = drawn("numpy")[MASK]
    assert few["inertia"].strides[0] == few["inertia"].itemsize


def test_what_rows_refuse() -> None:
    """Masks of another length, entries instead of rows, and going through params."""
    params = drawn("numpy")
    for wrong, kind, words in (
        (MASK[:3], ValueError, r"entry for each environment: \(6,\); got \(3,\)"),
        ((0, 1), TypeError, r'p\["mass"\]\[idx, k\]'),
        (None, TypeError, "by a quantity or by rows"),
        (6, IndexError, "out of bounds"),
    ):
        with pytest.raises(kind, match=words):
            params[wrong]
    with pytest.raises(TypeError, match="not iterable"):
        list(params)
    with pytest.raises(KeyError, match="no varying quantity named 'gravity'"):
        PANDA.params(mass={"panda_hand": 1.0})["gravity"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_reset_copies_rows(library: str, device: str) -> None:
    """Where the mask holds, the fresh robots; in place, where a bound call reads them, but for
    JAX."""
    params, fresh = (drawn(library, seed, device) for seed in (1, 2))
    old, new = hosted(params), hosted(fresh)
    q = made(library, wd.random_configuration(PANDA, 6), device=device)
    in_place = library != "jax"
    run = wd.bind(wd.gravity_torques, PANDA, q, params=params) if in_place else None
    after = params.reset(made(library, MASK, device=device), fresh)
    wanted = {
        name: np.where(MASK.reshape(-1, *[1] * (x.ndim - 1)), new[name], x)
        for name, x in old.items()
    }
    assert same(after, wanted) and same(params, wanted if in_place else old)
    if run is not None:
        expected = host(wd.gravity_torques(PANDA, q, params=after))
        assert np.array_equal(host(run()), expected)
    from_numpy = params.reset(np.ones(6, bool), drawn("numpy", seed=3).to("float32"))
    assert same(from_numpy, hosted(drawn("numpy", seed=3).to("float32")))


def test_what_reset_refuses() -> None:
    """Masks that are none, params that vary in something else, rows that are not there."""
    params = drawn("numpy")
    with pytest.raises(
        TypeError, match=r"mask must be booleans \(B,\), got int64; such as done > 0"
    ):
        params.reset(MASK.astype(int), params)
    with pytest.raises(ValueError, match=r"entry for each environment: \(6,\); got \(2,\)"):
        params.reset([True, False], params)
    with pytest.raises(ValueError, match="fresh must vary what these params do"):
        params.reset(MASK, PANDA.params(6, mass=1.0))
    with pytest.raises(ValueError, match=r"mass of fresh must be \(6, 11\).*got \(2, 11\)"):
        params.reset(MASK, params[MASK])
    mixed = PANDA.params(mass={"panda_hand": np.ones(6)}, armature={"panda_joint1": 0.1})
    mixed = mixed.replaced(armature=mixed["armature"])
    with pytest.raises(ValueError, match=r"armature \(1,\) serves all environments"):
        mixed.reset(MASK, mixed)


@pytest.mark.parametrize("library", LIBRARIES)
def test_params_move_to_another_dtype(library: str, device: str) -> None:
    """`.to("float32")`, and any library's word for it."""
    params = drawn(library, device=device)
    numbers = hosted(params)
    for dtype in ("float32", np.float32):
        small = params.to(dtype, device=device)
        assert same(small, {name: x.astype(np.float32) for name, x in numbers.items()})
    q = made(library, np.zeros((6, PANDA.nq), np.float32), device=device)
    assert host(wd.gravity_torques(PANDA, q, params=small)).dtype == np.float32
    with pytest.raises(TypeError, match="dtype must be float32 or float64, got int32"):
        params.to("int32")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_params_follow_the_arrays(library: str, dtype: Any, device: str) -> None:
    """Plain numbers are of the kind of the arrays beside them, or of `like`; gravity too."""
    usable(library, device=device)
    q = made(library, wd.random_configuration(PANDA, 6).astype(dtype), device=device)
    mass = made(library, np.linspace(0.5, 1.0, 6).astype(dtype), device=device)
    wanted = PANDA.params(
        mass={"panda_hand": np.linspace(0.5, 1.0, 6)}, com={"panda_hand": (0.0, 0.1, 0.2)}
    )
    tau = wd.oracle(wd.gravity_torques, PANDA, q, params=wanted, gravity=(0, 0, -3.0))
    scale = ROUND_OFF[np.dtype(dtype).name]
    for params in (
        PANDA.params(
            6, mass={"panda_hand": mass}, com={"panda_hand": (0.0, 0.1, 0.2)}, gravity=[0, 0, -3.0]
        ),
        PANDA.params(
            mass={"panda_hand": np.linspace(0.5, 1.0, 6)},
            com={"panda_hand": (0.0, 0.1, 0.2)},
            gravity=np.array([0, 0, -3.0]),
            like=q,
        ),
    ):
        assert error(host(wd.gravity_torques(PANDA, q, params=params)), tau) <= 10 * scale
        assert params["gravity"].shape[-1] == 3
    with pytest.raises(ValueError, match=r"gravity must be \(3,\) or \(B, 3\), got \(2,\)"):
        PANDA.params(gravity=(1.0, 2.0))


def test_arrays_are_passed_back() -> None:
    """What `randomise` drew makes the same params again: masses as they are, and any by names."""
    params, q = drawn("numpy"), wd.random_configuration(PANDA, 6)
    back = PANDA.params(
        mass=params["mass"],
        inertia=params["inertia"],
        armature=params.named("armature"),
        gravity=params["gravity"],
    )
    assert back.names == params.names
    torques = [wd.gravity_torques(PANDA, q, params=p) for p in (params, back)]
    assert np.array_equal(*torques)
    single = PANDA.params(mass=params["mass"][0])
    assert single.named("mass")["panda_hand"] == single["mass"][-3]
    with pytest.raises(ValueError, match=r"got \(6, 4\)"):
        PANDA.params(armature=params["armature"])


@pytest.mark.parametrize("library", LIBRARIES)
def test_negative_masses_are_refused(library: str, device: str) -> None:
    """With the link and the row; so are armatures and friction, and what is not finite."""
    usable(library, device=device)
    masses = made(library, np.array([1.0, 0.0, -2.0, 3.0]), device=device)
    words = (
        'mass of link "panda_hand" of panda must be finite and not negative, got -2 in row 2 of 4'
    )
    with pytest.raises(ValueError, match=words):
        PANDA.params(mass={"panda_hand": masses})
    with pytest.raises(ValueError, match=r'mass of link "panda_link0" of panda .*, got -1$'):
        PANDA.params(mass=-1.0)
    with pytest.raises(
        ValueError, match=r'armature of joint "panda_joint2" .* got nan in row 0 of 2'
    ):
        PANDA.params(2, armature={"panda_joint2": np.nan})


def test_traced_masses_are_taken() -> None:
    """Inside JAX and Torch transformations, where no number can be read."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def mass(x: Any) -> Any:
        return PANDA.params(mass={"panda_hand": x})["mass"]

    assert jax.jit(mass)(made("jax", np.ones(3))).shape == (3, 1)
    assert torch.vmap(mass)(torch.ones(2, 3)).shape == (2, 3, 1)


def test_params_are_shown_with_names_and_shapes() -> None:
    """One name, or the number of them; gravity last; and what one environment has of each."""
    params = RIG.params(
        mass={"arm": np.ones(4)}, com={"arm": np.ones((4, 3)), "tool": np.ones((4, 3))}
    )
    assert repr(params) == "<Params of rig: mass (4, 1) of arm, com (4, 2, 3) of 2 of the model>"
    assert params.envs == 4 and (params.shape("mass"), params.shape("com")) == ((1,), (2, 3))
    heavy = RIG.params(gravity=np.zeros((4, 3)), mass={"arm": 2.0})
    assert repr(heavy) == "<Params of rig: mass (1,) of arm, gravity (4, 3)>" and heavy.envs == 4
    one = RIG.params(gravity=np.zeros(3))
    assert repr(one) == "<Params of rig: gravity (3,)>" and one.envs is None
    assert repr(RIG.params()) == "<Params of rig: nothing varies>" and RIG.params().envs is None
