"""The tables and constants of the node's guards, as C++ for `torque_gate.hpp`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from warpdyn.codegen.escapes import string_literal

from ..control import robot_references
from ..control.blend_spacing import FLOAT_TIME
from ..control.commands.bumpless_transfer import MOST_FADES, STEPS
from ..control.commands.torque_output import LAST_COMMANDS, RISE_TIME, STOP_TIME
from ..control.safety import joint_limits
from ..control.safety.gate import (
    EXPLAINED,
    OPEN,
    REFUSED,
    STARTING,
    STOPPING,
    TRANSITIONS,
    GateEvent,
    Phase,
)

CONSTANTS = {
    "stop_time": STOP_TIME,
    "rise_time": RISE_TIME,
    "float_time": FLOAT_TIME,
    "posture_speed": robot_references.POSTURE_SPEED,
    "longest_posture_cycle": robot_references.LONGEST_CYCLE,
    "fade_steps": float(STEPS),
    "largest_share": joint_limits.LARGEST_SHARE,
    "braking_time": joint_limits.BRAKING_TIME,
    "spring_per_cycle": joint_limits.SPRING_PER_CYCLE,
    "damper_per_cycle": joint_limits.DAMPER_PER_CYCLE,
    "first_cycle": joint_limits.CYCLE,
    "longest_cycle": joint_limits.LONGEST_CYCLE,
    "cycles": float(joint_limits.CYCLES),
}
"""Constants of the node's guards by their C++ names."""

SETS = {
    "is_open": OPEN,
    "is_stopping": STOPPING,
    "is_starting": STARTING,
    "is_explained": EXPLAINED,
}
"""Sets of phases by the C++ names of their tests."""


def gate_table() -> str:
    """C++ enumerations of phases and events, the table of transitions, the refusals and the constants."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    phases, events = list(Phase), list(GateEvent)
    yield "constexpr double infinity = std::numeric_limits<double>::infinity();"
    yield from (f"constexpr double {name} = {value!r};" for name, value in CONSTANTS.items())
    yield f"constexpr int last_commands = {LAST_COMMANDS};"
    yield f"constexpr std::size_t most_fades = {MOST_FADES};"
    yield ""
    yield f"enum class Phase : unsigned char {{ {', '.join(map(_name, phases))} }};"
    texts = ", ".join(string_literal(phase.value) for phase in phases)
    yield f"constexpr const char *phase_texts[] = {{{texts}}};"
    yield "constexpr const char *text(Phase phase) noexcept { return phase_texts[static_cast<int>(phase)]; }"
    yield f"enum class GateEvent : unsigned char {{ {', '.join(map(_name, events))} }};"
    for name, among in SETS.items():
        yield f"constexpr bool {name}(Phase phase) noexcept {{ return {_among(among)}; }}"
    # Tables of numbers, which a compiler reads without a constructor at start.
    yield ""
    yield "// The next phase for each event (row) and phase (column); -1: refused."
    yield f"constexpr signed char transitions[{len(events)}][{len(phases)}] = {{"
    for event in events:
        row = (TRANSITIONS[event].get(phase) for phase in phases)
        shown = ", ".join("-1" if each is None else str(phases.index(each)) for each in row)
        yield f"    {{{shown}}},  // {_name(event)}"
    yield "};"
    yield "// The reason for which an event is refused. {reason} stands for the text of the cause."
    yield f"constexpr const char *refusals[{len(events)}][{len(phases)}] = {{"
    for event in events:
        said = (REFUSED.get(event, {}).get(phase) for phase in phases)
        yield "    {"
        yield from (f"        {'nullptr' if x is None else string_literal(x)}," for x in said)
        yield "    },"
    yield "};"


def _name(each: Phase | GateEvent) -> str:
    return each.name.lower()


def _among(phases: Collection[Phase]) -> str:
    return " || ".join(f"phase == Phase::{_name(phase)}" for phase in phases)
