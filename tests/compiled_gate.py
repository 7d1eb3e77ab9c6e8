"""`torque_gate.hpp` compiled for six joints, and the node's own robot, on the same events."""

from __future__ import annotations

import ctypes
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from exported_code import WARNINGS, compiler

import warpdyn as wd
from ros2_node.control.robot import Robot
from ros2_node.control.safety.gate import GateEvent, Phase
from ros2_node.control.safety.joint_limits import lightest_inertia
from ros2_node.control.safety.position_limits import position_limits
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.settings.parameter import per_joint
from ros2_node.control.torques.fleet_dynamics import FleetDynamics
from ros2_node.ros2_control.gate_table import gate_table
from ros2_node.ros2_control.source_files import source_file

MODEL = wd.load_robot("ur5e")
N = MODEL.nv
PHASES = list(Phase)

EVENTS = (
    "enable", "disable", "fail", "reset", "start", "withdraw", "state", "bad_state", "command",
    "collide", "watch", "blend", "configure",
)  # fmt: skip
"""Kinds of events, by their numbers in the C++ function `run`."""

SHIM = r"""
#include "torque_gate.hpp"
using namespace gate_test;
using Gate6 = TorqueGate<6>;
using Joints = Gate6::Joints;
static GateSettings<6> settings_of(const double *x) {
  GateSettings<6> s;
  s.ramp_time = x[0];
  s.state_timeout = x[1];
  s.stale_action = static_cast<StopAction>(static_cast<int>(x[2]));
  s.effort_limit_scale = x[3];
  s.joint_limit_effort = x[4];
  s.repels = x[5] > 0.0;
  Joints *rows[] = {&s.torque_scale, &s.described_effort, &s.effort_limits, &s.max_torque_rate,
                    &s.lower, &s.upper, &s.joint_limit_margin, &s.inertia};
  for (int r = 0; r < 8; ++r)
    for (int j = 0; j < 6; ++j) (*rows[r])[static_cast<std::size_t>(j)] = x[6 + 6 * r + j];
  return s;
}
static Joints row(const double *x) {
  Joints joints;
  for (int j = 0; j < 6; ++j) joints[static_cast<std::size_t>(j)] = x[j];
  return joints;
}
// settings: (settings, 54).  numbers: (events, 24), q, v, torque, weight.  out: (events, 8).
extern "C" void run(const double *settings, int events, const int *kinds, const int *which,
                    const double *times, const double *numbers, double *out) {
  Gate6 gate;
  gate.configure(settings_of(settings));
  Joints q{}, v{};
  for (int k = 0; k < events; ++k) {
    const double now = times[k];
    const double *x = numbers + 24 * k;
    double sent = 0.0;
    switch (kinds[k]) {
      case 0: sent = gate.enable(now); break;
      case 1: gate.disable(now); break;
      case 2: gate.fail(Cause::outside, now); break;
      case 3: gate.reset(); break;
      case 4: gate.start_by_itself(); break;
      case 5: gate.withdraw(); break;
      case 6: q = row(x); v = row(x + 6); gate.take_state(q, v, now); break;
      case 7: break;
      case 9: gate.collide(); [[fallthrough]];
      case 8: {
        // A robot that floats has the weight, if the torques of its law are finite.
        const bool floats = gate.phase() == Phase::floating && Gate6::finite(row(x + 12));
        sent = gate.command(q, v, row(x + (floats ? 18 : 12)), now);
        break;
      }
      case 10: gate.watch(now); sent = gate.stop_step(now); break;
      case 11: gate.blend(float_time); break;
      default: gate.configure(settings_of(settings + 54 * which[k]));
    }
    double *row_out = out + 8 * k;
    row_out[0] = static_cast<double>(gate.phase());
    row_out[1] = sent;
    for (int j = 0; j < 6; ++j) row_out[2 + j] = gate.last()[static_cast<std::size_t>(j)];
  }
}
"""


def gate_header(namespace: str = "gate_test") -> str:
    """The header with its tables filled in."""
    return source_file("torque_gate.hpp", namespace=namespace, gate_table=gate_table())


