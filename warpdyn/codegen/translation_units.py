"""Parallel compilation of long programs: their parts are divided among several sources, the extra
translation units of a kernel.

The time of a compiler grows with the length of a source, and it uses one core. The parts of a
program share only the block that they work on, so each unit can be compiled separately. The kernel
calls the functions of the other units by their addresses, which it receives before its first launch
(`execution/compile/compiling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

from . import headers, lanes

SIZE = 300_000
"""Approximate number of characters of the parts in one extra unit, which compile in a second.
Smaller units would keep more cores busy, but cost more in total: a floating humanoid's
aba_derivatives, 2.5 million characters, takes one core 14.5 s with three units, 15.3 with
seven and 17.6 with thirteen; two cores 10.5, 9.3 and 9.7 (AMD EPYC)."""


def divide_parts(texts: Sequence[str]) -> list[range]:
    """The parts of each extra unit, in order and of about equal length; none if all parts together
    are no longer than one and a half units."""
    ends = [*accumulate(map(len, texts))]
    number = round(ends[-1] / SIZE) if ends else 0
    if number < 2:
        return []

    def unit_of_part(part: int) -> int:
        """The extra unit that contains the middle of a part."""
        return int((ends[part] - len(texts[part]) / 2) * number / ends[-1])

    shares = (list(parts) for _, parts in groupby(range(len(texts)), key=unit_of_part))
    return [range(parts[0], parts[-1] + 1) for parts in shares]


def part_calls(parts: range) -> str:
    """C++ that runs parts for the blocks of a group, each part for all of them before the next."""
    return "\n".join(
        f"  for (int k = 0; k < group; ++k) Lanes::part{part}(blocks[k]);" for part in parts
    )


def translation_unit(
    single: bool,
    ahead: int,
    members: Sequence[str],
    functions: Sequence[str],
    parts: range,
    narrow: bool,
) -> str:
    """The source of an extra unit. `functions`: those of its parts, and all functions that they
    call. `narrow`: as in `lanes.frame`."""
    return lanes.frame(
        single,
        ahead=ahead,
        members=members,
        parts=[*functions, headers.piece("blocks.h", "companion", calls=part_calls(parts))],
        body=headers.piece("blocks.h", "address"),
        narrow=narrow,
    )


def unit_calls(number: int) -> tuple[str, str]:
    """C++ of a kernel with this number of extra units: the code that receives their addresses, and
    the code that calls them."""
    text = headers.piece("blocks.h", "companions", number=number)
    return text, "\n".join(f"  companions[{k}](blocks, group);" for k in range(number))
