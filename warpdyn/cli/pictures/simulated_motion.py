"""The motion of a simulation on a page of the browser, with a time bar, contacts and forces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import viewer
from ...functions.simulation.simulation import Simulation
from ...viewer.contact_forces import contact_forces
from ...viewer.overlays import ContactForces
from ..command_line import write_file
from ..console import say
from ..workload import on_host

if TYPE_CHECKING:
    from ...viewer import Viewer

WITH_FORCES = 16
"""Largest number of robots whose contacts are drawn; with more, arrows would hide the robots."""

LONGEST = 0.3
"""Length of the arrow of a large force, relative to the robot's size."""

LARGE = 0.95
"""Quantile of forces that is a large one: impacts are larger."""


class SimulatedMotion:
    """Configurations and contacts of a simulation, launch by launch."""

    def __init__(self) -> None:
        self.q: list[np.ndarray] = []
        self.contacts: list[ContactForces] = []

    def add(self, sim: Simulation) -> None:
        """Add the present state."""
        self.q.append(on_host(sim.q).astype(float))
        self.contacts.append(contact_forces(sim, range(min(sim.envs, WITH_FORCES))))

    def show(self, sim: Simulation, seconds: float, **page: Any) -> Viewer:
        """A page on which the motion plays; `seconds` is the time of a launch, and the other
        arguments are those of `viewer.show`."""
        times = seconds * np.arange(len(self.q))
        shown = viewer.show(sim.model, self.q[0], controls=False, **page)
        strength = [np.linalg.norm(each.forces, axis=1) for each in self.contacts]
        forces = np.concatenate(strength)
        size = shown.robots["robot"].size
        scale = LONGEST * size / np.quantile(forces, LARGE) if len(forces) else 0.0

        def follow(at: float) -> None:
            shown.contacts(self.contacts[round((at - times[0]) / seconds)], scale=scale)

        shown.trajectory(sim.model, np.array(self.q), times, follow=follow)
        return shown


def show_motion(
    motion: SimulatedMotion,
    sim: Simulation,
    seconds: float,
    record: Path | None,
    *,
    stays: bool,
    host: str,
    port: int,
) -> None:
    """Write the page of a motion to `record`, and if it `stays` show it until Ctrl-C."""
    shown = motion.show(sim, seconds, host=host, port=port if stays else 0)
    try:
        for line in shown.remarks:
            say(line)
        if record is not None:
            write_file(record, shown.record)
            say(f"recorded: {record}, {record.stat().st_size / 1e6:.2f} MB")
        if stays:
            if shown.player is not None:
                shown.player.playing.value = True
            say(f"{sim.model.name} at {shown.address}; Ctrl-C ends it")
            shown.wait()
    except KeyboardInterrupt:
        pass
    finally:
        shown.stop()
