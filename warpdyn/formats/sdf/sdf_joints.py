"""SDF: joints between any two links, arranged as a tree.

In SDF a joint has its own frame, anywhere on its child, and its ends may be frames. Here it becomes
a joint whose frame is the child's. If the axis does not pass through the child's origin, a massless
link with the joint's name is inserted. Joints that point towards the root are turned around; those
that close a loop are kept as loops, left open or refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...algebra.scalar import as_number
from ...algebra.spatial import HERE, Placement, Vector
from ...model.closed_loops.loop import Loop, loop_of_joint
from ...model.description import Gearbox, Joint, Link, Mimic, fixed_joint
from ...model.joints import KINDS, JointKind
from ...model.poses_and_limits import Pose, Vector3, unit_vector, vector3
from ..robot_source import LOOPS_KEPT, WITHOUT_FORCES, Loops
from .sdf_frames import ROUND_OFF, SdfFrame, SdfFrames, snap_entry
from .sdf_values import Element, child, place

WORDS = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "ball",
    "universal",
    "revolute2",
    "screw",
    "gearbox",
)
TYPES = {word: KINDS[word] for word in WORDS}
"""SDFormat's words for the joint kinds."""


@dataclass(frozen=True, eq=False)
class Tie:
    """A joint of the file between the links (or the world) that carry its ends."""

    frame: SdfFrame
    kind: JointKind
    parent: SdfFrame
    child: SdfFrame

    def other(self, end: SdfFrame) -> SdfFrame:
        return self.child if end is self.parent else self.parent


