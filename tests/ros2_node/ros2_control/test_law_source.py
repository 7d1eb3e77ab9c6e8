"""The C++ structs of laws."""

from __future__ import annotations

from functools import partial

import pytest

import warpdyn as wd
from ros2_node.ros2_control.controller_laws import ControllerLaw, built_in_laws
from ros2_node.ros2_control.law_source import _number, frame_function, law_structs
from warpdyn.functions.export.exporting import exported_functions

PANDA = wd.load_robot("panda")
ARM = [f"panda_joint{k}" for k in range(7, 0, -1)]
"""The arm's joints without the fingers, from the last to the first."""


def structs(*laws: ControllerLaw) -> str:
    calls = {law.name: law.torques(PANDA) for law in laws}
    calls |= {
        frame_function(law): partial(wd.fk, frame=law.frame, form="pose")
        for law in laws
        if law.frame
    }
    functions = exported_functions(PANDA, calls, "float64", bounded_loops=True)
    return law_structs(PANDA, ARM, laws, functions)


def test_columns_and_limits_follow_the_joints():
    text = structs(built_in_laws(None)["computed_torque"])
    assert "joint_count = 7;" in text and "q_columns = {6, 5, 4, 3, 2, 1, 0};" in text
    limits = ", ".join(repr(float(x)) for x in PANDA.effort_limit[:7][::-1])
    assert f"gate.described_effort = {{{limits}}};" in text
    assert "std::array<double, 8> kp = {100.0, 100.0" in text
    assert "has_frame = false;" in text and "frame_pose" not in text


def test_a_law_with_a_frame_computes_its_pose():
    text = structs(built_in_laws("panda_hand")["cartesian_impedance"])
    assert "dynamics::cartesian_impedance_frame(q.data(), pose.data());" in text
    assert "x.pose_desired.data(), x.q_desired.data(), gravity, inputs.stiffness.data()" in text


def test_a_law_that_returns_no_torques_is_refused():
    @wd.kernel
    def odd(robot, q):
        return q[:2]

    with pytest.raises(ValueError, match=r"law odd must return .* \(8,\), the torques; got \(2,\)"):
        structs(ControllerLaw("odd", odd))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.5, "1.5"),
        (-2.0, "-2.0"),
        (0.1, "0.1"),
        (float("nan"), "0.0"),
        (float("inf"), "infinity"),
        (-float("inf"), "-infinity"),
    ],
)
def test_numbers_are_written_as_cpp_literals(number: float, text: str):
    assert _number(number) == text
