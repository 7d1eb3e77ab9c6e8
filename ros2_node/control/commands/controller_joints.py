"""Comparison of the joint order of the commands with that of the controller. No ROS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Verdict(NamedTuple):
    """The result for one controller. Both messages are empty if the orders are equal."""

    refusal: str = ""
    """The reason why commands must not be sent to it."""
    remark: str = ""
    """The reason why its order is not known; commands may be sent."""


def compare(controller: str, theirs: Sequence[str], ours: Sequence[str]) -> Verdict:
    """Compare two joint orders. theirs: the controller's parameter `joints`; ours: the joints of ~/commands."""
    if not any(theirs):
        return unknown(controller, "its parameter joints is empty or not there")
    if list(theirs) == list(ours):
        return Verdict()
    return Verdict(
        f"{controller} takes torques for [{', '.join(theirs)}], and ~/commands has them for "
        f"[{', '.join(ours)}]: set command_joints to the controller's joints, in its order"
    )


def unknown(controller: str, why: str) -> Verdict:
    """The result if the order could not be read."""
    return Verdict(remark=f"the joints of {controller} are not checked: {why}")
