"""The guarded laws of a controller package, compiled without ROS and called by C entry points."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from exported_code import WARNINGS, compiler

from ros2_node.ros2_control.control_package import control_package, package_name, write_package
from ros2_node.ros2_control.controller_laws import ControllerLaw
from warpdyn import Model

ENTRY = r"""
extern "C" void *{name}_make(const double *numbers, const double *inputs) {{
  auto *law = new GuardedLaw<{type}>();
  LawSettings<{type}> s;
  {type}::describe(s.gate, s.reference);
  s.gate.ramp_time = numbers[0];
  s.gate.max_torque_rate.fill(numbers[1]);
  if (numbers[2] > 0.0) s.gate.described_effort.fill(numbers[2]);
  s.reference.max_tracking_error.fill(numbers[3]);
  s.max_pose_error = {{numbers[4], numbers[5]}};
  s.gate.repels = s.reference.keeps_limits = numbers[6] > 0.0;
  s.gate.stale_action = numbers[7] > 0.0 ? StopAction::hold : StopAction::ramp_down;
  if (sizeof(s.inputs) > 1) std::memcpy(static_cast<void *>(&s.inputs), inputs, sizeof(s.inputs));
  law->configure(s);
  return law;
}}
extern "C" void {name}_delete(void *law) {{ delete static_cast<GuardedLaw<{type}> *>(law); }}
extern "C" int {name}_activate(void *law, const double *q, const double *v, const double *effort, double now) {{
  return static_cast<GuardedLaw<{type}> *>(law)->activate(row<{type}>(q), row<{type}>(v), row<{type}>(effort), now);
}}
extern "C" void {name}_deactivate(void *law, double now, double *out) {{
  copy(static_cast<GuardedLaw<{type}> *>(law)->deactivate(now), out);
}}
extern "C" int {name}_update(void *law, const double *q, const double *v, double now, double *out) {{
  auto *guarded = static_cast<GuardedLaw<{type}> *>(law);
  copy(guarded->update(row<{type}>(q), row<{type}>(v), now), out);
  return static_cast<int>(guarded->phase());
}}
extern "C" void {name}_refer(void *law, const double *q, const double *v, const double *a) {{
  ReferencePoint<{type}::joint_count> point;
  point.q = row<{type}>(q);
  point.v = row<{type}>(v);
  point.a = row<{type}>(a);
  point.named.fill(true);
  point.has_q = point.has_v = point.has_a = true;
  static_cast<GuardedLaw<{type}> *>(law)->refer(point);
}}
extern "C" void {name}_refer_pose(void *law, const double *pose) {{
  Pose wanted;
  for (std::size_t k = 0; k < 7; ++k) wanted[k] = pose[k];
  static_cast<GuardedLaw<{type}> *>(law)->refer_pose(wanted);
}}
extern "C" void {name}_request(void *law, int number) {{
  const Request requests[] = {{Request::enable, Request::disable, Request::reset}};
  static_cast<GuardedLaw<{type}> *>(law)->request(requests[number]);
}}
extern "C" int {name}_refusal(void *law) {{
  return static_cast<int>(static_cast<GuardedLaw<{type}> *>(law)->take_refusal());
}}
extern "C" int {name}_cause(void *law) {{
  return static_cast<int>(static_cast<GuardedLaw<{type}> *>(law)->cause());
}}
"""
"""Functions of one law. A law's inputs are one row of numbers, in their order."""

BEGIN = r"""
#include <cstring>
#include "{package}/guarded_law.hpp"
#include "{package}/laws.hpp"
#include "{package}/parameter_values.hpp"
using namespace {package};
template <class Law>
static std::array<double, Law::joint_count> row(const double *x) {{
  std::array<double, Law::joint_count> joints;
  for (std::size_t j = 0; j < Law::joint_count; ++j) joints[j] = x[j];
  return joints;
}}
template <std::size_t n>
static void copy(const std::array<double, n> &from, double *to) {{
  for (std::size_t j = 0; j < n; ++j) to[j] = from[j];
}}
"""


def entry_points(model: Model, laws: Sequence[ControllerLaw]) -> str:
    """The C++ source of the entry points."""
    package = package_name(f"{model.name}_controllers")
    begin = BEGIN.format(package=package)
    return begin + "".join(ENTRY.format(name=x.name, type=f"{x.class_name}Law") for x in laws)


