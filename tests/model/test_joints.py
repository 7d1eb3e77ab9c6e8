"""Every joint type: neutral position, motion subspace as the rate of the placement, and
quaternions."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.algebra.spatial import Inertia, Placement, Symmetric, Vector, as_matrix
from warpdyn.model.description import Gearbox, Mimic
from warpdyn.model.joints import KINDS, JointKind, screw
from warpdyn.model.poses_and_limits import Limits

ROUND_OFF = 1e-14
"""Absolute, for numbers of about one."""

DIFFERENCE = 1e-9
"""Absolute; central differences with step 1e-5."""

H = 1e-5

KINDS_OF_ONE_BODY = [kind for kind in KINDS.values() if not kind.series] + [screw(0.3)]

kinds = pytest.mark.parametrize(
    "kind", KINDS_OF_ONE_BODY, ids=lambda kind: f"{kind.name}{kind.pitch or ''}"
)
axes = pytest.mark.parametrize("axis", range(3))


def place(kind: JointKind, axis: int, q: list[float]) -> np.ndarray:
    X = Placement(*kind.placement(axis, q)).as_matrix()
    T = np.eye(4)
    T[:3, :3] = [list(row) for row in as_matrix(X.R).matrix.rows]
    T[:3, 3] = list(X.p)
    return T


def configuration(kind: JointKind, seed: int) -> list[float]:
    draw = np.random.default_rng(seed)
    q = draw.uniform(-1.5, 1.5, kind.nq)
    if kind.quaternion is not None:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q.tolist()


@kinds
@axes
def test_the_neutral_placement_is_the_identity(kind: JointKind, axis: int) -> None:
    """The child's frame is then at the joint's frame."""
    assert len(kind.neutral) == kind.nq == len(kind.q_names) and kind.nv == len(kind.v_names)
    assert np.array_equal(place(kind, axis, list(kind.neutral)), np.eye(4))


@kinds
@axes
def test_subspace_is_the_rate_of_the_placement(kind: JointKind, axis: int) -> None:
    """Column k of the subspace is X^-1 dX/dt for unit velocity k, in the child's frame."""
    q = configuration(kind, axis)
    T = place(kind, axis, q)
    columns = kind.subspace(axis)
    assert len(columns) == kind.nv
    for k, column in enumerate(columns):
        d = [H * float(k == j) for j in range(kind.nv)]
        later = place(kind, axis, kind.manifold.step(q, d))
        earlier = place(kind, axis, kind.manifold.step(q, [-x for x in d]))
        twist = np.linalg.inv(T) @ (later - earlier) / (2 * H)
        found = [*twist[:3, 3], twist[2, 1], twist[0, 2], twist[1, 0]]
        assert found == pytest.approx(list(column), abs=DIFFERENCE)


@kinds
@axes
def test_the_unfelt_part_of_an_inertia_opposes_no_motion(kind: JointKind, axis: int) -> None:
    """The parent sees the same inertia at any position of the joint."""
    draw = np.random.default_rng(axis)
    inertia = Inertia(1.3, Vector(*draw.normal(size=3)), Symmetric(*draw.normal(size=6)))
    share = kind.unfelt(axis, inertia)
    for S in kind.subspace(axis):
        assert list(share @ S) == pytest.approx([0.0] * 6, abs=ROUND_OFF)
    for q in (list(kind.neutral), configuration(kind, axis)):
        seen = Placement(*kind.placement(axis, q)).inertia_to_parent(share)
        assert [seen.mass, *seen.h, *seen.J.entries] == pytest.approx(
            [share.mass, *share.h, *share.J.entries], abs=ROUND_OFF
        )


def test_copies_and_pickles_of_joint_types_are_the_same_object() -> None:
    """There is one record for each type, and one for a screw of each pitch."""
    for kind in (*KINDS.values(), screw(0.3)):
        assert pickle.loads(pickle.dumps(kind)) is kind and copy.deepcopy(kind) is kind
    assert (
        KINDS["screw"].with_pitch(0.3) is screw(0.3)
        and KINDS["ball"].with_pitch(0.3) is KINDS["ball"]
    )


