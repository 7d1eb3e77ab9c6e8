"""The gate's C++ tables, compared with the node."""

from __future__ import annotations

import re

from ros2_node.control.commands.bumpless_transfer import MOST_FADES
from ros2_node.control.commands.torque_output import LAST_COMMANDS
from ros2_node.control.safety.gate import REFUSED, TRANSITIONS, GateEvent, Phase
from ros2_node.ros2_control.gate_table import CONSTANTS, gate_table

TABLE = gate_table()


def test_each_transition_is_in_the_table():
    """The rows of the C++ table, as numbers, equal the node's transitions."""
    rows = re.findall(r"^    \{([-\d, ]+)\},  // (\w+)$", TABLE, re.M)
    phases = list(Phase)
    assert [name for _, name in rows] == [event.name.lower() for event in GateEvent]
    for (numbers, _), event in zip(rows, GateEvent, strict=True):
        for number, phase in zip(numbers.split(", "), phases, strict=True):
            after = TRANSITIONS[event].get(phase)
            assert int(number) == (-1 if after is None else phases.index(after))


def test_each_refusal_has_its_text():
    for texts in REFUSED.values():
        assert all(f'"{text}"' in TABLE for text in texts.values())


def test_each_constant_has_its_value():
    for name, value in {
        **CONSTANTS,
        "last_commands": LAST_COMMANDS,
        "most_fades": MOST_FADES,
    }.items():
        assert f" {name} = {value!r};" in TABLE
