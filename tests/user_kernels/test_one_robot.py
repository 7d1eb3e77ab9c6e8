"""The robot of a user's kernel: each of its methods equals the public function."""

from __future__ import annotations

import ast
import inspect
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradient_cases import CASES, Case
from public_names import public_names
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS, describe_call
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.model.lumping import build_tree
from warpdyn.user_kernels import one_robot as chosen

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = ("model", "params", "out")
"""Arguments of the functions that the robot's methods do not have."""


def kernel_of(case: Case) -> Any:
    """The case's function as a kernel, with arrays annotated by their shapes."""
    names, model = case.given.split(), case.model
    more = [name for name in case.more.split() if name in ("gravity", "f_ext", "point")]

    def text(robot: Any, *arrays: Any, **options: Any) -> Any:
        given = dict(zip([*names, *more], arrays, strict=True))
        if "f_ext" in given:
            options["f_ext"] = {model.link_names[-1]: given["f_ext"]}
        options |= {name: given[name] for name in more if name != "f_ext"}
        return getattr(robot, case.function)(*(given[name] for name in names), **options)

    arrays = case.arrays
    positional = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=arrays[name].shape if name == "gravity" else arrays[name].shape[1:],
        )
        for name in [*names, *more]
    ]
    keywords = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in case.options]
    robot = inspect.Parameter("robot", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    text.__signature__ = inspect.Signature([robot, *positional, *keywords])  # type: ignore[attr-defined]
    return wd.kernel(text)


def with_gravity_rows(case: Case) -> dict[str, np.ndarray]:
    arrays = case.arrays
    count = len(next(iter(arrays.values())))
    return {n: np.tile(x, (count, 1)) if n == "gravity" else x for n, x in arrays.items()}


@pytest.mark.parametrize("case", [c for c in CASES if not c.second], ids=str)
def test_each_method_equals_the_public_function(case: Case) -> None:
    """The numbers are the same and the programs have the same length, also with params.

    With constants programs are shorter.
    """
    arrays = with_gravity_rows(case)
    positional, keywords = case.arguments(arrays)
    wanted = wd.oracle(case.called, *positional, **keywords)
    kernel = kernel_of(case)
    in_order = [
        *case.given.split(),
        *(n for n in ("gravity", "f_ext", "point") if n in case.more.split()),
    ]
    in_order.sort(key=[*case.given.split(), *case.more.split()].index)
    params = {"params": keywords["params"]} if "params" in keywords else {}
    given = (case.model, *(arrays[n] for n in in_order))
    got = wd.oracle(kernel, *given, **case.options, **params)
    for x, y in zip(_tuple(got), _tuple(wanted), strict=True):
        assert np.allclose(x, y, rtol=1e-12, atol=1e-13, equal_nan=True)
    ours = describe_call(kernel, given, {**case.options, **params})
    theirs = describe_call(case.called, positional, keywords)
    lengths = [record_call(call, input_shapes(call), True).operations for call in (ours, theirs)]
    # Plain numbers that a public function reads as arrays are constants of a kernel, and folded; a
    # constant factor also moves out of products, so that some are shared no more.
    folded = set(theirs.arrays) - set(ours.arrays)
    most = 1.02 * lengths[1] if case.function == "state_derivative" else lengths[1] - 1
    assert lengths[0] <= most if folded else lengths[0] == lengths[1]


def _tuple(results: Any) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (results,)


def test_each_public_function_of_arrays_is_a_method() -> None:
    """Each of them has a case above, except inverse_kinematics, which has its own test."""
    public = {each for each in public_names().values() if isinstance(each, type(wd.rnea))}
    assert public - {wd.vjp, wd.jvp, wd.derivatives} == set(FUNCTIONS.values())
    assert set(FUNCTIONS) - {case.function for case in CASES} == {"inverse_kinematics"}


def test_inverse_kinematics_runs_inside_a_kernel() -> None:
    """Its environments take different numbers of steps."""
    model = by_name("panda").model
    goal = wd.fk(model, states(model, 3).q.clip(-1, 1), frame="panda_hand")

    @wd.kernel
    def reach(robot: Any, target: (4, 4)) -> Any:  # type: ignore[valid-type]
        q = robot.inverse_kinematics(target, frame="panda_hand", restarts=4)[0]
        return robot.fk(q, frame="panda_hand")

    wanted = wd.inverse_kinematics(model, goal, frame="panda_hand", restarts=4)
    got = reach(model, goal)
    assert np.allclose(got, wd.fk(model, wanted.q, frame="panda_hand"), atol=1e-9)


def test_inverse_kinematics_has_the_same_fields_inside_a_kernel() -> None:
    """`success` is a condition, so that a kernel can choose by it."""
    model = by_name("panda").model
    goal = wd.fk(model, states(model, 3).q.clip(-1, 1), frame="panda_hand")
    goal[1, 0, 3] = 9.0  # out of reach

    @wd.kernel
    def reach(robot: Any, target: (4, 4)) -> Any:  # type: ignore[valid-type]
        found = robot.inverse_kinematics(target, frame="panda_hand", restarts=4)
        angle = np.where(found.success, found.q[0], 7.0)
        return {"angle": angle, "off": found.position_error, "reached": found.success}

    wanted = wd.inverse_kinematics(model, goal, frame="panda_hand", restarts=4)
    got = reach(model, goal)
    assert got.reached.tolist() == wanted.success.tolist() == [True, False, True]
    assert np.allclose(got.angle, np.where(wanted.success, wanted.q[:, 0], 7.0), atol=1e-9)
    assert np.allclose(got.off, wanted.position_error, atol=1e-9)


def test_attributes_of_the_robot_equal_those_of_the_model() -> None:
    model = by_name("panda").model
    seen: dict[str, Any] = {}

    @wd.kernel
    def look(robot: Any, q: Any) -> Any:
        seen.update({n: getattr(robot, n) for n in ("nq", "nv", "joint_names", "link_names")})
        seen["limits"] = robot.position_upper
        return np.minimum(q, robot.position_upper) * robot.total_mass

    q = states(model, 5).q
    got = look(model, q)
    assert seen["nq"] == model.nq and seen["nv"] == model.nv
    assert seen["joint_names"] == model.joint_names and seen["link_names"] == model.link_names
    assert np.allclose(got, np.minimum(q, model.position_upper) * model.total_mass, rtol=1e-12)


def test_total_mass_follows_the_params() -> None:
    model = by_name("panda").model
    q = np.zeros((2, model.nq))
    mass = np.array([1.0, 3.0])

    @wd.kernel
    def weigh(robot: Any, q: Any) -> Any:
        return robot.total_mass + 0.0 * q[0]

    got = weigh(model, q, params=model.params(mass={"panda_hand": mass}))
    hand = model.links[model.link_index("panda_hand")].mass
    assert np.allclose(got, model.total_mass - hand + mass)


def test_a_robot_with_computed_numbers_equals_one_with_params() -> None:
    """A mass and an armature that the kernel computes."""
    panda = wd.load_robot("panda")
    chosen = states(panda, 4, seed=1)
    q, v, tau = chosen.q, chosen.v, chosen.tau

    @wd.kernel
    def carry_load(robot: Any, q: Any, v: Any, tau: Any, load: ()) -> Any:
        heavy = robot.with_values(
            mass={"panda_hand": load**2}, armature={"panda_joint1": 0.1 + 0.0 * load}
        )
        return heavy.aba(q, v, tau) - robot.aba(q, v, tau)

    load = np.array([1.0, 1.2, 1.4, 1.6])
    params = panda.params(mass={"panda_hand": load**2}, armature={"panda_joint1": 0.1})
    wanted = wd.aba(panda, q, v, tau, params=params) - wd.aba(panda, q, v, tau)
    assert np.allclose(carry_load(panda, q, v, tau, load), wanted, atol=1e-6 * np.abs(wanted).max())


def test_env_is_the_number_of_the_environment() -> None:
    @wd.kernel
    def number(robot: Any, q: Any) -> Any:
        return robot.env + 0.0 * q[0]

    model = by_name("cartpole").model
    for dtype in (np.float32, np.float64):
        assert np.array_equal(number(model, np.zeros((300, 2), dtype)), np.arange(300))
    assert number(model, np.zeros(2)) == 0
    assert np.array_equal(wd.oracle(number, model, np.zeros((3, 2))), np.arange(3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda robot, q: robot.jacobain(q, frame="x"), "no 'jacobain'; did you mean 'jacobian'"),
        (lambda robot, q: robot.forward_kinematics(q), r"'; did you mean 'fk'\?$"),
        (lambda robot, q: robot.randomize(q), "a robot has no 'randomize'"),
        (lambda robot, q: robot.crba(q[:3]), r"crba: q must be \(nq\) = \(8,\), got \(3,\)"),
        (lambda robot, q: robot.fk(q, params=1), r"params= belongs .*, not to robot.fk$"),
        (lambda robot, q: robot.fk(q, out=q), "out= belongs to the call of the kernel"),
        (lambda robot, q: robot.xyzzy, "a robot has no 'xyzzy'$"),
        (lambda robot, q: robot.with_mass, "a robot has no 'with_mass'"),
        (
            lambda robot, q: robot.fk(q, frame="panda_hand", gravity=q),
            "unexpected keyword argument 'gravity'",
        ),
        (lambda robot, q: robot.fk(q, frame="hnad"), "hnad"),
    ],
)
def test_a_wrong_call_of_a_method_is_refused_with_the_line(text: Any, message: str) -> None:
    """The message also says what is wrong."""
    model = by_name("panda").model
    with pytest.raises((TypeError, ValueError, KeyError), match=message) as caught:
        wd.kernel(text)(model, np.zeros((2, model.nq)))
    if isinstance(caught.value, wd.kernels.RecordingError):
        assert "test_one_robot.py:" in str(caught.value)


