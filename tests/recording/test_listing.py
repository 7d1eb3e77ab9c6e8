"""Programs as readable lines."""

from __future__ import annotations

from warpdyn.algebra.scalar import repeat, select_less
from warpdyn.recording.program import record


def test_operations_are_written_as_in_python() -> None:
    program = record(
        lambda x: [x[0] * x[1] + 2.0, -x[0], select_less(x[0], 1.0, x[1], 3.0), 4.0], {"x": (2,)}
    )
    lines = program.listing("text").splitlines()
    assert lines[0].startswith("text(x[2]) -> out[4]")
    assert any(line.endswith("+ 2.0") for line in lines)
    assert any(" if " in line and "< 1.0 else 3.0" in line for line in lines)
    assert any(line.startswith("out[1] = -t") for line in lines) and "out[3] = 4.0" in lines


def test_a_loop_is_listed_with_its_steps() -> None:
    program = record(lambda x: repeat(lambda s: [s[0] * x[1] + 0.5], [x[0]], 10), {"x": (2,)})
    assert "10 times" in program.listing() and program.listing().count("->") == 2
