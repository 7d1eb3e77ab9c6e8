"""The public functions have the same options, defaults and refusals."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ball_beside import ball_beside
from public_names import public_names

import warpdyn as wd
from warpdyn.execution import batched
from warpdyn.model.actuators import Actuator

MODEL = replace(wd.load_robot("quadruped"), actuators=(Actuator("hip", (("FL_hip_joint", 2.0),)),))
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: each for name, each in batched.FUNCTIONS.items() if each.of_a_model
}

WITHOUT_NUMBERS = {
    *("integrate", "difference", "interpolate", "configuration_rate", "normalize", "clamp"),
    *("convert_configuration", "convert_velocity", "convert_acceleration", "convert_force"),
    *("contact_flags", "actuator_torques"),
}
"""They use no mass, length or joint effect of the model, so that no parameter is theirs."""

ONE_FRAME = [name for name, f in FUNCTIONS.items() if "frame" in inspect.signature(f).parameters]
SEVERAL = [name for name, f in FUNCTIONS.items() if "frames" in inspect.signature(f).parameters]
OF_POINTS = [
    name
    for name, f in FUNCTIONS.items()
    if getattr(inspect.signature(f).parameters.get("points"), "default", ())
    is inspect.Parameter.empty
]
"""They ask for points, and have no default for them."""

REFERRED = [name for name, f in FUNCTIONS.items() if "reference" in inspect.signature(f).parameters]


def options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: p for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}


def arrays(name: str, rows: int = 3, dtype: type = np.float32) -> dict[str, Any]:
    """The arguments of a function by name: configurations, vectors of nv, one frame, the other
    library.
    """
    function, given = FUNCTIONS[name], {}
    for argument in list(inspect.signature(function).parameters.values())[1:]:
        if argument.kind is argument.POSITIONAL_OR_KEYWORD:
            wide = MODEL.nq if argument.name in ("q", "q0", "q1") else MODEL.nv
            given[argument.name] = np.zeros((rows, wide), dtype)
    if "control" in given:
        given["control"] = np.zeros((rows, len(MODEL.actuators)), dtype)
    if "t" in given:
        given["t"] = 0.5
    if "targets" in given:
        given["targets"] = np.zeros((rows, 4, 4), dtype)
    if "pattern" in given:
        given["pattern"] = np.zeros((4, 2), dtype)
    if "forces" in given:
        given["forces"] = np.zeros((rows, 1, 3), dtype)
        given["points"] = [wd.ContactPoint("FL_foot", (0, 0, 0), 0.02)]
    if name in ONE_FRAME and name not in SEVERAL:
        given["frame"] = "FL_foot"
    if name in OF_POINTS:
        given["points"] = [wd.ContactPoint("FL_foot", (0.0, 0.0, 0.0), 0.02)]
    if name == "pair_distances":
        given["pairs"] = [ball_beside("FL_foot")]
    if name.startswith("convert_"):
        given["target"] = "mujoco"
    return given


each = pytest.mark.parametrize("name", FUNCTIONS)


@each
def test_params_and_out_come_last(name: str) -> None:
    """Options are keywords.

    `params` is an option of each function that uses numbers of the model.
    """
    own = list(options(FUNCTIONS[name]))
    assert own[-1] == "out" and options(FUNCTIONS[name])["out"].default is None
    if name not in WITHOUT_NUMBERS:
        assert own[-2] == "params" and options(FUNCTIONS[name])["params"].default is None


def test_an_option_has_the_same_default_everywhere() -> None:
    """`frame` is required if a function has no "all frames", `points` and `pairs` if they are its subject."""
    defaults: dict[str, set[Any]] = {}
    for function in FUNCTIONS.values():
        for option, parameter in options(function).items():
            defaults.setdefault(option, set()).add(parameter.default)
    assert {option for option, found in defaults.items() if len(found) > 1} == {
        *("frame", "points", "pairs")
    }


@each
def test_docstrings_give_shapes(name: str) -> None:
    """A first line in English, then the shapes of inputs and results."""
    doc = inspect.getdoc(FUNCTIONS[name]) or ""
    assert "(B, " in doc and ("Returns" in doc or name == "inverse_kinematics")


@pytest.mark.parametrize("name", ONE_FRAME)
def test_a_frame_must_be_one_name_of_a_link(name: str) -> None:
    """An unknown link, a joint, a list and an index are refused in the same words."""
    given = arrays(name)
    for wrong in ("FL_fot", "FL_hip_joint"):
        with pytest.raises(KeyError, match=f"quadruped has no link named '{wrong}'; did you mean"):
            FUNCTIONS[name](MODEL, **{**given, "frame": wrong})
    for wrong in (["FL_foot"], 3):
        with pytest.raises(TypeError, match="name"):
            FUNCTIONS[name](MODEL, **{**given, "frame": wrong})


@pytest.mark.parametrize("name", SEVERAL)
def test_frames_must_be_a_list_of_names(name: str) -> None:
    """One name, an empty list, and frame together with frames are refused."""
    given = arrays(name)
    for wrong in ("FL_foot", []):
        with pytest.raises(
            ValueError,
            match=r'frames must be a list of link names, .*; for one frame use frame="name"',
        ):
            FUNCTIONS[name](MODEL, **given, frames=wrong)
    with pytest.raises(ValueError, match="not both"):
        FUNCTIONS[name](MODEL, **given, frame="base", frames=["base"])
    with pytest.raises(TypeError, match="give the name of a link"):
        FUNCTIONS[name](MODEL, **given, frames=[["base"]])


@pytest.mark.parametrize("name", REFERRED)
def test_references_have_aliases(name: str) -> None:
    """Both names are the same call. Unknown ones are refused with the list."""
    given, describe = arrays(name), FUNCTIONS[name].describe  # type: ignore[attr-defined]
    assert options(FUNCTIONS[name])["reference"].default == "local_world_aligned"
    for alias, own in (("body", "local"), ("mixed", "local_world_aligned"), ("LOCAL", "local")):
        described = (
            describe(MODEL, **given, reference=reference).options for reference in (alias, own)
        )
        assert len(set(described)) == 1
    with pytest.raises(ValueError, match=r"reference must be one of local, .*; got 'lokal'"):
        describe(MODEL, **given, reference="lokal")


@each
def test_arrays_of_wrong_width_are_refused(name: str) -> None:
    """One column too many is refused with name, needed shape and actual shape."""
    given = arrays(name)
    for argument, array in given.items():
        if isinstance(array, np.ndarray) and array.ndim == 2 and argument != "pattern":
            wide = np.zeros((3, array.shape[1] + 1), np.float32)
            with pytest.raises(
                ValueError, match=rf"^{argument} must be \(B, .*, got \(3, {wide.shape[1]}\)"
            ):
                FUNCTIONS[name](MODEL, **{**given, argument: wide})


@each
def test_arrays_of_wrong_dtype_are_refused(name: str) -> None:
    """Integers, and float64 together with float32."""
    given = arrays(name)
    first, *others = [
        argument for argument, array in given.items() if isinstance(array, np.ndarray)
    ]
    with pytest.raises(TypeError, match=r"must be float32 or float64, got int64; convert it"):
        FUNCTIONS[name](MODEL, **{**given, first: given[first].astype(int)})
    for other in others:
        with pytest.raises(
            TypeError,
            match=f"of one dtype: {first} is float32, {other} is float64; convert {other}",
        ):
            FUNCTIONS[name](MODEL, **{**given, other: given[other].astype(float)})


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - WITHOUT_NUMBERS))
def test_params_must_come_from_the_model(name: str) -> None:
    """A mapping and another robot's params are refused."""
    given = arrays(name)
    with pytest.raises(TypeError, match=r"params must come from model\.params\(\.\.\.\), got dict"):
        FUNCTIONS[name](MODEL, **given, params={"mass": 1.0})
    with pytest.raises(ValueError, match="these params are of ur5e, not quadruped"):
        FUNCTIONS[name](
            MODEL, **given, params=wd.load_robot("ur5e").params(mass={"forearm_link": 3.0})
        )


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if "gravity" in options(f)])
def test_gravity_must_be_a_vector(name: str) -> None:
    """Its magnitude is refused."""
    with pytest.raises(
        TypeError, match=r"gravity must be numbers \(x, y, z\) or an array, got 9\.81"
    ):
        FUNCTIONS[name](MODEL, **arrays(name), gravity=9.81)