def test_private_attributes_do_not_exist() -> None:
    """So that Python's copy and pickle do not find them."""

    @wd.kernel
    def look(robot: Any, q: Any) -> Any:
        assert not hasattr(robot, "_nonsense") and not hasattr(robot, "__deepcopy__")
        assert dir(robot) == sorted(dir(robot)) and "env" in dir(robot) and "nq" in dir(robot)
        return q

    assert np.array_equal(wd.oracle(look, by_name("cartpole").model, np.ones((1, 2))), [[1, 1]])


def test_points_and_tables_are_passed_as_arrays() -> None:
    """The shape of a point tells its form. A table is an argument of the kernel."""
    model = by_name("panda").model

    @wd.kernel
    def point(robot: Any, q: Any) -> Any:
        return robot.fk(q, frame="panda_hand") @ np.array([0.0, 0.0, 0.1, 1.0])

    q = np.zeros((1, model.nq))
    wanted = wd.fk(model, q, frame="panda_hand")[0] @ [0.0, 0.0, 0.1, 1.0]
    assert np.allclose(wd.oracle(point, model, q)[0], wanted)

    @wd.kernel
    def scan(robot: Any, q: Any) -> Any:
        ground = wd.HeightMap(np.zeros((3, 3)), 1.0)
        return robot.height_scan(q, np.zeros((1, 2)), terrain=ground)

    with pytest.raises(
        TypeError, match=r"robot.height_scan: \S+ must be an argument of the kernel"
    ):
        scan(model, q)


