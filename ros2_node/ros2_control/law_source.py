"""`laws.hpp` of a controller package: a struct for each law, around the exported dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from warpdyn.codegen.escapes import escape_comment, string_literal
from warpdyn.codegen.exported_header import ExportedFunction
from warpdyn.model import Model

from ..control.safety.joint_limits import lightest_inertia
from ..control.safety.position_limits import position_limits
from ..control.torques.law import ROWS
from .controller_laws import ControllerLaw

MEMBERS = {name: name for name in ROWS} | {"q_posture": "q_desired"}
"""Members of `Arrays` by the name that a law gives them."""


def law_structs(
    model: Model,
    joints: Sequence[str],
    laws: Iterable[ControllerLaw],
    functions: Iterable[ExportedFunction],
) -> str:
    """The structs of some laws as C++. joints: the commanded ones, in order."""
    exported = {each.name: each for each in functions}
    robot = list(_robot(model, joints))
    return "\n".join(
        line.rstrip() for law in laws for line in (*_struct(model, law, exported, robot), "")
    ).rstrip()


def frame_function(law: ControllerLaw) -> str:
    """The name of the exported pose of a law's frame."""
    return f"{law.name}_frame"


def _struct(
    model: Model, law: ControllerLaw, exported: dict[str, ExportedFunction], robot: Sequence[str]
) -> Iterator[str]:
    about = (law.kernel.__doc__ or law.name).split("\n\n", 1)[0]
    yield from (f"// {escape_comment(line.strip())}" for line in about.splitlines())
    yield f"struct {law.class_name}Law {{"
    yield from (f"  {line}" for line in robot)
    yield f"  static constexpr bool tracks_positions = {_truth(law.tracks_positions)};"
    yield f"  static constexpr bool moves_posture = {_truth(law.moves_posture)};"
    yield f"  static constexpr bool has_frame = {_truth(law.frame is not None)};"
    yield f"  static constexpr bool repels = {_truth(law.repels)};"
    yield from ("", "  // Parameters of the law.", "  struct Inputs {")
    for name, shape in law.inputs(model).items():
        default = law.default(name, model)
        value = "" if default is None else _list(default.ravel())
        yield f"    std::array<double, {_size(shape)}> {name} = {{{value}}};"
    yield from ("  };", "")
    yield from (f"  {line}" for line in _arrays(model))
    yield ""
    yield from (f"  {line}" for line in _compute(model, exported[law.name]))
    if law.frame is not None:
        yield ""
        yield from (f"  {line}" for line in _frame_pose(model, law))
    yield "};"


def _compute(model: Model, function: ExportedFunction) -> Iterator[str]:
    """The function that computes a law's torques."""
    shapes = [function.shapes[x] for x in function.results.values()]
    if shapes != [(model.nv,)]:
        raise ValueError(
            f"law {function.name} must return one array of shape (nv,) = ({model.nv},), the "
            f"torques; got {', '.join(map(str, shapes))}"
        )
    arguments = [_argument(name) for name in function.inputs] + ["x.torque.data()"]
    yield "static void compute(Arrays &x, const double *gravity, const Inputs &inputs) noexcept {"
    yield from ("  (void)gravity;", "  (void)inputs;")
    yield f"  dynamics::{function.name}({', '.join(arguments)});"
    yield "}"


def _frame_pose(model: Model, law: ControllerLaw) -> Iterator[str]:
    """The function that computes the pose of a law's frame."""
    yield f"// The pose of {escape_comment(law.frame or '')} in the root link."
    yield f"static Pose frame_pose(const std::array<double, {model.nq}> &q) noexcept {{"
    yield from ("  Pose pose;", f"  dynamics::{frame_function(law)}(q.data(), pose.data());")
    yield from ("  return pose;", "}")


def _argument(name: str) -> str:
    """The C++ expression of an array of a law."""
    if name == "gravity":
        return "gravity"
    return f"x.{MEMBERS[name]}.data()" if name in MEMBERS else f"inputs.{name}.data()"


def _robot(model: Model, joints: Sequence[str]) -> Iterator[str]:
    """Members about the robot, the same for all laws."""
    n = len(joints)
    lower, upper = position_limits(model, joints)
    v_columns = model.v_indices(joints)
    turns = [_truth(model.joint(joint).kind.name == "continuous") for joint in joints]
    yield f"static constexpr std::size_t joint_count = {n};"
    names = ", ".join(map(string_literal, joints))
    yield f"static constexpr const char *joint_names[] = {{{names}}};"
    yield f"static constexpr const char *root = {string_literal(model.root)};"
    for name, columns in (("q_columns", model.q_indices(joints)), ("v_columns", v_columns)):
        listed = ", ".join(map(str, columns))
        yield f"static constexpr std::array<std::size_t, {n}> {name} = {{{listed}}};"
    yield ""
    yield "// What the description says of the joints."
    yield f"static void describe(GateSettings<{n}> &gate, ReferenceSettings<{n}> &reference) noexcept {{"
    rows = {
        "gate.described_effort": model.effort_limit[v_columns],
        "gate.lower": lower,
        "gate.upper": upper,
        "gate.inertia": lightest_inertia(model)[v_columns],
        "reference.velocity_limit": model.velocity_limit[v_columns],
    }
    yield from (f"  {name} = {{{_list(row)}}};" for name, row in rows.items())
    yield from ("  reference.lower = gate.lower;", "  reference.upper = gate.upper;")
    yield f"  reference.turns = {{{', '.join(turns)}}};"
    yield "}"


def _arrays(model: Model) -> Iterator[str]:
    """The struct of the arrays of one robot; joints that are not commanded stay at their values."""
    neutral = _list(model.neutral)
    yield "// Arrays of the robot. Joints that are not commanded keep the values that stand here."
    yield "struct Arrays {"
    yield f"  std::array<double, {model.nq}> q = {{{neutral}}}, q_desired = {{{neutral}}};"
    yield f"  std::array<double, {model.nv}> v{{}}, v_desired{{}}, a_desired{{}}, torque{{}};"
    yield "  Pose pose_desired = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};"
    yield "};"


def _list(numbers: np.ndarray) -> str:
    return ", ".join(_number(float(x)) for x in numbers)


def _number(x: float) -> str:
    """A number as C++. NaN, as of a limit that is not given, is 0: there is none."""
    if np.isnan(x):
        return "0.0"
    if np.isinf(x):
        return "-infinity" if x < 0.0 else "infinity"
    return repr(x)


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=int))


def _truth(x: bool) -> str:
    return "true" if x else "false"
