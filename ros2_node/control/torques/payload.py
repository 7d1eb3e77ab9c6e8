"""The payload of a link. Kernels read its numbers at every launch, so that another payload needs no other kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from warpdyn.model import Model
from warpdyn.model.params import Params

from ..settings.node_settings import Settings
from ..states.name_maps import single_joints


class Payload:
    """The inertial numbers of `payload.link` with its payload, as `params` for the functions of
    dynamics.

    Another mass, centre of mass or inertia is written into the same arrays; another link is another
    `Payload`, whose kernels are compiled once.
    """

    def __init__(self, model: Model, settings: Settings) -> None:
        self._model = model
        self.link = settings.payload_link
        self.mass = 0.0
        """Mass of the load alone [kg]."""
        self.settings = settings
        """The settings whose payload this is."""
        self.params: Params | None = None
        """Varying numbers of that link; None where no link carries anything."""
        if self.link:
            check_link(model, self.link)
            mass, com, inertia = numbers(model, settings)
            self.params = model.params(
                mass={self.link: mass}, com={self.link: com}, inertia={self.link: inertia}
            )
            self.mass = settings.payload_mass

    def change(self, settings: Settings) -> bool:
        """Carry another payload on the same link; False if nothing changes, or if these settings
        have a load on another link."""
        if self.params is None:
            return False
        if settings.payload_link != self.link:
            if settings.payload_mass:
                return False
            # A load that has been put down must not wait for the kernels of another link.
            settings = replace(settings, payload_link=self.link)
        written = False
        for name, value in zip(
            ("mass", "com", "inertia"), numbers(self._model, settings), strict=True
        ):
            row = self.params[name][0]
            written |= not np.array_equal(row, value)
            self.params[name][0] = value
        self.mass, self.settings = settings.payload_mass, settings
        return written

    def delay(self, settings: Settings) -> str:
        """The reason why the torques lack the load of these settings; empty if they do not."""
        if settings.payload_link == self.link or not settings.payload_mass or settings.policy:
            return ""
        return (
            f"the payload on {settings.payload_link} is not in the torques yet, because its kernels are "
            "being compiled: try again when the diagnostics show it"
        )

    def replace_in(self, settings: Settings) -> Settings:
        """The settings with this payload in place of one on another link."""
        mine = self.settings
        if mine.payload_link == settings.payload_link:
            return settings
        return replace(
            settings,
            payload_link=mine.payload_link,
            payload_mass=mine.payload_mass,
            payload_com=mine.payload_com,
            payload_inertia=mine.payload_inertia,
        )


def joints_without_mass(model: Model, joints: Iterable[str], load: Payload) -> list[str]:
    """The joints that move no mass, neither themselves nor by the joints that follow them. The
    payload counts."""
    mass = np.array([link.mass + load.mass * (link.name == load.link) for link in model.links])
    carried = mass @ model.supports  # by link: the mass of the link and of all that it carries
    moved = Counter[str]()
    for joint in model.joints:
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        moved[leader] += carried[model.link_index(joint.child)]
    return [name for name in joints if not moved[name]]


def remark_on_mass(model: Model, load: Payload) -> str:
    """The end of an error's text: the joints that move no mass, on which laws divide by zero; empty
    if there are none."""
    joints = joints_without_mass(model, single_joints(model), load)
    return f"; the description has no mass beyond {', '.join(joints)}" if joints else ""


def check_link(model: Model, link: str) -> None:
    """Raise ValueError if the model lacks the link."""
    if link not in model.link_names:
        links = ", ".join(model.link_names[:40])
        raise ValueError(f"payload.link {link!r} is not a link of {model.name}, which has {links}")


def numbers(model: Model, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass () [kg], com (3,) [m] and inertia (6,) about it [kg·m²] of the link and its payload
    together, in the link's frame; ValueError for a payload that is not a physical body."""
    xx, xy, xz, yy, yz, zz = settings.payload_inertia
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if settings.payload_mass and any(settings.payload_inertia):
        moments = np.linalg.eigvalsh(np.array(inertia))
        if moments[0] < 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
            shown = ", ".join(f"{x:g}" for x in moments)
            raise ValueError(
                "payload.inertia must be that of a body: principal moments of at least 0, none larger "
                f"than the sum of the other two; got {shown} kg*m^2"
            )
    x, y, z = settings.payload_com
    # A load without mass is not a load, so that its numbers can be set one after the other.
    if settings.payload_mass:
        model = model.with_payload(settings.payload_link, settings.payload_mass, (x, y, z), inertia)
    link = model.link(settings.payload_link)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
    return np.array(link.mass), np.array(link.com), np.array([xx, xy, xz, yy, yz, zz])
