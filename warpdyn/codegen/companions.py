"""Long programs compiled on all cores: their parts in texts of their own, the companions of a kernel.

A compiler takes as long as a text is long, on one core. The parts of a program know nothing of each
other but the block they work on, so that each companion is compiled by itself; its kernel calls them
by their addresses, which it is given before its first launch (`execution/compile/compiling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, groupby

from . import headers, lanes

SIZE = 300_000
"""Characters of the parts in one companion, about, which are compiled in a second. Smaller ones would
keep more cores busy, and cost more: a floating humanoid's aba_derivatives, 2.5 million characters,
takes one core 14.5 s with three companions, 15.3 with seven and 17.6 with thirteen; two cores 10.5,
9.3 and 9.7 (AMD EPYC)."""


def share(texts: Sequence[str]) -> list[range]:
    """Which parts go to which companion, in order and about even by length; none where all of them are
    no more than one companion and a half."""
    ends = [*accumulate(map(len, texts))]
    number = round(ends[-1] / SIZE) if ends else 0
    if number < 2:
        return []

    def home(part: int) -> int:
        """The companion that the middle of a part lies in."""
        return int((ends[part] - len(texts[part]) / 2) * number / ends[-1])

    shares = (list(parts) for _, parts in groupby(range(len(texts)), key=home))
    return [range(parts[0], parts[-1] + 1) for parts in shares]


def calls(parts: range) -> str:
    """C++ that runs parts for the blocks of a group, each part for all of them before the next."""
    return "\n".join(
        f"  for (int k = 0; k < group; ++k) Lanes::part{part}(blocks[k]);" for part in parts
    )


def companion(
    single: bool, ahead: int, members: Sequence[str], functions: Sequence[str], parts: range
) -> str:
    """The text of a companion; `functions`: those of its parts, and all that they call."""
    return lanes.frame(
        single,
        ahead=ahead,
        members=members,
        parts=[*functions, headers.piece("blocks.h", "companion", calls=calls(parts))],
        body=headers.piece("blocks.h", "address"),
    )


def linked(number: int) -> tuple[str, str]:
    """C++ of a kernel with so many companions: what receives their addresses, and what calls them."""
    text = headers.piece("blocks.h", "companions", number=number)
    return text, "\n".join(f"  companions[{k}](blocks, group);" for k in range(number))
