"""Lists of names as maps to columns."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, NAMES, N, chain_text

import warpdyn as wd
from ros2_node.control.states.name_maps import MAX_MAPS, NameMaps, unreadable, unreadable_joints


def maps():
    q_of = {name: MODEL.q_indices([name])[0] for name in NAMES}
    return NameMaps(MODEL, q_of, np.arange(MODEL.nq))


def test_a_message_in_the_models_order_is_a_slice():
    """Other orders are indices. Missing and unknown joints are reported."""
    both = maps()
    plain, turned = both.find(NAMES), both.find([*NAMES[::-1], "wheel"])
    assert plain.entries == plain.columns == slice(None) and plain.complete
    np.testing.assert_array_equal(turned.columns, np.arange(N)[::-1])
    assert turned.unknown == 1 and turned.complete
    part = both.find(NAMES[:3])
    np.testing.assert_array_equal(part.missing, np.arange(3, N))
    assert both.find([*NAMES, NAMES[0]]).problem == "duplicate_name"
    assert both.find(["wheel"]).problem == "no_known_joint"


def test_maps_of_names_are_cached_and_the_oldest_are_dropped():
    """`forget` keeps the maps, and clears what they store of messages."""
    both = maps()
    first = both.find(NAMES)
    first.stamp, first.needed = 5, np.zeros(N)
    assert both.find(list(NAMES)) is first
    both.forget()
    assert first.stamp == 0 and first.needed is None
    for k in range(MAX_MAPS):
        both.find([f"x{k}"])
    assert len(both) == MAX_MAPS and both.find(NAMES) is not first


def test_a_new_map_has_no_message_and_lists_checkable_mimic_joints():
    """A mimic entry is (entry, entry of the source, multiplier, offset)."""
    both = maps()
    fresh = both.find(["panda_finger_joint2", *NAMES])
    assert fresh.mimics == ((0, N, 1.0, 0.0),) and fresh.unknown == 0
    assert fresh.stamp == 0 and fresh.needed is None and fresh.problem is None
    assert both.find([*NAMES[:7], "panda_finger_joint2"]).mimics == ()


def test_the_message_says_why_a_joint_cannot_be_read():
    """The message about a mimic joint names its source. A list has at most forty joints."""
    assert unreadable(MODEL, "panda_finger_joint2") == (
        "joint 'panda_finger_joint2' follows 'panda_finger_joint1' and has no coordinate of its own: "
        "take it off the list"
    )
    names = ", ".join(f"j{k}" for k in range(40))
    assert unreadable(wd.load_urdf(chain_text(42)), "nose") == (
        f"chain has no moving joint 'nose'; its joints are {names}"
    )


def test_joints_of_several_coordinates_are_unreadable():
    """Mimic joints have no coordinate of their own and are not among them."""
    assert unreadable_joints(MODEL) == ()
    humanoid = wd.load_robot("humanoid", floating_base=True)
    assert unreadable_joints(humanoid) == (humanoid.base_joint,)
