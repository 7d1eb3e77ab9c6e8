"""Examples of public names: from the docstring, or from one of the files in examples/.

A block of a file is a line with names, then the input and the output of an example for them. It may use
the names of `SETUP`; the page shows the lines that define them first.
"""

from __future__ import annotations

import doctest
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable

FOLDER = Path(__file__).parent / "examples"
"""A file for each page of the API reference that needs one."""

SETUP = """
from warpdyn import rl
from warpdyn import viewer
model = wd.load_robot("double_pendulum")
q = wd.random_configuration(model, 3, seed=0)
v = np.ones((3, model.nv))
a = np.zeros((3, model.nv))
tau = np.ones((3, model.nv))
hanging = np.zeros((1, model.nq))
free = wd.load_robot("double_pendulum", floating_base=True)
free = free.with_payload("base", 4.0, inertia=0.1 * np.eye(3))
foot = [wd.ContactPoint("lower_rod", (0.0, 0.0, -1.0), 0.02)]
pose = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]])
pi = wd.inertial.from_body(2.0, [0.0, 0.0, 0.5], 0.1 * np.eye(3))
swing_up = rl.make("cartpole_swing_up")
reach = rl.PandaReach()
around = rl.PandaReachObstacles()
lift = rl.PandaLift()
push = rl.PandaPush()
turn = rl.HandReorient()
stand = rl.HumanoidStand()
walk = rl.HumanoidVelocity()
trot = rl.QuadrupedVelocity()
rough = rl.QuadrupedRough()
getup = rl.QuadrupedGetup()
wave = 0.3 * np.sin(np.linspace(0.0, 2.0 * np.pi, 51))[:, None] * [1.0, -1.0]
wave = rl.MotionClip(50.0, model.joint_names, wave)
track = rl.MotionTracking(model, wave, kp=400.0, kd=10.0, effort=200.0, repeat="never")
motion, size = track.tables["motion"], track.tables["motion"].shape
key = wd.random.key(0, 5)
rod = {"mass": 1.0, "com": (0, 0, -0.15), "inertia": np.diag([0.0075, 0.0075, 1e-4])}
bar = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": np.diag([1e-4, 0.02, 0.02])}
parts = wd.ModelBuilder("linkage").add_link("ground").add_link("left", **rod)
parts = parts.add_link("right", **rod).add_link("bar", **bar)
parts = parts.add_joint("j1", "continuous", "ground", "left", axis=(0, 1, 0))
parts = parts.add_joint("j2", "continuous", "left", "bar", (0, 0, -0.3), axis=(0, 1, 0))
parts = parts.add_joint("j3", "continuous", "ground", "right", (0.5, 0, 0), axis=(0, 1, 0))
linkage = parts.connect("bar", (0.5, 0, 0), "right", (0, 0, -0.3)).build()
"""
"""Lines that make what examples begin with, after `import numpy as np` and `import warpdyn as wd`."""


def examples() -> dict[str, str]:
    """Example by path of its public name, complete except for the two imports."""
    read: dict[str, str] = {}
    for file in sorted(FOLDER.glob("*.txt")):
        for block in file.read_text().strip().split("\n\n"):
            names, text = block.split("\n", 1)
            read |= dict.fromkeys(names.split(), with_setup(text))
    return read


def with_setup(text: str) -> str:
    """The example after the lines of `SETUP` that define the names it uses."""
    parts = doctest.DocTestParser().get_examples(text)
    wanted, lines = used_names("".join(part.source for part in parts)), []
    for line, made_there, used_there in names_of_setup():
        if made_there & wanted:
            wanted |= used_there
            lines.append(f">>> {line}\n")
    return "".join(reversed(lines)) + text


@cache
def names_of_setup() -> list[tuple[str, set[str], set[str]]]:
    """Lines of `SETUP` in reverse order, with the names that each defines and uses."""
    lines = reversed(SETUP.strip().splitlines())
    return [(line, defined_names(symtable(line, "", "exec")), used_names(line)) for line in lines]


def used_names(code: str) -> set[str]:
    """Names that the code uses without defining them."""
    top = symtable(code, "", "exec")
    tables, names = [top], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {s.get_name() for s in table.get_symbols() if table is top or s.is_global()}
    return names - defined_names(top)


def defined_names(table: SymbolTable) -> set[str]:
    """Names that the code defines."""
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
