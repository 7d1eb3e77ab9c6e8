"""SDF: the frames of a file and their poses.

Every model, link, joint and frame element is a frame. Its <pose> is given in another (relative_to),
which makes a tree with the world as its root. The frame that it moves with (attached_to, a joint's
child, a model's canonical link) makes a second tree. Names belong to the surrounding model;
"inner::link" reaches into nested models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...algebra.spatial import HERE, IDENTITY, Placement, Rotation, Vector, as_matrix
from ...model.names import near_names, suggestion
from ..robot_source import tag_name
from .sdf_values import Element, SdfValues, children

ROUND_OFF = 1e-14
"""Tolerance within which entries of rotation products are set to 0 or ±1."""

KINDS = ("link", "model", "frame", "joint")
"""The kinds of frames that a name may refer to. If an old file (below 1.7) uses one name twice, the
first of these kinds is meant."""


@dataclass(eq=False)
class SdfFrame:
    """A frame of the file: the world (no element), or a model, link, joint or frame element."""

    kind: str
    name: str
    element: Element
    around: SdfFrame | None
    """The model, or the world, that it is declared in."""
    inside: list[SdfFrame] = field(default_factory=list)
    names: dict[tuple[str, str], SdfFrame] = field(default_factory=dict)
    """Frames declared in it, by kind and name."""
    static: bool = False
    """True if it or a model around it is marked static."""
    moves_with: SdfFrame | None = None
    """The link, or the world, that carries it."""
    reference: SdfFrame | None = None
    """The frame that its pose is given in."""
    depth: int = -1
    """Number of poses between it and the world; -1 until that is known."""
    raw: Placement | None = None
    """Its pose in its reference."""

    def path(self, top: SdfFrame) -> str:
        """Its name as seen from the model `top`: "inner::link"."""
        names, frame = [self.name], self.around
        while frame is not top and frame is not None and frame.around is not None:
            names.append(frame.name)
            frame = frame.around
        return "::".join(reversed(names))

    def within(self, top: SdfFrame) -> bool:
        frame: SdfFrame | None = self
        while frame is not None and frame is not top:
            frame = frame.around
        return frame is top

    def walk(self, *kinds: str) -> Iterator[SdfFrame]:
        """The frames of these kinds declared in it and in its nested models, in the order of the
        file."""
        for frame in self.inside:
            if frame.kind in kinds:
                yield frame
            yield from frame.walk(*kinds)


class SdfFrames:
    """The frames of one world, or of a file's models if it has no world."""

    def __init__(self, values: SdfValues, world: Element, movable: bool) -> None:
        """Declare the frames. world: a <world>, or the <sdf> if it contains models itself. movable:
        treat no model as static."""
        self.values, self.movable = values, movable
        self.world = SdfFrame("world", "world", world, None, depth=0, raw=HERE)
        self._declare(self.world)

    def _declare(self, scope: SdfFrame) -> None:
        assert scope.element is not None
        for element in children(scope.element, *KINDS):
            if scope.kind == "world" and tag_name(element) == "link":
                continue
            frame = SdfFrame(tag_name(element), self.values.name(element), element, scope)
            others = [kind for kind in KINDS if (kind, frame.name) in scope.names]
            if others and (frame.kind in others or self.values.version >= (1, 7)):
                both = (
                    f"two {frame.kind}s"
                    if frame.kind in others
                    else f"a {others[0]} and a {frame.kind}"
                )
                raise self.values.refusal(
                    element,
                    f'{both} are named "{frame.name}" in one {scope.kind}; give each its own name',
                )
            scope.names[frame.kind, frame.name] = frame
            scope.inside.append(frame)
            if frame.kind == "model":
                frame.static = scope.static or (
                    not self.movable and bool(self.values.flag(element, "static"))
                )
                self._declare(frame)
            else:
                frame.static = scope.static

    # Names.

    def find(self, scope: SdfFrame, name: str, *kinds: str) -> SdfFrame | None:
        """The frame called `name` in `scope`, if it is of one of these kinds (of any kind if none
        is given)."""
        if name in ("__model__", "world"):
            fits = (name == "world") == (scope.kind == "world") and scope.kind in (
                kinds or (scope.kind,)
            )
            return scope if fits else None
        for kind in kinds or KINDS:
            if (kind, name) in scope.names:
                return scope.names[kind, name]
        for end in range(len(name)):
            if name.startswith("::", end) and (nested := scope.names.get(("model", name[:end]))):
                found = self.find(nested, name[end + 2 :], *kinds)
                if found is not None:
                    return found
        return None

    def find_named(
        self, by: SdfFrame, what: str, name: str, *kinds: str, scope: SdfFrame | None = None
    ) -> SdfFrame:
        """The frame that `by` names, seen from the model in which `by` is declared."""
        scope = scope or by.around
        assert scope is not None
        found = self.find(scope, name, *kinds)
        if found is None:
            known = [frame.path(scope) for frame in scope.walk(*(kinds or KINDS))]
            hint = suggestion(near_names(name, known))
            there = f"; there are {', '.join(known[:8]) or 'none'}"
            where = "the world" if scope.kind == "world" else f'model "{scope.name}"'
            wanted = " or ".join(kinds) or "frame"
            raise self.values.refusal(
                by.element, f'{what} is "{name}", but {where} has no such {wanted}{hint or there}'
            )
        return found

    # Poses.

    def relative(self, frame: SdfFrame, base: SdfFrame) -> Placement:
        """The pose of `frame` in `base`, without rounding if one is given directly in the other."""
        self._settle(frame)
        self._settle(base)
        downs: list[SdfFrame] = []
        ups: list[SdfFrame] = []
        while frame is not base:
            if frame.depth >= base.depth:
                downs.append(frame)
                frame = frame.reference or self.world
            else:
                ups.append(base)
                base = base.reference or self.world
        inward, outward = self._product(downs), self._product(ups)
        return inward if outward is HERE else _clean(outward.inverse().compose(inward))

    def _product(self, chain: list[SdfFrame]) -> Placement:
        X = HERE
        for frame in reversed(chain):
            X = self._raw(frame) if X is HERE else _clean(X.compose(self._raw(frame)))
        return X

    def _raw(self, frame: SdfFrame) -> Placement:
        """The pose of a frame in its reference frame."""
        if frame.raw is None:
            X, _ = self.values.pose(frame.element)
            placed = frame.element.get("placement_frame", "") if frame.kind == "model" else ""
            if placed and placed != "__model__":
                inner = self.find_named(frame, "placement_frame", placed, scope=frame)
                X = X.compose(self.relative(inner, frame).inverse()).as_matrix()
            frame.raw = X
        return frame.raw

    def _settle(self, frame: SdfFrame) -> None:
        """Find the reference of a frame's pose, and so on up to the world, and count the steps."""
        chain: list[SdfFrame] = []
        seen: set[SdfFrame] = set()
        while frame.depth < 0:
            if frame in seen:
                circle = " -> ".join(f.name for f in [*chain[chain.index(frame) :], frame])
                raise self.values.refusal(
                    frame.element,
                    f"poses are given relative to each other in a cycle ({circle}); give one relative to the model",
                )
            seen.add(frame)
            chain.append(frame)
            frame.reference = self._reference(frame)
            frame = frame.reference
        for k, one in enumerate(reversed(chain)):
            one.depth = frame.depth + 1 + k

    def _reference(self, frame: SdfFrame) -> SdfFrame:
        _, name = self.values.pose(frame.element)
        if name:
            return self.find_named(frame, "relative_to", name)
        if frame.kind == "joint":
            return self.joint_end(frame, "child")
        assert frame.around is not None
        to = frame.element.get("attached_to", "") if frame.kind == "frame" else ""
        return self.find_named(frame, "attached_to", to) if to else frame.around

    def joint_end(self, joint: SdfFrame, tag: str) -> SdfFrame:
        """The frame that a joint calls its parent or child."""
        name = self.values.child_string(joint.element, tag)
        if not name:
            raise self.values.refusal(joint.element, f"it has no <{tag}>; name a link in it")
        if name == "world":
            if tag == "child":
                raise self.values.refusal(
                    joint.element, "its child is the world; make the world its parent"
                )
            return self.world
        return self.find_named(joint, f"its {tag}", name)

    # Carriers of frames.

    def carrier(self, frame: SdfFrame) -> SdfFrame:
        """The link that a frame moves with; the world if it does not move."""
        chain: dict[SdfFrame, None] = {}
        while frame.moves_with is None:
            if frame in chain:
                names = [one.name for one in chain]
                circle = " -> ".join([*names[names.index(frame.name) :], frame.name])
                raise self.values.refusal(
                    frame.element,
                    f"frames are attached to each other in a cycle ({circle}); attach one to a link",
                )
            chain[frame] = None
            if frame.kind in ("link", "world"):
                frame.moves_with = frame
            elif frame.kind == "joint":
                frame = self.joint_end(frame, "child")
            elif frame.kind == "frame":
                assert frame.around is not None
                to = frame.element.get("attached_to", "")
                frame = self.find_named(frame, "attached_to", to) if to else frame.around
            else:
                frame = self.world if frame.static else self._canonical(frame)
        for one in chain:
            one.moves_with = frame.moves_with
        return frame.moves_with

    def _canonical(self, model: SdfFrame) -> SdfFrame:
        """A model's canonical link: the one that it names, or else its first link, or else that of
        its first nested model."""
        name = model.element.get("canonical_link", "")
        if name:
            return self.find_named(model, "canonical_link", name, "link", scope=model)
        first = [
            *(f for f in model.inside if f.kind == "link"),
            *(f for f in model.inside if f.kind == "model"),
        ]
        if not first:
            raise self.values.refusal(
                model.element, "it has no link; a model needs at least one <link>"
            )
        return first[0]


def snap_entry(x: float) -> float:
    """An entry of a rotation without the rounding noise of a product."""
    return float(round(x)) if abs(x - round(x)) < ROUND_OFF else x


def _clean(X: Placement) -> Placement:
    rows = [Vector(*map(snap_entry, row)) for row in as_matrix(X.R).matrix.rows]  # type: ignore[arg-type]
    still = all(x == float(i == k) for i, row in enumerate(rows) for k, x in enumerate(row))
    return Placement(IDENTITY if still else Rotation(rows), X.p)