# In models.


def test_coordinates_have_names_and_limits() -> None:
    """The names of several coordinates of a joint have a dot and a word. Each of two axes has its
    limits, quaternions have none."""
    model = by_name("two_axes").model
    assert model.q_names == (
        "cardan.angle1",
        "cardan.angle2",
        "feed",
        "fork.angle1",
        "fork.angle2",
        "bolt",
    )
    assert model.v_names == (
        "cardan.rate1",
        "cardan.rate2",
        "feed",
        "fork.rate1",
        "fork.rate2",
        "bolt",
    )
    two = replace(
        model.joint("fork"),
        limits=Limits(-1, 1, 2, 3),
        limits2=Limits(-4, 4, 5, 6),
        damping=0.1,
        damping2=0.2,
    )
    changed = replace(model, joints=tuple(two if j.name == "fork" else j for j in model.joints))
    columns = changed.coordinates["fork"]
    assert changed.position_lower[columns.q].tolist() == [-1, -4] and changed.effort_limit[
        columns.v
    ].tolist() == [3, 6]
    assert two.v_damping == (0.1, 0.2)
    balls = by_name("balls_wxyz").model
    assert balls.q_names[7:11] == ("hip.qw", "hip.qx", "hip.qy", "hip.qz")
    assert balls.v_names[6:9] == ("hip.wx", "hip.wy", "hip.wz")
    assert np.all(np.isinf(balls.position_upper[7:11])) and balls.neutral[7:11].tolist() == [
        1,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=lambda f: f.__name__)
def test_a_joint_of_two_axes_equals_two_joints_with_a_massless_link(function) -> None:
    """The second joint is in the same place."""
    model = by_name("two_axes").model
    links, joints = list(model.links), []
    for joint in model.joints:
        if not joint.kind.series:
            joints.append(joint)
            continue
        between = f"{joint.name} between"
        links.append(wd.Link(between))
        first = wd.Joint(
            joint.name, KINDS["continuous"], joint.parent, between, joint.pose, joint.axis
        )
        joints += [
            first,
            wd.Joint(
                f"{joint.name} 2", KINDS["continuous"], between, joint.child, axis=joint.axes[1]
            ),
        ]
    written = wd.Model.assemble("written", links, joints)
    assert written.nv == model.nv
    s = states(model, 3)
    order = [
        written.q_names.index(n.replace(".angle1", "").replace(".angle2", " 2"))
        for n in model.q_names
    ]
    given = [np.empty_like(s.q) for _ in range(3)]
    for mine, theirs in zip((s.q, s.v, s.a), given, strict=True):
        theirs[:, order] = mine
    wanted = wd.oracle(function, written, *given)[:, order]
    assert np.max(np.abs(wd.oracle(function, model, s.q, s.v, s.a) - wanted)) <= 1e-12 * np.max(
        np.abs(wanted)
    )


def test_a_screw_combines_a_revolute_and_a_prismatic_joint() -> None:
    """A screw without pitch is a revolute joint.

    The force of a screw with pitch h is that of the revolute joint plus h times that of the
    prismatic joint.
    """
    kinds_and_pitches = (("screw", 0.2), ("screw", 0.0), ("revolute", 0.0), ("prismatic", 0.0))
    links = [
        wd.Link("base"),
        wd.Link("nut", 2.0, (0.1, 0.2, 0.3), ((0.2, 0, 0), (0, 0.3, 0), (0, 0, 0.4))),
    ]
    axis = (0.6, 0.0, -0.8)
    model = [
        wd.Model.assemble(
            "one", links, [wd.Joint("j", KINDS[kind], "base", "nut", axis=axis, pitch=pitch)]
        )
        for kind, pitch in kinds_and_pitches
    ]
    q, zero = [0.7], [0.0]
    screwed, plain, turned, _ = (wd.oracle(wd.rnea, m, q, zero, zero) for m in model)
    slid = wd.oracle(wd.rnea, model[3], zero, zero, zero)
    assert plain == pytest.approx(turned, abs=ROUND_OFF) and screwed == pytest.approx(
        turned + 0.2 * slid, abs=1e-13
    )
    T = wd.oracle(wd.fk, model[0], q, frame="nut")
    assert T[:3, 3] == pytest.approx(0.2 * 0.7 * np.array(axis), abs=ROUND_OFF)


