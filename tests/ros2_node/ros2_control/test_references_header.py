"""References in C++, compared with the node's: the same refusals and the same wanted motion."""

from __future__ import annotations

import ctypes
import subprocess
from collections import Counter
from typing import Any

import numpy as np
import pytest
from compiled_gate import gate_header
from exported_code import WARNINGS, compiler

import warpdyn as wd
from ros2_node.control.references.pose_reference import PoseReference
from ros2_node.control.references.setpoint import Setpoint
from ros2_node.control.safety.position_limits import position_limits
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.state import State
from ros2_node.ros2_control.control_package import reference_places
from ros2_node.ros2_control.source_files import source_file

N = 4
REFUSALS = (None, "reference_nonfinite", "reference_too_fast", "reference_too_far", "")
SHIM = r"""
#include "references.hpp"
using namespace gate_test;
constexpr std::size_t n = 4;
using Joints = std::array<double, n>;
static Joints row(const double *x) { return {x[0], x[1], x[2], x[3]}; }
// numbers: far, velocity limits, lower, upper (4 each), acceleration, timeout, clips, keeps, turns (4).
extern "C" void joints(const double *numbers, int events, const int *kinds, const double *times, const double *rows,
                       double *out) {
  JointReference<n> reference;
  ReferenceSettings<n> s;
  s.max_tracking_error = row(numbers);
  s.velocity_limit = row(numbers + 4);
  s.lower = row(numbers + 8);
  s.upper = row(numbers + 12);
  s.max_reference_acceleration = numbers[16];
  s.timeout = numbers[17];
  s.clips = numbers[18] > 0.0;
  s.keeps_limits = numbers[19] > 0.0;
  for (std::size_t j = 0; j < n; ++j) s.turns[j] = numbers[20 + j] > 0.0;
  reference.configure(s, true);
  for (int k = 0; k < events; ++k) {
    const double *x = rows + 24 * k;
    const Joints q = row(x);
    double *y = out + 16 * k;
    if (kinds[k] == 0) reference.stay(q, times[k] - 0.1);
    if (kinds[k] >= 2) {
      ReferencePoint<n> point;
      point.q = row(x + 4);
      point.v = row(x + 8);
      point.a = row(x + 12);
      for (std::size_t j = 0; j < n; ++j) point.named[j] = x[16 + j] > 0.0;
      point.has_q = x[20] > 0.0;
      point.has_v = x[21] > 0.0;
      point.has_a = x[22] > 0.0;
      y[0] = static_cast<double>(reference.read(point, times[k], kinds[k] == 3 ? &q : nullptr));
    }
    y[1] = reference.ends(times[k]);
    y[2] = reference.astray(q);
    y[3] = reference.take_change_at_limits();
    for (std::size_t j = 0; j < n; ++j) {
      y[4 + j] = reference.q(j, q[j]);
      y[8 + j] = reference.v(j);
      y[12 + j] = reference.a(j);
    }
  }
}
extern "C" void poses(int events, const int *enabled, const double *rows, double *out) {
  PoseReference reference;
  reference.configure({0.2, 0.5});
  for (int k = 0; k < events; ++k) {
    Pose wanted, present;
    for (std::size_t j = 0; j < 7; ++j) {
      wanted[j] = rows[14 * k + static_cast<int>(j)];
      present[j] = rows[14 * k + 7 + static_cast<int>(j)];
    }
    if (enabled[k] == 0) reference.stay(present);
    out[9 * k] = static_cast<double>(reference.read(wanted, present, enabled[k] > 0));
    out[9 * k + 1] = reference.astray(present);
    for (std::size_t j = 0; j < 7; ++j) out[9 * k + 2 + static_cast<int>(j)] = reference.wanted()[j];
  }
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("references")
    (folder / "torque_gate.hpp").write_text(gate_header())
    text = source_file("references.hpp", namespace="gate_test", **reference_places())
    (folder / "references.hpp").write_text(text)
    (folder / "shim.cpp").write_text(SHIM)
    command = [compiler("c++", 0), "-std=c++17", *WARNINGS, "-O1", "-shared", "-fPIC"]
    command += [str(folder / "shim.cpp"), "-o", str(folder / "shim.so")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    return ctypes.CDLL(str(folder / "shim.so"))


def pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(each.ctypes.data) for each in arrays]


def chain() -> wd.Model:
    """Two hinges with limits, and two continuous ones."""
    made = wd.ModelBuilder("chain").add_link("base")
    for k in range(N):
        made.add_link(f"l{k}", mass=1.0, inertia=np.eye(3))
        kind = "continuous" if k % 2 else "revolute"
        ends = {} if k % 2 else {"lower": -2.0, "upper": 1.5}
        made.add_joint(f"j{k}", kind, f"l{k - 1}" if k else "base", f"l{k}", velocity=2.0, **ends)
    return made.build()


MODEL = chain()
NAMES = list(MODEL.joint_names)


@pytest.mark.parametrize("violation", ["reject", "clip"])
@pytest.mark.parametrize("repulsion", ["by_law", "never"])
def test_joint_references_agree_with_the_node(library: Any, violation: str, repulsion: str) -> None:
    """The points, gaps and motions are random. Each refusal and each value of the wanted motion is
    compared."""
    random, events = np.random.default_rng(5), 3000
    far = (0.5, 0.3, 1.0, 0.8)
    settings = Settings.of(
        {
            "mode": "computed_torque",
            "max_tracking_error": far,
            "max_reference_acceleration": 6.0,
            "reference_timeout": 0.4,
            "reference_violation": violation,
            "joint_limit_repulsion": repulsion,
        }
    )
    kinds = random.choice(4, size=events, p=[0.05, 0.25, 0.3, 0.4]).astype(np.int32)
    times = 5.0 + np.cumsum(random.choice([0.001, 0.03, 0.3, 1.0], size=events))
    q = np.cumsum(0.05 * random.normal(size=(events, N)), axis=0)
    p = q + random.choice([0.1, 0.6, 3.0], size=(events, 1)) * random.normal(size=(events, N))
    p[random.uniform(size=events) < 0.02, 0] = np.nan
    v, a = random.normal(size=(events, N)), 3.0 * random.normal(size=(events, N))
    parts = random.uniform(size=(events, 8)) < 0.8
    parts[~parts[:, :N].any(axis=1), 0] = (
        True  # the controller refuses an empty list of names earlier
    )
    rows = np.concatenate([q, p, v, a, parts.astype(float)], axis=1)
    lower, upper = position_limits(MODEL, NAMES)
    turns = [float(k % 2) for k in range(N)]
    flags = [6.0, 0.4, float(violation == "clip"), float(repulsion != "never"), *turns]
    numbers = np.array([*far, *MODEL.velocity_limit, *lower, *upper, *flags])
    found = np.zeros((events, 16))
    library.joints(*pointers(numbers), ctypes.c_int(events), *pointers(kinds, times, rows, found))

    setpoint, state = Setpoint(MODEL, NAMES, NAMES, Counter()), State.of_robots(MODEL, 1).row(0)
    setpoint.change(settings)
    seen, at_limits = set(), setpoint.at_limits
    for k in range(events):
        now, expected = float(times[k]), 0
        state.q[:] = q[k]
        if kinds[k] == 0:
            setpoint.stay(state.q, since=now - 0.1)
        if kinds[k] >= 2:
            chosen = [j for j in range(N) if parts[k, j]]
            point = [
                part[k][chosen].tolist() if parts[k, 4 + i] else []
                for i, part in enumerate((p, v, a))
            ]
            names = [NAMES[j] for j in chosen]
            near = state.q if kinds[k] == 3 else None
            expected = REFUSALS.index(setpoint.read(names, tuple(point), now, near))
            seen.add(expected)
        ended = setpoint.ends(now, 0.4)
        setpoint.write(state)
        assert (found[k, 0], bool(found[k, 1])) == (expected, ended), k
        assert bool(found[k, 2]) == bool(setpoint.astray()), k
        assert bool(found[k, 3]) == (setpoint.at_limits != at_limits), k
        at_limits = setpoint.at_limits
        wanted = np.concatenate([state.q_desired, state.v_desired, state.a_desired])
        np.testing.assert_allclose(found[k, 4:], wanted, atol=1e-12)
    assert seen >= {0, 1, 3} and (2 in seen) == (violation == "reject")


def test_pose_references_agree_with_the_node(library: Any) -> None:
    """The poses are random, near and far. Some are nonfinite or no poses."""
    random, events = np.random.default_rng(6), 400
    model = wd.load_robot("ur5e")
    state = State.of_robots(model, 1).row(0)
    node = PoseReference(model, "tool0", state, Counter())
    node.change(Settings.of({}))
    rows, enabled = np.zeros((events, 14)), (random.uniform(size=events) < 0.9).astype(np.int32)
    enabled[0] = 0
    expected = np.zeros((events, 9))
    kinds = (None, "pose_nonfinite", "", "pose_too_far", "pose_no_rotation")
    seen = set()
    for k in range(events):
        state.q[:] = 0.4 + 0.02 * random.normal(size=6)
        pose = wd.fk(model, state.q[None], frame="tool0", form="pose")[0]
        wanted = pose + random.choice([0.01, 0.3]) * random.normal(size=7)
        if random.uniform() < 0.9:
            wanted[3:] /= np.linalg.norm(wanted[3:])
        if random.uniform() < 0.03:
            wanted[1] = np.inf
        rows[k] = np.concatenate([wanted, pose])
        if not enabled[k]:
            node.stay()
        expected[k, 0] = kinds.index(
            node.read(model.root, wanted[:3], wanted[3:], bool(enabled[k]))
        )
        node.compare()
        expected[k, 1], expected[k, 2:] = bool(node.astray()), state.pose_desired
        seen.add(int(expected[k, 0]))
    found = np.zeros((events, 9))
    library.poses(ctypes.c_int(events), *pointers(enabled, rows, found))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert seen == {0, 1, 3, 4}
