"""Lists of names as maps to columns."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, NAMES, N, chain_text

import warpdyn as wd
from ros2_node.control.states.name_maps import MAX_MAPS, NameMaps, unreadable


def maps():
    q_of = {name: MODEL.q_indices([name])[0] for name in NAMES}
    return NameMaps(MODEL, q_of, np.arange(MODEL.nq))


def test_a_message_that_is_q_itself_is_a_slice():
    """Other orders are indices; what is missing and what is unknown is told."""
    both = maps()
    plain, turned = both.find(NAMES), both.find([*NAMES[::-1], "wheel"])
    assert plain.entries == plain.columns == slice(None) and plain.complete
    np.testing.assert_array_equal(turned.columns, np.arange(N)[::-1])
    assert turned.unknown == 1 and turned.complete
    part = both.find(NAMES[:3])
    np.testing.assert_array_equal(part.missing, np.arange(3, N))
    assert both.find([*NAMES, NAMES[0]]).problem == "duplicate_name"
    assert both.find(["wheel"]).problem == "no_known_joint"


def test_a_list_of_names_is_mapped_once_and_the_oldest_are_forgotten():
    """`forget` keeps the maps and forgets what they remember of messages."""
    both = maps()
    first = both.find(NAMES)
    first.stamp, first.needed = 5, np.zeros(N)
    assert both.find(list(NAMES)) is first
    both.forget()
    assert first.stamp == 0 and first.needed is None
    for k in range(MAX_MAPS):
        both.find([f"x{k}"])
    assert len(both) == MAX_MAPS and both.find(NAMES) is not first


def test_a_map_remembers_no_message_and_has_the_mimics_whose_source_comes_along():
    """(entry, entry of the source, multiplier, offset)."""
    both = maps()
    fresh = both.find(["panda_finger_joint2", *NAMES])
    assert fresh.mimics == ((0, N, 1.0, 0.0),) and fresh.unknown == 0
    assert fresh.stamp == 0 and fresh.needed is None and fresh.problem is None
    assert both.find([*NAMES[:7], "panda_finger_joint2"]).mimics == ()


def test_why_a_joint_cannot_be_read():
    """A mimic has its source's name; of many joints forty are listed."""
    assert unreadable(MODEL, "panda_finger_joint2") == (
        "joint 'panda_finger_joint2' follows 'panda_finger_joint1' and has no coordinate of its own: "
        "take it off the list"
    )
    names = ", ".join(f"j{k}" for k in range(40))
    assert unreadable(wd.load_urdf(chain_text(42)), "nose") == (
        f"chain has no moving joint 'nose'; its joints are {names}"
    )