class CompiledControllers:
    """The library of the laws of one robot."""

    def __init__(
        self,
        folder: Path,
        model: Model,
        laws: Sequence[ControllerLaw],
        which: int = 0,
        options: Sequence[str] = ("-O1",),
        joints: Sequence[str] = (),
    ) -> None:
        write_package(control_package(model, laws, joints=joints), folder, overwrite=True)
        (folder / "entry.cpp").write_text(entry_points(model, laws))
        library = folder / "entry.so"
        command = [compiler("c++", which), "-std=c++17", *WARNINGS, *options, "-shared", "-fPIC"]
        command += ["-I", str(folder / "include"), str(folder / "entry.cpp"), "-o", str(library)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[:3000]
        self.library = ctypes.CDLL(str(library))
        self.model, self.laws = model, {law.name: law for law in laws}

    def controller(self, law: str, inputs: Sequence[float] = (), **numbers: float) -> CompiledLaw:
        """One guarded law. inputs: all inputs of the law in one row. By default they are those of
        the example parameters, and the default values."""
        return CompiledLaw(self.library, self.laws[law], self.model, inputs, **numbers)


class CompiledLaw:
    """A guarded law with its entry points as methods."""

    def __init__(
        self,
        library: Any,
        law: ControllerLaw,
        model: Model,
        inputs: Sequence[float],
        *,
        ramp_time: float = 1.0,
        rate: float = -1.0,
        effort: float = 0.0,
        far: float = 0.5,
        far_pose: tuple[float, float] = (0.2, 0.5),
        repels: bool | None = None,
        hold: bool = False,
    ) -> None:
        self._library, self._name = library, law.name
        row = np.array(inputs if len(inputs) else example_inputs(law, model), dtype=float)
        pushes = law.repels if repels is None else repels
        numbers = np.array([ramp_time, rate, effort, far, *far_pose, float(pushes), float(hold)])
        make = library[f"{law.name}_make"]
        make.restype = ctypes.c_void_p
        self._law = ctypes.c_void_p(make(_pointer(numbers), _pointer(row)))
        self.command = np.zeros(model.nv)

    def activate(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray, now: float) -> bool:
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (q, v, effort)]
        pointers = [_pointer(x) for x in arrays]
        function = self._library[f"{self._name}_activate"]
        return bool(function(self._law, *pointers, ctypes.c_double(now)))

    def update(self, q: np.ndarray, v: np.ndarray, now: float) -> int:
        """The phase after a cycle. `command` then holds its torques."""
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (q, v)]
        pointers = [_pointer(x) for x in arrays]
        time = ctypes.c_double(now)
        return self._library[f"{self._name}_update"](
            self._law, *pointers, time, _pointer(self.command)
        )

    def deactivate(self, now: float) -> np.ndarray:
        function = self._library[f"{self._name}_deactivate"]
        function(self._law, ctypes.c_double(now), _pointer(self.command))
        return self.command

    def refer(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (q, v, a)]
        self._library[f"{self._name}_refer"](self._law, *(_pointer(x) for x in arrays))

    def refer_pose(self, pose: np.ndarray) -> None:
        pose = np.ascontiguousarray(pose, dtype=float)
        self._library[f"{self._name}_refer_pose"](self._law, _pointer(pose))

    def request(self, name: str) -> None:
        """Ask for "enable", "disable" or "reset", as a service does."""
        number = ("enable", "disable", "reset").index(name)
        self._library[f"{self._name}_request"](self._law, number)

    def refusal(self) -> int:
        return self._library[f"{self._name}_refusal"](self._law)

    def cause(self) -> int:
        return self._library[f"{self._name}_cause"](self._law)


def example_inputs(law: ControllerLaw, model: Model) -> np.ndarray:
    """The inputs of a law in one row: those of the example parameters, or the default values."""
    values, rows = law.example(model), []
    for name, shape in law.inputs(model).items():
        given = np.array(values[name]) if name in values else law.default(name, model)
        assert given is not None, name
        is_diagonal = given.ndim == 1 and len(shape) == 2
        rows.append(np.diag(given) if is_diagonal else np.broadcast_to(given, shape))
    return np.concatenate([row.ravel() for row in rows]) if rows else np.zeros(0)


def _pointer(x: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)