def test_one_name_in_place_of_a_list_is_refused() -> None:
    """ "abc" is a sequence of letters in Python. Here it is a mistake."""
    q = MODEL.neutral
    for call in (
        lambda name: wd.convert.select_q(MODEL, q, name),
        lambda name: MODEL.v_indices(name),
        lambda name: MODEL.link_indices(name),
        lambda name: MODEL.reduce(name),
        lambda name: MODEL.collapse(keep=name),
    ):
        with pytest.raises(
            TypeError,
            match=r'names must be a list, got "FL_hip"; for one name pass \["FL_hip"\]',
        ):
            call("FL_hip")


def test_wrt_must_name_inputs_of_the_call() -> None:
    """One name or several.

    An array in place of a mapping, and an input that is missing, are refused.
    """
    q, v = np.tile(MODEL.neutral, (2, 1)), np.zeros((2, MODEL.nv))
    one, several = (
        wd.derivatives.describe(wd.kinetic_energy, MODEL, q, v, wrt=wrt) for wrt in ("v", ("v",))
    )
    assert one.derivatives == several.derivatives
    with pytest.raises(
        ValueError, match="potential_energy was given no input array 'gravity'; it has q"
    ):
        wd.derivatives(wd.potential_energy, MODEL, q, wrt="gravity")
    with pytest.raises(
        TypeError, match=r'tangents must be a mapping by name, such as \{"q": dq\}, got ndarray'
    ):
        wd.jvp(wd.kinetic_energy, MODEL, q, v, tangents=v)
    with pytest.raises(
        TypeError, match=r"must be one of warpdyn's batched functions, such as wd.rnea, got Model"
    ):
        wd.vjp(MODEL, wd.kinetic_energy, q, v, cotangents=v[:, 0])


