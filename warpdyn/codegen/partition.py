"""Division of a program into parts that a compiler handles well, with a workspace for values that
cross cuts.

A compiler allocates registers badly in a straight line of thousands of statements: the RNEA of a
32-joint robot, 2,400 statements, took 67 ns an environment in one function and 54 in ten (clang, 32
vector registers, B = 16,384). Cuts are made where few values are alive. Values that a load can
restore (inputs, and sines and cosines in a table) are loaded again instead of kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..recording.order import CELL, Statement, operands

CORNER_SLOTS = 4
"""Slots at the beginning of the workspace of a program that looks up cells of tables."""


def split_statements(
    statements: Sequence[Statement], size: int, at_hand: Callable[[Statement], bool]
) -> tuple[list[list[Statement]], int]:
    """Parts of about `size` statements, and the number of slots that their workspace needs.

    Further operations: `recall(slot)` reads the workspace, `keep(slot)` writes its target there.
    `at_hand` is true for statements that only load values that every part can load.
    """
    bounds = _bounds(statements, size, at_hand)
    part_of = {
        s.target: k for k, (start, stop) in enumerate(bounds) for s in statements[start:stop]
    }
    last_part = {x: part_of[s.target] for s in statements for x in operands(s)}
    loads = {s.target: s for s in statements if at_hand(s)}
    # Slots are reused like registers: one is free from the part after the last that reads it.
    parts: list[list[Statement]] = []
    slot: dict[int, int] = {}
    free: list[int] = []
    # The first slots are reserved for the corners of cells, wherever these are looked up.
    slots = CORNER_SLOTS if any(s.operation == CELL for s in statements) else 0
    leaving: dict[int, list[int]] = {}
    for k, (start, stop) in enumerate(bounds):
        free += leaving.pop(k, [])
        part: list[Statement] = []
        known: set[int] = set()
        for statement in statements[start:stop]:
            # Recalled just before its first use instead of at the beginning of the part, so that
            # fewer values are alive. A statement comes after its operands, so that one which is not
            # known here is a load or belongs to an earlier part.
            for x in dict.fromkeys(operands(statement)):
                if x not in known:
                    part.append(loads[x] if x in loads else Statement(x, "recall", (slot[x],)))
                    known.add(x)
            part.append(statement)
            known.add(statement.target)
            until = last_part.get(statement.target, k)
            # A value that a load can restore takes no slot, however late it is read.
            if until > k and statement.target not in loads:
                if not free:
                    free.append(slots)
                    slots += 1
                slot[statement.target] = free.pop()
                part.append(Statement(statement.target, "keep", (slot[statement.target],)))
                leaving.setdefault(until + 1, []).append(slot[statement.target])
        parts.append(part)
    return parts, slots


def _bounds(
    statements: Sequence[Statement], size: int, at_hand: Callable[[Statement], bool]
) -> list[tuple[int, int]]:
    """Start and stop of each part: close to even cuts, shifted by up to half a part to where fewest
    values are alive."""
    total = len(statements)
    number = max(1, round(total / size))
    alive = _alive(statements, at_hand)
    cuts = [0]
    for k in range(1, number):
        even = total * k // number
        low, high = max(even - size // 2, cuts[-1] + 1), even + size // 2
        if low < high:
            cuts.append(min(range(low, high), key=alive.__getitem__))
    return list(zip(cuts, [*cuts[1:], total], strict=True))


def _alive(statements: Sequence[Statement], at_hand: Callable[[Statement], bool]) -> list[int]:
    """The number of earlier values that each statement or a later one reads."""
    last = {x: n for n, s in enumerate(statements) for x in operands(s)}
    change = [0] * (len(statements) + 2)
    for n, statement in enumerate(statements):
        if statement.target in last and not at_hand(statement):
            change[n + 1] += 1
            change[last[statement.target] + 1] -= 1
    alive, now = [], 0
    for step in change:
        now += step
        alive.append(now)
    return alive
