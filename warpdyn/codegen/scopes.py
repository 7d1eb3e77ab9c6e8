"""Statements in nested scopes, for a compiler that is slow with many variables in one scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

VARIABLES = 500
"""Statements of a scope. The time of NVRTC's front end grows faster than the square of the variables
in a scope: 0.3 s of CPU time for 4,000, 22 s for 15,000, and 0.4 s for 12,000 in scopes of 500 (AMD
EPYC under load, Warp 1.19). The machine code is the same."""


def in_scopes(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with a new inner scope after every VARIABLES lines. All scopes end with the last
    line."""
    opened = count = depth = 0
    for line in lines:
        if depth == 0 and count >= VARIABLES:
            yield "{"
            opened, count = opened + 1, 0
        yield line
        depth += line.count("{") - line.count("}")
        count += 1
    if opened:
        yield "}" * opened
