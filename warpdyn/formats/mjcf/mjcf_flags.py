"""MJCF: the parts of a simulation that <option> switches off, by <flag> and actuatorgroupdisable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from ..robot_source import Reading

OF_CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")
"""The flags that constraint="disable" implies."""

NOT_SIMULATED = {
    "limit": 'pass stops="none"',
    "filterparent": "bodies that a joint connects do not touch",
    "eulerdamp": 'damping is implicit with integrator="mujoco_euler"',
}
"""Disabled flags that a `Simulation` does not follow, each with its description for the remark."""


class Flags:
    """The flags of a file that differ from MuJoCo's defaults."""

    def __init__(self, reading: Reading, root: etree._Element) -> None:
        self.reading = reading
        written: dict[str, str] = {}
        for element in root.iterfind("option/flag"):
            for key, value in element.attrib.items():
                if value not in ("enable", "disable"):
                    raise reading.refusal(
                        element, f'{key} is "{value!s}"; it must be "enable" or "disable"'
                    )
                written[str(key)] = str(value)
        off = {key for key, word in written.items() if word == "disable"}
        self.disabled = frozenset(off.union(OF_CONSTRAINTS) if "constraint" in off else off)
        self.overrides_contacts = written.get("override") == "enable"
        groups = [e.get("actuatorgroupdisable", "") for e in root.iterfind("option")]
        last = next((each for each in reversed(groups) if each), "")
        if not all(re.fullmatch(r"[+-]?[0-9]+", word) for word in last.split()):
            message = f'actuatorgroupdisable is "{last}"; it must be whole numbers'
            raise reading.refusal(root, message)
        noslip = [e.get("noslip_iterations", "0") for e in root.iterfind("option")]
        self.has_noslip = any(word.strip() not in ("", "0") for word in noslip)
        self.disabled_groups = frozenset(map(int, last.split()))

    def acting(self, number: float, flag: str, what: str, element: etree._Element) -> float:
        """The number, or 0 with a remark if the flag is disabled."""
        if not number or flag not in self.disabled:
            return number
        self.reading.ignore(f'{what}, which <flag {flag}="disable"> switches off', element)
        return 0.0

    def not_simulated(self) -> Iterator[str]:
        """The flags that a `Simulation` does not follow, in words."""
        for flag, advice in NOT_SIMULATED.items():
            if flag in self.disabled:
                yield f'<flag {flag}="disable"> ({advice})'
        if self.has_noslip:
            yield "noslip_iterations of <option>"
        if self.overrides_contacts:
            yield '<flag override="enable">, with o_margin, o_solref, o_solimp and o_friction'