def test_the_oracle_checks_shapes_too() -> None:
    """The oracle refuses the same shapes as kernels do."""
    q = np.tile(MODEL.neutral, (2, 1))
    with pytest.raises(ValueError, match=r"^v must be \(B, nv\) = \(2, 18\), got \(1, 18\)"):
        wd.oracle(wd.kinetic_energy, MODEL, q, np.zeros((1, MODEL.nv)))


def takes_a_model(function: Any) -> bool:
    """True for a function whose first argument is a model, and for a class made from one."""
    try:
        return next(iter(inspect.signature(function).parameters), "") == "model"
    except (TypeError, ValueError):  # not a function, or one without a signature
        return False


OF_A_MODEL = {name: each for name, each in public_names().items() if takes_a_model(each)}
MADE_BY_A_MODEL = {"Params", "kernels.Robot"}
"""Classes whose own message says how they are made."""


@pytest.mark.parametrize("name", sorted(set(OF_A_MODEL) - MADE_BY_A_MODEL))
def test_a_name_in_place_of_a_model_is_refused(name: str) -> None:
    """Every public function raises the same message before it checks any other argument."""
    required = [
        p
        for p in list(inspect.signature(OF_A_MODEL[name]).parameters.values())[1:]
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    words = {p.name: None for p in required if p.kind is p.KEYWORD_ONLY}
    with pytest.raises(TypeError, match=r"^the first argument must be a Model \(.*\), got str$"):
        OF_A_MODEL[name]("panda", *[None] * (len(required) - len(words)), **words)


def test_the_repr_of_a_model_is_one_line() -> None:
    """The line is for interactive use."""
    assert repr(MODEL) == f"<Model {MODEL.summary().splitlines()[0]}>"