def test_methods_have_the_docstrings_and_signatures_of_functions() -> None:
    model = by_name("cartpole").model
    methods = []

    @wd.kernel
    def look(robot: Any, q: Any) -> Any:
        methods.append(robot.jacobian)
        assert "crba" in dir(robot) and repr(robot) == "<robot cartpole, nq = 2, nv = 2>"
        return q

    look(model, np.zeros((1, 2)))
    assert methods[0].__doc__ == wd.jacobian.__doc__
    assert list(inspect.signature(methods[0]).parameters)[:2] == ["q", "frame"]


def test_the_stub_for_editors_has_the_public_functions() -> None:
    """scripts/robot_stub.py reads the sources.

    Methods, arguments and docstrings are those of the functions.
    """
    text = runpy.run_path(str(ROOT / "scripts/robot_stub.py"))["stub"]()
    stub = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    methods = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert set(methods) == set(FUNCTIONS)
    for name, method in methods.items():
        function = FUNCTIONS[name]
        arguments = [each.arg for each in (*method.args.args, *method.args.kwonlyargs)]
        own = [each for each in inspect.signature(function).parameters if each not in LEFT_OUT]
        assert arguments == ["self", *own], name
        assert ast.get_docstring(method) == inspect.getdoc(function), name


def test_chosen_constants_have_their_documented_values() -> None:
    """They come from measurements or external limits. Another value needs another reason."""
    assert chosen.SINGLE == 2.9802322387695312e-08


def test_a_robot_is_created_by_kernels_only() -> None:
    """A robot's name and a model without its tree are refused with what was given."""
    model = by_name("panda").model
    tree = build_tree(model)
    for model_or_name, given, wrong in (("panda", tree, "'panda'"), (model, "arm", "'arm'")):
        with pytest.raises(TypeError, match=f"needs a Model and its tree, got {wrong}.*wd.kernel"):
            wd.kernels.Robot(model_or_name, given, 0, None)  # type: ignore[arg-type]
    assert wd.kernels.Robot(model, tree, 0, None).nq == model.nq


def test_a_public_function_in_a_kernel_is_refused_with_the_method() -> None:
    with pytest.raises(TypeError, match=r"got OneRobot; in a kernel write robot\.fk"):
        wd.kernel(lambda robot, q: wd.crba(robot, q))(wd.load_robot("cartpole"), np.zeros((1, 2)))