REFUSED = {
    "no second axis": ({"kind": "universal"}, "joint \"j\": it has no axis2; a universal joint needs two axes"),
    "zero second axis": ({"kind": "revolute2", "axis2": (0, 0, 0)}, "axis2 is .0, 0, 0.; a revolute2 joint needs"),
    "long axis": ({"kind": "revolute", "axis": (0, 0, 2)}, "axis is .0, 0, 2.; a revolute joint needs a unit axis"),
    "second axis of a hinge": ({"kind": "revolute", "axis2": (0, 1, 0)}, "axis2 is for a universal .* is revolute"),
    "second limits of a ball": ({"kind": "ball", "limits2": Limits(-1.0, 1.0)}, "limits2 is for a universal"),
    "gearbox of a slide": ({"kind": "prismatic", "gearbox": Gearbox(2.0, "a")}, "gearbox is for a gearbox joint"),
    "leaning": ({"kind": "universal", "axis2": (0.6, 0.8, 0)}, "must be perpendicular, .* is 0.6; correct them"),
    "pitch of a hinge": ({"kind": "continuous", "pitch": 0.1}, "pitch is 0.1; .* only a screw has one"),
    "pitch not a number": ({"kind": "screw", "pitch": math.nan}, "pitch is nan; it must be finite"),
    "mimic of a ball": ({"kind": "ball", "mimic": Mimic("k")}, "a ball joint cannot mimic another"),
    "following two axes": ({"kind": "revolute", "mimic": Mimic("k")}, 'it mimics "k", a revolute2 joint'),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_joints_are_refused(what: str) -> None:
    """The message is one line with the joint and what it needs."""
    given, text = REFUSED[what]
    first = wd.Joint("k", KINDS["revolute2"], "a", "b", axis2=(0.0, 1.0, 0.0))
    joint = wd.Joint(
        "j", KINDS[given["kind"]], "b", "c", **{k: v for k, v in given.items() if k != "kind"}
    )
    with pytest.raises(wd.ModelError, match=text):
        wd.Model.assemble("m", [wd.Link(n) for n in "abc"], [first, joint])


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_reordering_quaternions_can_be_inverted(kind: JointKind) -> None:
    """reorder and scalar_last are inverse. Without a quaternion both do nothing."""
    names = kind.q_names
    for order in ("xyzw", "wxyz"):
        assert kind.scalar_last(kind.reorder(names, order), order) == names
    written = kind.reorder(names, "wxyz")
    if kind.quaternion is None:
        assert written == names
    else:
        assert written[kind.quaternion :] == ("qw", "qx", "qy", "qz")


def test_joint_types_have_the_documented_properties() -> None:
    """The number of axes, whether the joint turns without end, and one or two values for the
    coordinates."""
    asked = {name: (len(kind.axis_names), kind.endless) for name, kind in KINDS.items()}
    assert asked == {
        "revolute": (1, False),
        "continuous": (1, True),
        "gearbox": (1, False),
        "universal": (2, False),
        "revolute2": (2, False),
        "screw": (1, False),
        "prismatic": (1, False),
        "fixed": (0, False),
        "planar": (1, False),
        "floating": (0, False),
        "ball": (0, False),
    }
    assert KINDS["universal"].each_coordinate(1, 2) == (1, 2)
    assert (
        KINDS["planar"].each_coordinate(1, 2) == (1, 1, 1)
        and KINDS["fixed"].each_coordinate(1, 2) == ()
    )


@pytest.mark.parametrize("name", ["universal", "revolute2"])
def test_a_joint_of_two_axes_has_no_single_motion_subspace(name: str) -> None:
    for motion in (KINDS[name].placement, KINDS[name].subspace):
        with pytest.raises(
            TypeError, match=r"two axes has no constant motion subspace; .* `series`"
        ):
            motion(0, [0.0, 0.0])
