"""Contact pairs of two shapes in MuJoCo C."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from .peer import NotComparable

KINDS = {"sphere": "SPHERE", "capsule": "CAPSULE", "box": "BOX", "plane": "PLANE", "mesh": "MESH"}
"""MuJoCo's names of the kinds of shapes."""


class TouchingShape(Protocol):
    """A shape of a link, or of the world where the link is None: its kind and sizes [m], its position [m] and rotation
    (rows) in the link's frame, and the vertices of a mesh."""

    @property
    def link(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> Sequence[float]: ...
    @property
    def position(self) -> Sequence[float]: ...
    @property
    def rotation(self) -> Sequence[Sequence[float]]: ...
    @property
    def vertices(self) -> Sequence[Sequence[float]]: ...


class PairOfGeoms(Protocol):
    """Two shapes that touch each other."""

    @property
    def first(self) -> TouchingShape: ...
    @property
    def second(self) -> TouchingShape: ...


def links_of(pairs: Iterable[PairOfGeoms]) -> list[str]:
    """The links whose shapes are in the pairs."""
    return [
        each.link for pair in pairs for each in (pair.first, pair.second) if each.link is not None
    ]


def add_pairs(
    mujoco: Any,
    spec: Any,
    pairs: Sequence[PairOfGeoms],
    friction: float,
    contact_time: float | None,
) -> None:
    """Add the shapes of pairs to a specification, and the contacts of each pair, named pair0, pair1, ...

    The shapes touch nothing else and have no mass. contact_time: the time constant of contacts [s];
    None: MuJoCo's own.
    """
    names = _shape_names(pairs)
    for shape, name in names.items():
        _add_shape(mujoco, spec, shape, name)
    for k, pair in enumerate(pairs):
        contact = spec.add_pair(
            name=f"pair{k}",
            geomname1=names[pair.first],
            geomname2=names[pair.second],
            condim=3,
            friction=[friction, friction, 0, 0, 0],
        )
        if contact_time is not None:
            contact.solref = [contact_time, 1.0]


def _shape_names(pairs: Sequence[PairOfGeoms]) -> dict[TouchingShape, str]:
    """Names of the shapes of pairs, each shape once."""
    shapes = dict.fromkeys(each for pair in pairs for each in (pair.first, pair.second))
    return {shape: f"shape{k}" for k, shape in enumerate(shapes)}


def _add_shape(mujoco: Any, spec: Any, shape: TouchingShape, name: str) -> None:
    if shape.kind not in KINDS:
        raise NotComparable(f"MuJoCo has no contacts of a {shape.kind}")
    body = spec.worldbody if shape.link is None else spec.body(shape.link)
    turned = np.zeros(4)
    mujoco.mju_mat2Quat(turned, np.array(shape.rotation, float).ravel())
    geom = body.add_geom(
        name=name,
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{KINDS[shape.kind]}"),
        pos=list(shape.position),
        quat=turned,
        contype=0,
        conaffinity=0,
        mass=0,
    )
    if shape.kind == "mesh":
        spec.add_mesh(name=name, uservert=np.array(shape.vertices, float).ravel())
        geom.meshname = name
    else:
        sizes = (0.0, 0.0, 1.0) if shape.kind == "plane" else tuple(shape.size)
        geom.size = [*sizes, *[0.0] * (3 - len(sizes))]


def pair_numbers(robot: Any, pairs: Sequence[PairOfGeoms]) -> list[int]:
    """MuJoCo's numbers of the pairs. It sorts pairs, and the two shapes of each pair."""
    return [robot.pair(f"pair{k}").id for k in range(len(pairs))]


def pair_geoms(robot: Any, pairs: Sequence[PairOfGeoms]) -> dict[tuple[int, int], int]:
    """The index of each pair, by MuJoCo's numbers of its first and second shape."""
    numbers = {shape: robot.geom(name).id for shape, name in _shape_names(pairs).items()}
    return {(numbers[pair.first], numbers[pair.second]): k for k, pair in enumerate(pairs)}


def pair_forces(
    mujoco: Any, robot: Any, data: Any, geoms: Mapping[tuple[int, int], int]
) -> np.ndarray:
    """Forces of the first shapes on the second ones (pairs, 3), in the world's axes [N]; geoms:
    those of `pair_geoms`."""
    forces, force = np.zeros((len(geoms), 3)), np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        mujoco.mj_contactForce(robot, data, k, force)
        on_second = contact.frame.reshape(3, 3).T @ force[:3]
        between = contact.geom1, contact.geom2
        if between in geoms:
            forces[geoms[between]] += on_second
        elif between[::-1] in geoms:
            forces[geoms[between[::-1]]] -= on_second
    return forces