def compiled_gate(folder: Path, which: int = 0, options: Sequence[str] = ("-O2",)) -> Any:
    """The library of SHIM, compiled by g++ (0) or clang++ (1)."""
    (folder / "torque_gate.hpp").write_text(gate_header())
    (folder / "gate_test.cpp").write_text(SHIM)
    library = folder / f"gate{which}.so"
    command = [compiler("c++", which), "-std=c++17", *WARNINGS, *options, "-shared", "-fPIC"]
    command += [str(folder / "gate_test.cpp"), "-o", str(library)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    return ctypes.CDLL(str(library))


def gate_numbers(settings: Settings) -> np.ndarray:
    """The numbers of `GateSettings<6>` for settings of the node, (54,)."""
    lower, upper = position_limits(MODEL, MODEL.joint_names)
    action = ("ramp_down", "zero", "hold").index(settings.stale_action)
    repels = settings.joint_limit_repulsion == "always"
    rows = [
        per_joint("torque_scale", settings.torque_scale, N),
        MODEL.effort_limit,
        per_joint("effort_limits", settings.effort_limits, N),
        per_joint("max_torque_rate", settings.max_torque_rate, N),
        lower,
        upper,
        per_joint("joint_limit_margin", settings.joint_limit_margin, N),
        lightest_inertia(MODEL),
    ]
    first = [
        settings.ramp_time,
        settings.state_timeout,
        float(action),
        settings.effort_limit_scale,
        settings.joint_limit_effort,
        float(repels),
    ]
    return np.concatenate([first, *rows])


class Sequence6:
    """Random events for a gate of six joints: kinds, times, numbers and settings."""

    def __init__(
        self, random: np.random.Generator, events: int, choices: Sequence[Settings]
    ) -> None:
        weights = np.array([4, 1, 0.4, 1, 0.6, 0.3, 30, 0.5, 30, 0.5, 20, 1, 0.5])
        self.settings = [choices[k] for k in random.integers(len(choices), size=3)]
        self.kinds = random.choice(len(EVENTS), size=events, p=weights / weights.sum()).astype(
            np.int32
        )
        self.which = random.integers(3, size=events).astype(np.int32)
        steps = random.choice(
            [0.0, 0.001, 0.004, 0.02, 0.15, 1.2], size=events, p=[0.1, 0.5, 0.25, 0.1, 0.03, 0.02]
        )
        self.times = 10.0 + np.cumsum(steps)
        q = random.uniform(-6.4, 6.4, (events, N))
        v = random.uniform(-2.0, 2.0, (events, N))
        torque = random.choice([20.0, 300.0], size=(events, 1)) * random.uniform(
            -1.0, 1.0, (events, N)
        )
        torque[random.uniform(size=events) < 0.004, 2] = np.nan
        torque[random.uniform(size=events) < 0.004, 2] = 1.7e308
        weight = random.uniform(-60.0, 60.0, (events, N))
        self.numbers = np.concatenate([q, v, torque, weight], axis=1)

    def by_header(self, library: Any) -> np.ndarray:
        """Phase, whether a command was sent, and the command, after each event (events, 8)."""
        table = np.stack([gate_numbers(each) for each in self.settings])
        out = np.full((len(self.kinds), 8), np.nan)
        arrays = (table, self.kinds, self.which, self.times, self.numbers, out)
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in arrays]
        library.run(pointers[0], ctypes.c_int(len(self.kinds)), *pointers[1:])
        return out

    def by_node(self) -> np.ndarray:
        """The same values from the node's own robot."""
        robot = node_robot(self.settings[0])
        out = np.full((len(self.kinds), 8), np.nan)
        for k, kind in enumerate(self.kinds):
            event, now, x = EVENTS[kind], float(self.times[k]), self.numbers[k]
            sent = self._apply(robot, event, now, x, int(self.which[k]))
            out[k, 0], out[k, 1], out[k, 2:] = (
                PHASES.index(robot.gate.phase),
                sent,
                robot.output.command,
            )
        return out

    def _apply(self, robot: Robot, event: str, now: float, x: np.ndarray, which: int) -> bool:
        if event == "enable":
            return robot.enable(now, now)[0]
        if event == "disable":
            robot.disable(now)
        elif event == "fail":
            robot.fail("a fault outside of the gate", now)
        elif event == "reset":
            robot.reset()
        elif event == "start":
            robot.gate.send(GateEvent.START)
        elif event == "withdraw":
            robot.withdraw()
        elif event == "state":
            robot.state.q[:], robot.state.v[:] = x[:N], x[N : 2 * N]
            robot.states.arrived = now
        elif event in ("command", "collide"):
            robot.effort_watch.collision = "collision" if event == "collide" else ""
            robot.effort_watch.weight = x[18:24]
            robot.state.torque[:] = x[12:18]
            sent = robot.command(now, now)[1] is not None
            robot.effort_watch.collision = ""
            return sent
        elif event == "watch":
            return robot.watch(now, now) is not None
        elif event == "blend":
            robot.output.blend(0.05)
        elif event == "configure":
            robot.change(self.settings[which])
        return False


class MeasuredStates(SimpleNamespace):
    """States whose age follows from the arrival time that a test sets. No message is read."""

    arrived = -np.inf

    def age(self, now: float) -> float:
        return now - self.arrived

    def change(self, settings: Settings) -> None:
        pass

    def lateness(self) -> str:
        return ""

    def beyond_limits(self) -> str:
        return ""

    def late_for(self, now: float) -> float:
        return 0.0


class Touch(SimpleNamespace):
    """A collision guard that a test triggers."""

    collision, unguarded_message, weight = "", "", np.zeros(N)

    @property
    def torques(self) -> Touch:
        return self

    def gravity_torques(self) -> np.ndarray:
        return self.weight

    def change(self, settings: Settings) -> None:
        pass

    def is_unguarded(self, now: float) -> bool:
        return False


def node_robot(settings: Settings) -> Robot:
    """A robot of the node whose states, torques and collisions the test sets."""
    robot = Robot(FleetDynamics(MODEL, settings, 1), 0, settings, Counter())
    robot.state.torque[:] = 0.0
    robot.states, robot.effort_watch = MeasuredStates(), Touch()  # type: ignore[assignment]
    robot.change(settings)
    return robot
