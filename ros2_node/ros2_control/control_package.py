"""A complete package with ros2_control controllers for one robot, as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from warpdyn.codegen.escapes import escape_comment
from warpdyn.codegen.portable_style import Style
from warpdyn.functions.export.exporting import exported_functions, header_of, with_stacks
from warpdyn.functions.export.identifiers import KEYWORDS, identifier, namespace_name
from warpdyn.functions.kinematics import fk
from warpdyn.model import Model

from ..control.references.pose_reference import POSE_BOUND
from ..control.references.setpoint import SETPOINT_BOUND
from ..control.states.base_state import ROUNDING
from .controller_laws import ControllerLaw, check_law
from .controller_parameters import example_parameters, fill_function, parameter_file
from .gate_table import gate_table
from .law_source import frame_function, law_structs
from .source_files import source_file

NAMESPACES = (
    "controller_interface", "controller_manager", "dynamics", "geometry_msgs", "hardware_interface",
    "pluginlib", "rcl_interfaces", "rclcpp", "rclcpp_lifecycle", "std_srvs", "testing", "trajectory_msgs",
)  # fmt: skip
"""Namespaces that a package includes or has, so that it cannot have their names."""


def control_package(
    model: Model,
    laws: Sequence[ControllerLaw],
    *,
    joints: Sequence[str] = (),
    name: str | None = None,
) -> dict[str, str]:
    """The files of an ament_cmake package with a controller for each law, by their paths.

    joints: the joints that the controllers command; empty: all. The others stay in the neutral
    configuration. name: of the package; by default `<robot>_controllers`.
    ValueError: the robot has a free base, a joint is not a single coordinate, or a law does not fit.
    """
    joints = commanded_joints(model, joints)
    for law in laws:
        check_law(law, model)
    package = package_name(name or f"{model.name}_controllers")
    functions = exported_functions(model, _functions(model, laws), "float64", bounded_loops=True)
    style = Style("c++", False, "dynamics")
    functions = with_stacks(functions, header_of(model, functions, style), style)
    dynamics = header_of(model, functions, style)
    include = f"include/{package}"
    # The dynamics stand in the namespace of the package.
    files = {
        f"{include}/dynamics.hpp": _within(dynamics, package),
        f"{include}/laws.hpp": source_file(
            "laws.hpp", namespace=package, laws=law_structs(model, joints, laws, functions)
        ),
        f"{include}/torque_gate.hpp": source_file(
            "torque_gate.hpp", namespace=package, gate_table=gate_table()
        ),
        f"{include}/references.hpp": source_file(
            "references.hpp", namespace=package, **reference_places()
        ),
    }
    for header in ("message_queue", "guarded_law", "parameter_values", "controller"):
        files[f"{include}/{header}.hpp"] = source_file(f"{header}.hpp", namespace=package)
    for law in laws:
        files[f"src/{law.name}_parameters.yaml"] = parameter_file(
            law, model, f"{law.name}_parameters"
        )
        files[f"src/{law.name}_controller.cpp"] = source_file(
            "law_controller.cpp",
            namespace=package,
            law=law.name,
            name=law.class_name,
            fill=fill_function(law, model),
        )
    files["config/controllers.yaml"] = example_parameters(laws, model, joints, package)
    files |= _ros_files(model, laws, package)
    files["test/guards_test.cpp"] = _guard_tests(model, laws, package)
    return files


def write_package(files: Mapping[str, str], folder: Path, *, overwrite: bool = False) -> None:
    """Write the files of a package; FileExistsError for a folder that is not empty, unless
    `overwrite`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not overwrite:
        raise FileExistsError(f"{folder} is not empty; overwrite=True replaces its files")
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def commanded_joints(model: Model, joints: Sequence[str]) -> tuple[str, ...]:
    """The joints by name, or all; ValueError for a robot or a joint that has no such controller."""
    if model.floating_base:
        raise ValueError(
            f"{model.name} has a free base: a controller of joint efforts does not measure its pose"
        )
    chosen = tuple(joints) or tuple(model.joint_names)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"a joint is named twice: {', '.join(chosen)}")
    for joint in chosen:
        if joint not in model.joint_names:
            raise ValueError(
                f"{model.name} has no joint {joint!r}; it has {', '.join(model.joint_names)}"
            )
        kind = model.joint(joint).kind
        if kind.nq != 1 or kind.nv != 1:
            raise ValueError(
                f"joint {joint} has {kind.nv} velocities; a controller commands joints with one: "
                "leave it out"
            )
    return chosen


