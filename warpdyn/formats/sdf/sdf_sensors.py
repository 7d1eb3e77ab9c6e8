"""SDF: sensors of links and joints, and a world's physics settings, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model.described_sensors import DescribedSensor
from ...model.names import ModelError
from ...model.poses_and_limits import Pose
from ..robot_source import tag_name
from .sdf_frames import SdfFrame, SdfFrames
from .sdf_values import Element, SdfValues, child, children

HOLDERS = ("link", "joint")


def sensors_of(values: SdfValues, frames: SdfFrames, top: SdfFrame) -> Iterator[DescribedSensor]:
    """Every <sensor> of the model `top`. A sensor whose pose is invalid is left out with a
    remark."""
    for frame in top.walk(*HOLDERS):
        for element in children(frame.element, "sensor"):
            try:
                pose = _pose(values, frames, frame, element)
            except ModelError as error:
                reason = str(error).removeprefix(f"{values.source}: ")
                values.remarks.append(f"{reason}; this sensor is left out")
                continue
            on = {frame.kind: frame.path(top)}
            rest = tuple((key, text) for key, text in words(element) if not key.startswith("pose"))
            name, kind = element.get("name", ""), element.get("type", "")
            yield DescribedSensor(name, kind, on.get("link"), on.get("joint"), pose, rest)


def physics_of(world: Element) -> Mapping[str, str]:
    """Settings of a world's default <physics>, or of its first, and its <gravity>: by path."""
    if tag_name(world) != "world":
        return {}
    profiles = children(world, "physics")
    chosen = next((x for x in profiles if x.get("default") in ("1", "true")), None)
    chosen = profiles[0] if chosen is None and profiles else chosen
    properties: dict[str, str] = {}
    if chosen is not None:
        properties = {
            key.removeprefix("@"): text for key, text in (*_attributes(chosen), *words(chosen))
        }
    gravity = child(world, "gravity")
    if gravity is not None:
        properties["gravity"] = " ".join((gravity.text or "").split())
    return properties


def words(element: Element, path: str = "") -> Iterator[tuple[str, str]]:
    """Texts and attributes of everything in an element, by path."""
    for inner in element:
        here = f"{path}{tag_name(inner)}"
        text = " ".join((inner.text or "").split())
        if text:
            yield here, text
        yield from _attributes(inner, f"{here}/")
        yield from words(inner, f"{here}/")


def _attributes(element: Element, path: str = "") -> Iterator[tuple[str, str]]:
    for key, text in element.attrib.items():
        yield f"{path}@{key}", str(text)


def _pose(values: SdfValues, frames: SdfFrames, frame: SdfFrame, element: Element) -> Pose:
    """The pose of a sensor in its link or joint frame."""
    X, relative_to = values.pose(element)
    if relative_to:
        base = frames.find_named(frame, "relative_to", relative_to)
        X = frames.relative(base, frame).compose(X).as_matrix()
    return Pose.of(X)
