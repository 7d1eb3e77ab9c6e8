"""MJCF: <sensor> and <option>, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ...model.described_sensors import DescribedSensor
from ..robot_source import tag_name
from .mjcf_values import Element, MjcfValues

BODIES = ("body", "xbody")


def read_sensors(
    values: MjcfValues,
    root: Element,
    links: Collection[str],
    joints: Collection[str],
    sites: Mapping[str, str],
) -> Iterator[DescribedSensor]:
    """Every element of <sensor>, on the link or joint that it names.

    sites: the link of each site.
    """
    for element in (each for section in root.findall("sensor") for each in section):
        written = values.attributes(element, tag_name(element), None)
        kind, name = written.get("objtype", ""), written.get("objname", "")
        body = written.get("body") or (name if kind in BODIES else "")
        site = written.get("site") or (name if kind == "site" else "")
        link = sites.get(site, body)
        joint = written.get("joint", "")
        yield DescribedSensor(
            written.pop("name", ""),
            tag_name(element),
            link if link in links else None,
            joint if joint in joints else None,
            said=tuple(written.items()),
        )


def physics_of(values: MjcfValues, root: Element) -> dict[str, str]:
    """The attributes of <option>, and those of its <flag> by path."""
    flags: dict[str, str] = {}
    for option in root.findall("option"):
        flags |= values.settings(option, "flag")
    return {**values.settings(root, "option"), **{f"flag/{k}": x for k, x in flags.items()}}