class Joints:
    """The joints of a model as those of a tree; `free` are the links that none of them carries."""

    def __init__(self, frames: SdfFrames, top: SdfFrame, kept: Loops) -> None:
        self.frames, self.values, self.top, self.kept = frames, frames.values, top, kept
        self.joints: list[Joint] = []
        self.links: list[Link] = []
        self.loops: list[Loop] = []
        links = list(top.walk("link"))
        self.static = [link for link in links if link.static]
        ties = list(self._ties())
        self.names = {tie.frame.path(top) for tie in ties}
        self.names_in_use = {frame.path(top) for frame in top.walk("link", "frame")}
        branches, gears = self._branches(ties)
        self.held = [
            tie.frame.path(top) for tie in branches if frames.world in (tie.parent, tie.child)
        ]
        self.free: list[SdfFrame] = []
        away = self._orient_joints(links, branches)
        for tie in ties:
            if tie in away:
                self._add(tie, reverse=away[tie] is not tie.child)
            elif tie in gears:
                self._add(tie, reverse=False, closing=True)

    # The tree.

    def _ties(self) -> Iterator[Tie]:
        """The joints of the model, and the surrounding ones that hold it."""
        around, joints = self.top.around, list(self.top.walk("joint"))
        while around is not None:
            joints += [frame for frame in around.inside if frame.kind == "joint"]
            around = around.around
        for frame in joints:
            kind = frame.element.get("type", "").strip().lower()
            if kind not in TYPES:
                raise self.values.refusal(
                    frame.element, f'its type "{kind}" is unknown; a joint is {", ".join(TYPES)}'
                )
            parent, moved = (
                self._solid(self.frames.joint_end(frame, end)) for end in ("parent", "child")
            )
            # A joint may tie the chosen model to another model. Such a joint is refused, but joints
            # between other models do not matter.
            mine = [end for end in (parent, moved) if end.within(self.top)]
            foreign = [
                end for end in (parent, moved) if end not in mine and end is not self.frames.world
            ]
            if foreign and mine:
                raise self.values.refusal(
                    frame.element,
                    f'it ties model "{self.top.name}" to link "{foreign[0].path(self.frames.world)}" of another; load '
                    'them as one robot: model="world"',
                )
            if not foreign and not parent is moved is self.frames.world:
                self.values.look_over(frame.element)
                yield Tie(frame, TYPES[kind], parent, moved)

    def _solid(self, frame: SdfFrame) -> SdfFrame:
        """The link that a frame moves with; the world for frames of static models."""
        carrier = self.frames.carrier(frame)
        return self.frames.world if carrier.kind == "link" and carrier.static else carrier

    def _branches(self, ties: Sequence[Tie]) -> tuple[list[Tie], list[Tie]]:
        """The joints that make a tree, and the gearboxes between links that are connected
        already."""
        group: dict[SdfFrame, SdfFrame] = {}

        def leader(frame: SdfFrame) -> SdfFrame:
            while frame in group:
                above = group[frame]
                if above in group:
                    group[frame] = group[above]
                frame = above
            return frame

        branches, gears = [], []
        for tie in sorted(ties, key=lambda tie: (tie.kind.geared, self._last(tie))):
            one, two = leader(tie.parent), leader(tie.child)
            if one is not two:
                group[two] = one
                branches.append(tie)
            elif tie.kind.geared and tie.parent is not tie.child:
                gears.append(tie)
            else:
                self._loop(tie)
        if self.loops:
            self.values.remarks.append(LOOPS_KEPT.format("; ".join(map(str, self.loops))))
        return branches, gears

    def _last(self, tie: Tie) -> bool:
        """True if the file marks this joint as the one that closes a loop."""
        physics = child(tie.frame.element, "physics")
        simbody = None if physics is None else child(physics, "simbody")
        return simbody is not None and bool(self.values.flag(simbody, "must_be_loop_joint"))

    def _loop(self, tie: Tie) -> None:
        ends = " and ".join(f'"{end.path(self.top)}"' for end in (tie.parent, tie.child))
        name = tie.frame.path(self.top)
        keeps = self.kept == "keep" and tie.parent is not tie.child
        loop = self._loop_of(tie, name) if keeps else None
        if loop is not None:
            self.loops.append(loop)
            self.values.remarks.append(f'joint "{name}": {WITHOUT_FORCES}')
            return
        if self.kept != "cut":
            raise self.values.refusal(
                tie.frame.element,
                f'it closes a loop between {ends}, which other joints connect; remove it, or load with loops="cut", '
                "which leaves it open",
            )
        self.values.remarks.append(
            f'joint "{name}": it closes a loop between {ends}; it is left open, without forces'
        )

    def _loop_of(self, tie: Tie, name: str) -> Loop | None:
        """The loop that a joint closes, if loops have its kind."""
        ends = [
            (None if end is self.frames.world else end.path(self.top), self._at(tie, end))
            for end in (tie.parent, tie.child)
        ]
        axis = Joint.axis
        if tie.kind.single:
            self._axes(tie)
            axis = self._axis(tie.frame, "axis", tie.frame, False)
        return loop_of_joint(name, tie.kind, axis, ends)

    def _at(self, tie: Tie, end: SdfFrame) -> Placement:
        return self.frames.relative(tie.frame, end)

    def _orient_joints(
        self, links: Sequence[SdfFrame], branches: Sequence[Tie]
    ) -> dict[Tie, SdfFrame]:
        """The end away from the root, for each joint of the tree."""
        at: dict[SdfFrame, list[Tie]] = {}
        for tie in branches:
            at.setdefault(tie.parent, []).append(tie)
            at.setdefault(tie.child, []).append(tie)
        carried = {tie.child for tie in branches}
        away: dict[Tie, SdfFrame] = {}
        reached: set[SdfFrame] = set()

        def visit(root: SdfFrame) -> None:
            waiting = [root]
            reached.add(root)
            while waiting:
                here = waiting.pop()
                for tie in at.get(here, []):
                    if tie not in away:
                        away[tie] = tie.other(here)
                        reached.add(away[tie])
                        waiting.append(away[tie])

        # The world comes first, then links that no joint carries, so that most joints keep their
        # direction. Of a group in which every link is carried, the first becomes the root.
        reached.update(self.static)
        visit(self.frames.world)
        for link in (*(link for link in links if link not in carried), *links):
            if link not in reached:
                self.free.append(link)
                visit(link)
        return away

    # A joint.

    def _add(self, tie: Tie, reverse: bool, closing: bool = False) -> None:
        """Add the joint with the frame of the link that it moves, and a link in between if its
        axis does not pass through that link's origin."""
        kind, frame, name = tie.kind, tie.frame, tie.frame.path(self.top)
        if reverse and kind.nv and (not kind.single or kind.geared):
            raise self.values.refusal(
                frame.element,
                f"its child is nearer to the root than its parent, and a {kind.name} joint cannot be turned around; "
                "exchange <parent> and <child>",
            )
        base, moved = (tie.child, tie.parent) if reverse else (tie.parent, tie.child)
        at = self.frames.relative(frame, moved)
        axes = {tag: self._axis(frame, tag, moved, reverse) for tag in self._axes(tie)}
        carried = moved.path(self.top)
        if self._misses_origin(kind, at.p, axes) and not closing:
            axes = {tag: self._axis(frame, tag, frame, reverse) for tag in axes}
            between = self._free_name(name)
            self.links.append(Link(between))
            rest = self.frames.relative(moved, frame)
            self.joints.append(
                self._joint(tie, name, base, self.frames.relative(frame, base), between, axes)
            )
            self.joints.append(fixed_joint(f"{name}_to_{carried}", between, carried, rest))
        else:
            self.joints.append(
                self._joint(tie, name, base, self.frames.relative(moved, base), carried, axes)
            )

    def _joint(
        self,
        tie: Tie,
        name: str,
        base: SdfFrame,
        at: Placement,
        carried: str,
        axes: dict[str, Vector3],
    ) -> Joint:
        kind, element = tie.kind, tie.frame.element
        above = base.path(self.top)
        if not kind.nv:
            return fixed_joint(name, above, carried, at)
        # Only kinds with two axes use the second, but it is read for every kind, so that an invalid
        # <axis2> is reported.
        first, second = child(element, "axis"), child(element, "axis2")
        (limits, damping, friction), (limits2, damping2, friction2) = (
            self.values.axis_data(kind, first),
            self.values.axis_data(kind, second),
        )
        if second is not None and "axis2" not in self._axes(tie):
            self.values.remarks.append(
                f"{place(second)}: its <axis2> has no effect: the joint is {kind.name}"
            )
        mimic = self._mimic(tie.frame, first)
        if second is not None and child(second, "mimic") is not None:
            raise self.values.refusal(
                element, "its <axis2> mimics; only joints of one coordinate can mimic another"
            )
        joint = Joint(
            name=name,
            kind=kind,
            parent=above,
            child=carried,
            pose=Pose.of(at),
            axis=axes.get("axis", Joint.axis),
            limits=limits,
            damping=damping,
            friction=friction,
            mimic=mimic,
            axis2=axes.get("axis2"),
            pitch=self.values.pitch(element) if kind.threaded else 0.0,
            gearbox=self._gearbox(tie.frame) if kind.geared else None,
        )
        if kind.series:
            return replace(joint, limits2=limits2, damping2=damping2, friction2=friction2)
        return joint

    def _misses_origin(self, kind: JointKind, p: Vector, axes: dict[str, Vector3]) -> bool:
        """True if the joint turns about an axis or a point that misses the origin of the link that
        it moves."""
        if not (kind.nv and kind.turns):
            return False
        if kind.single:
            p = p - Vector(*axes["axis"]) * p.dot(Vector(*axes["axis"]))
        return any(abs(as_number(x)) > ROUND_OFF for x in p)

    def _free_name(self, name: str) -> str:
        """A joint's name changed so that no link has it: old files give one name to a link and a
        joint."""
        while name in self.names_in_use:
            name += "_joint"
        self.names_in_use.add(name)
        return name

    # Its values.

    def _axes(self, tie: Tie) -> tuple[str, ...]:
        kind, element = tie.kind, tie.frame.element
        needed = kind.axis_names
        for tag in needed:
            if child(element, tag) is None:
                raise self.values.refusal(
                    element, f"it has no <{tag}>; a {kind.name} joint needs one"
                )
        return (*needed, "axis2") if kind.geared and child(element, "axis2") is not None else needed

    def _axis(self, frame: SdfFrame, tag: str, base: SdfFrame, reverse: bool) -> Vector3:
        """The unit vector of an axis in the frame `base`. Zero stays zero, which `Model.assemble`
        refuses."""
        element = child(frame.element, tag)
        assert element is not None and frame.around is not None
        xyz = child(element, "xyz")
        text = "0 0 1" if xyz is None else xyz.text or ""
        direction = Vector(*self.values.numbers(element if xyz is None else xyz, text, 3))
        expressed_in = frame
        if self.values.version < (1, 5) or (
            self.values.version < (1, 7) and self.values.flag(element, "use_parent_model_frame")
        ):
            expressed_in = frame.around
        elif xyz is not None and xyz.get("expressed_in"):
            expressed_in = self.frames.find_named(
                frame, "expressed_in", xyz.get("expressed_in", "")
            )
        turn = HERE if expressed_in is base else self.frames.relative(expressed_in, base)
        return vector3(
            map(snap_entry, unit_vector(turn.R.to_parent(-direction if reverse else direction)))
        )

    def _mimic(self, frame: SdfFrame, axis: Element | None) -> Mimic | None:
        """The mimic relation. SDFormat: follower = multiplier * (leader - reference) + offset."""
        element = None if axis is None else child(axis, "mimic")
        if element is None:
            return None
        self.values.look_over(element)
        leader = self.frames.find_named(
            frame, "the joint that it mimics", element.get("joint", ""), "joint"
        )
        if leader.path(self.top) not in self.names:
            raise self.values.refusal(
                element, f'it mimics "{leader.name}", which is not part of this model'
            )
        if element.get("axis", "axis") not in ("", "axis"):
            raise self.values.refusal(
                element,
                f'it mimics "{element.get("axis")}"; only the axis of a joint with one coordinate can be followed',
            )
        multiplier = self.values.number(element, "multiplier", 1.0)
        offset, reference = (
            self.values.number(element, tag, 0.0) for tag in ("offset", "reference")
        )
        return Mimic(leader.path(self.top), multiplier, offset - multiplier * reference)

    def _gearbox(self, frame: SdfFrame) -> Gearbox:
        name = self.values.child_string(frame.element, "gearbox_reference_body")
        if not name:
            raise self.values.refusal(
                frame.element, "it has no <gearbox_reference_body>; name a link in it"
            )
        reference = self._solid(self.frames.find_named(frame, "gearbox_reference_body", name))
        return Gearbox(
            self.values.number(frame.element, "gearbox_ratio", 1.0), reference.path(self.top)
        )
