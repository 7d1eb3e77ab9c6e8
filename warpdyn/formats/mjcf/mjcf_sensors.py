"""MJCF: <sensor> and <option>, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ...model.described_sensors import DescribedSensor
from ..robot_source import tag_name
from .mjcf_bodies import WORLD
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
    there: Mapping[str, Collection[str]] = {
        "joint": {*joints, *_names(root, "worldbody//joint")},
        "site": {*sites, *_names(root, "worldbody//site")},
        "body": {*links, *_names(root, "worldbody//body"), WORLD},
        "tendon": _names(root, "tendon/*"),
        "actuator": _names(root, "actuator/*"),
    }
    for element in (each for section in root.findall("sensor") for each in section):
        written = values.attributes(element, tag_name(element), None)
        kind, name = written.get("objtype", ""), written.get("objname", "")
        body = written.get("body") or (name if kind in BODIES else "")
        site = written.get("site") or (name if kind == "site" else "")
        link = sites.get(site, body)
        joint = written.get("joint", "")
        for part, names in there.items():
            if (of := written.get(part)) is not None and of not in names:
                values.ignore(f'{part} "{of}" of a sensor, which the file does not have', element)
        yield DescribedSensor(
            written.pop("name", ""),
            tag_name(element),
            link if link in links else None,
            joint if joint in joints else None,
            said=tuple(written.items()),
        )


def _names(root: Element, path: str) -> set[str]:
    return {str(element.get("name", "")) for element in root.iterfind(path)}


def physics_of(values: MjcfValues, root: Element) -> dict[str, str]:
    """The attributes of <option>, and those of its <flag> by path."""
    flags: dict[str, str] = {}
    for option in root.findall("option"):
        flags |= values.settings(option, "flag")
    return {**values.settings(root, "option"), **{f"flag/{k}": x for k, x in flags.items()}}