def reference_places() -> dict[str, str]:
    """Constants of the node's references, by their places in references.hpp."""
    return {
        "setpoint_bound": repr(SETPOINT_BOUND),
        "pose_bound": repr(POSE_BOUND),
        "unit_tolerance": repr(float(ROUNDING)),
    }


def package_name(text: str) -> str:
    """A name as ROS requires it of a package: lower-case letters, digits and single underscores."""
    plain = re.sub(r"_+", "_", identifier(text).lower()).strip("_")
    taken = plain in KEYWORDS or plain in NAMESPACES or namespace_name(plain) != plain
    return f"{plain}_controllers" if taken else plain


def _functions(model: Model, laws: Sequence[ControllerLaw]) -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {}
    for law in laws:
        if law.name in functions:
            raise ValueError(f"two laws would be called {law.name}: name each once")
        functions[law.name] = law.torques(model)
        if law.frame is not None:
            functions[frame_function(law)] = partial(fk, frame=law.frame, form="pose")
    return functions


def _within(dynamics: str, package: str) -> str:
    """The exported header with its namespace inside the package's."""
    opened, closed = "namespace dynamics {", "}  // namespace dynamics"
    assert dynamics.count(opened) == 1 and dynamics.count(closed) == 1
    outer = dynamics.replace(opened, f"namespace {package} {{\n{opened}")
    return outer.replace(closed, f"{closed}\n}}  // namespace {package}")


def _ros_files(model: Model, laws: Sequence[ControllerLaw], package: str) -> dict[str, str]:
    names = " ".join(law.name for law in laws)
    classes = "\n".join(
        f'  <class name="{package}/{law.class_name}Controller" '
        f'type="{package}::{law.class_name}Controller" '
        'base_class_type="controller_interface::ControllerInterface">\n'
        f"    <description>{escape(law.name)} behind the guards of torque_gate.hpp</description>\n"
        "  </class>"
        for law in laws
    )
    robot = escape_comment(model.name)
    made = f"warpdyn {version('warpdyn')}"
    table = "\n".join(f"| `{law.name}` | `{package}/{law.class_name}Controller` |" for law in laws)
    return {
        "package.xml": source_file("package.xml", package=package, robot=escape(robot), made=made),
        "CMakeLists.txt": source_file("CMakeLists.txt", package=package, laws=names),
        f"{package}_plugins.xml": source_file(
            "plugins.xml", library=f"{package}_plugins", classes=classes
        ),
        "launch/controllers.launch.py": source_file(
            "launch_file.txt", package=package, laws=repr([law.name for law in laws])
        ),
        "README.md": source_file(
            "README.md", package=package, robot=robot, made=made, table=table, first=laws[0].name
        ),
    }


def _guard_tests(model: Model, laws: Sequence[ControllerLaw], package: str) -> str:
    """The tests of the package, which need values for inputs without a default."""
    settings = []
    for law in laws:
        settings += ["template <>", f"void set_inputs({law.class_name}Law::Inputs &inputs) {{"]
        settings.append("  (void)inputs;")
        for name, values in law.example(model).items():
            listed = ", ".join(map(repr, values))
            settings.append(
                f'  EXPECT_EQ("", fill("{name}", {{{listed}}}, inputs.{name}, Form::{law.form(name)}));'
            )
        settings += ["}", ""]
    return source_file(
        "guards_test.cpp",
        package=package,
        laws=", ".join(f"{law.class_name}Law" for law in laws),
        settings="\n".join(settings),
    )
