"""Comparison of the joint orders of a controller and of the node."""

from __future__ import annotations

import pytest

from ros2_node.control.commands.controller_joints import Verdict, compare, unknown


def test_the_same_order_gives_no_message():
    assert compare("c", ["a", "b"], ("a", "b")) == Verdict("", "")


@pytest.mark.parametrize("theirs", [["b", "a"], ["a"], ["a", "b", "c"], ["a", "x"]])
def test_another_order_or_other_joints_are_refused_in_one_line(theirs):
    """The line has both lists and the parameter to change."""
    verdict = compare("left/effort", theirs, ["a", "b"])
    assert not verdict.remark and "\n" not in verdict.refusal
    assert verdict.refusal.startswith(f"left/effort takes torques for [{', '.join(theirs)}]")
    assert "[a, b]" in verdict.refusal and "command_joints" in verdict.refusal


@pytest.mark.parametrize("theirs", [(), [""], None])
def test_unknown_controller_joints_give_a_remark_and_no_refusal(theirs):
    verdict = compare("c", theirs or (), ["a"])
    assert not verdict.refusal and "joints of c are not checked" in verdict.remark
    assert unknown("c", "it is gone").remark.endswith("it is gone")
