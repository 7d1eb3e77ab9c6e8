"""MJCF: equality constraints. A joint that follows another linearly becomes a mimic joint; other
constraints close loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...model.checks import check_mimics
from ...model.closed_loops.loop import Loop
from ...model.description import Joint, Mimic
from ...model.restructure import lock_joints
from ...model.tendons import Tendon
from ..robot_source import LOOPS_KEPT, Loops, tag_name
from .mjcf_loops import MjcfLoops, coupling, remark_softness
from .mjcf_values import Element, MjcfValues

NEARLY = 1e-9
"""Relative difference below which two positions of a held joint count as equal."""

LOOPS = {
    "connect": "closes a loop",
    "weld": "closes a loop",
    "tendon": "couples tendons of more than two joints",
}


def couple_joints(
    values: MjcfValues,
    root: Element,
    joints: Sequence[Joint],
    zeros: Mapping[str, float],
    kept: Loops,
    reader: MjcfLoops,
    tendons: Sequence[Tendon] = (),
    mocap: Collection[str] = (),
) -> tuple[list[Joint], dict[str, float], list[Loop]]:
    """The joints under the active constraints of <equality>, the positions of those held still, and
    the loops.

    kept: the treatment of constraints that no tree holds. reader: of those between bodies.
    tendons: one that is held at its length couples its two joints. mocap: bodies that the user
    moves; a constraint to one of them is not a loop, and is left out with a remark.
    """
    lengths = {tendon.name: tendon for tendon in tendons}
    by_name = {joint.name: joint for joint in joints}
    driven: set[str] = set()
    locked: dict[str, list[float]] = {}
    loops: list[tuple[Element, Loop]] = []
    for element in (child for section in root.findall("equality") for child in section):
        tag = tag_name(element)
        written = values.attributes(element, "equality", None)
        if _is_left_out(values, element, written, mocap):
            continue
        if tag in ("joint", "tendon"):  # `MjcfLoops` reads the others
            remark_softness(values, element, tag, written)
        tied = _of_tendon(values, element, written, lengths, driven) if tag == "tendon" else None
        tag, written = ("joint", tied) if tied else (tag, written)
        problem = LOOPS.get(tag) or _problem(values, element, written, by_name, driven)
        if problem:
            # Loops do not store lengths, so tendons over many joints are never kept.
            if kept == "keep" and tag != "tendon":
                loops.append((element, _loop(values, element, tag, written, zeros, reader)))
            else:
                _cut_or_refuse(values, element, problem, kept)
            continue
        first = by_name[written["joint1"]]
        driven.add(first.name)
        constant, slope, *_ = _polynomial(values, element, written)
        start = zeros[first.name] + constant
        if "joint2" in written:
            second = written["joint2"]
            by_name[first.name] = replace(
                first, mimic=Mimic(second, slope, start - slope * zeros[second])
            )
        else:
            locked[first.name] = [start]
    check_mimics(values.source, list(by_name.values()))
    held = _held_positions(
        by_name.values(), {name: position for name, (position,) in locked.items()}
    )
    left = [x for each in loops if (x := _with_held_joints(values, *each, held))]
    if left:
        values.remarks.append(LOOPS_KEPT.format("; ".join(map(str, left))))
    return lock_joints(list(by_name.values()), locked), held, left


def _cut_or_refuse(values: MjcfValues, element: Element, problem: str, kept: Loops) -> None:
    """Leave a constraint out with a remark, or raise."""
    if kept != "cut":
        raise values.refusal(
            element,
            f'this constraint {problem}, which a tree cannot hold; remove it, or load with loops="cut"',
        )
    values.remarks.append(f"{_name(element)}: this constraint {problem}; it is left out")


def _loop(
    values: MjcfValues,
    element: Element,
    tag: str,
    written: Mapping[str, str],
    zeros: Mapping[str, float],
    reader: MjcfLoops,
) -> Loop:
    """A constraint that no tree holds, as a loop."""
    if tag != "joint":
        return reader.loop(element, tag, written)
    polynomial = _polynomial(values, element, written)
    name = element.get("name") or ""
    return coupling(written["joint1"], written.get("joint2"), polynomial, zeros, name)


def _with_held_joints(
    values: MjcfValues, element: Element, loop: Loop, held: Mapping[str, float]
) -> Loop | None:
    """The loop of an element after joints were locked; None if nothing is left of it. Raises if
    another constraint holds its first joint elsewhere."""
    if not loop.is_of_links and loop.first in held:
        second = loop.second or ""
        if second and second not in held:
            raise values.refusal(
                element,
                f'it couples joint "{loop.first}", which another constraint holds, to "{second}"; '
                "remove one of the two constraints",
            )
        wanted, there = loop.position(held.get(second, 0.0)), held[loop.first]
        if abs(wanted - there) > NEARLY * (1.0 + abs(there)):
            raise values.refusal(
                element,
                f'it holds joint "{loop.first}" at {wanted:g}, and another constraint at {there:g}; '
                "remove one of the two",
            )
    return loop.with_held_joints(held)


def _held_positions(joints: Collection[Joint], locked: Mapping[str, float]) -> dict[str, float]:
    """Positions of the locked joints and of those that follow them."""
    held = dict(locked)
    followers = [joint for joint in joints if joint.mimic is not None]
    for _ in followers:  # a follower may have followers itself
        for joint in followers:
            mimic = joint.mimic
            if mimic is not None and mimic.joint in held:
                held[joint.name] = mimic.multiplier * held[mimic.joint] + mimic.offset
    return held


def _is_left_out(
    values: MjcfValues, element: Element, written: Mapping[str, str], mocap: Collection[str]
) -> bool:
    """True for an element that is not an active constraint between joints or bodies of the robot. A
    remark says so."""
    tag = tag_name(element)
    known = tag in (*LOOPS, "joint")
    is_active = values.boolean(element, "active", written, True)
    if not known or not is_active or "equality" in values.flags.disabled:
        what = f"element <{tag}> of <equality>{', not active' if known else ''}"
        values.ignore(what, element)
        return True
    if any(written.get(key) in mocap for key in ("body1", "body2")):
        values.remarks.append(
            f"{_name(element)}: it pulls a body to one that the user moves (mocap); it is left out"
        )
        return True
    return False


def _of_tendon(
    values: MjcfValues,
    element: Element,
    written: Mapping[str, str],
    tendons: Mapping[str, Tendon],
    driven: set[str],
) -> dict[str, str] | None:
    """The joint constraint that is equivalent to one on a tendon over one or two joints:
    c1 (q1 - ref1) + c2 (q2 - ref2) keeps its value in the file's drawing, plus polycoef's
    first number."""
    tendon = tendons.get(written.get("tendon1", ""))
    if tendon is None or "tendon2" in written:
        return None
    arms = [(joint, c) for joint, c in tendon.coefficients if c]
    arms.sort(key=lambda arm: arm[0] in driven)  # here a joint that already follows another leads
    if not 1 <= len(arms) <= 2:
        return None
    (first, c1), *others = arms
    start = _polynomial(values, element, written)[0] / c1
    if not others:
        return {"joint1": first, "polycoef": f"{start!r} 0"}
    ((second, c2),) = others
    return {"joint1": first, "joint2": second, "polycoef": f"{start!r} {-c2 / c1!r}"}


def _polynomial(values: MjcfValues, element: Element, written: Mapping[str, str]) -> list[float]:
    count = len(written.get("polycoef", "0 1").split())
    numbers = values.numbers(
        element, "polycoef", {"polycoef": "0 1", **written}, min(max(count, 1), 5)
    )
    return [*numbers, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(numbers) :]]


def _problem(
    values: MjcfValues,
    element: Element,
    written: Mapping[str, str],
    joints: Mapping[str, Joint],
    driven: set[str],
) -> str:
    """The reason why a constraint between joints cannot become a mimic joint; "" if it can."""
    for key in ("joint1", "joint2"):
        if key not in written and key == "joint1":
            raise values.refusal(element, 'it has no joint1; write joint1="..."')
        if key in written and written[key] not in joints:
            raise values.refusal(
                element, f'its {key} "{written[key]}" does not exist; correct the name'
            )
        if key in written and not joints[written[key]].kind.single:
            raise values.refusal(
                element, f'its {key} "{written[key]}" must be a hinge or a slide joint'
            )
    if written["joint1"] in driven:
        return f'is the second on joint "{written["joint1"]}"'
    if "joint2" in written and any(_polynomial(values, element, written)[2:]):
        return f'couples joint "{written["joint1"]}" by more than a line'
    return ""


def _name(element: Element) -> str:
    name = (
        element.get("name")
        or element.get("joint1")
        or element.get("body1")
        or element.get("site1")
        or ""
    )
    return f"<{tag_name(element)}> of <equality>{f' ({name})' if name else ''}"
