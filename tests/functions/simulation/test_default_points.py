"""Default contact points: unread shapes and too many points are refused, and the advice fits the
robot.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd
import warpdyn.functions.simulation.default_points as default_points_module
from warpdyn.functions.simulation.default_points import (
    LISTED,
    default_points,
    patterns_for,
    refuse_none,
    refuse_unread,
)

LINK = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
 iyz="0"/></inertial>{1}</link>"""
MESH = '<collision><geometry><mesh filename="{0}"/></geometry></collision>'
BOX = '<collision><geometry><box size="{0} 1 1"/></geometry></collision>'
JOINT = """<joint name="j_{1}" type="continuous"><parent link="{0}"/><child link="{1}"/>
<origin xyz="3 {2} 0"/></joint>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def robot(folder: Path, shapes: dict[str, str]) -> wd.Model:
    """A floating robot whose first link carries all others. Hips carry the feet."""
    names = list(shapes)
    parts = [LINK.format(name, shape) for name, shape in shapes.items()]
    for k, name in enumerate(names[1:]):
        parent = name.replace("FOOT", "HIP") if name.endswith("FOOT") else names[0]
        parts.append(JOINT.format(parent, name, k))
    file = folder / "r.urdf"
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return wd.load(file, floating_base=True)


def test_a_robot_with_missing_meshes_is_not_simulated(tmp_path: Path) -> None:
    """It would fall through the ground. The message names the file and what to do."""
    model = robot(tmp_path, {"trunk": MESH.format("trunk.obj"), "arm": MESH.format("arm.obj")})
    said = r"r would sink into the ground: all 2 .*trunk\.obj of trunk \(there is no such file\), and 1 more"
    with pytest.raises(ValueError, match=said):
        wd.Simulation(model, 1)
    with pytest.raises(ValueError, match=said):  # all of them, which are none
        wd.Simulation(model, 1, points=wd.ContactPoints(model))
    with pytest.raises(ValueError, match=said):
        wd.step(model, model.neutral, [0.0] * 7, [0.0] * 7, points=wd.ContactPoints(model))
    assert wd.Simulation(model, 1, points=[]).points == []
    chosen = wd.ContactPoints(model).with_sphere("trunk", (0, 0, 0), 0.02)
    assert len(wd.Simulation(model, 1, points=chosen).points) == 1


def test_one_missing_mesh_among_several_shapes_is_refused(tmp_path: Path) -> None:
    """Unless the caller passes the points that there are."""
    model = robot(tmp_path, {"trunk": BOX.format(1), "arm": MESH.format("arm.obj")})
    with pytest.raises(ValueError, match=r"ground: 1 of its collision shapes"):
        default_points(model)
    assert len(wd.Simulation(model, 1, points=wd.ContactPoints(model)).points) == 8
    with pytest.raises(ValueError, match="would sink"):
        refuse_unread(wd.ContactPoints(model))
    refuse_unread(wd.ContactPoints(model).only("trunk"))


def test_without_trimesh_the_extra_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error message names the extra as the README does."""
    (tmp_path / "trunk.obj").write_text(TETRAHEDRON)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    model = robot(tmp_path, {"trunk": MESH.format("trunk.obj")})
    with pytest.raises(ValueError, match=re.escape("pip install '.[meshes]'")):
        wd.Simulation(model, 1)


def test_the_advice_on_too_many_points_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each suggestion gives points, and not too many."""
    legs = {
        f"{leg}_{part}": BOX.format(1) for leg in ("LF", "RF", "LH") for part in ("HIP", "FOOT")
    }
    model = robot(tmp_path, {"trunk": BOX.format(2), **legs})
    assert len(default_points(model)) == 56
    monkeypatch.setattr(default_points_module, "MOST_POINTS", 40)
    with pytest.raises(ValueError, match="has 56 contact points, more than 40") as refused:
        default_points(model)
    advice = str(refused.value)
    assert "mesh_points" not in advice  # it has no meshes
    (pattern,) = re.findall(r"only\('(.*?)'\)", advice)
    assert len(wd.ContactPoints(model).only(pattern)) == 24
    assert "on 'LF_FOOT', 'RF_FOOT', 'LH_FOOT'" in advice


def test_patterns_use_the_common_part_of_names(tmp_path: Path) -> None:
    """If they match no other link. Otherwise the names themselves are listed."""
    legs = {
        f"{leg}_{part}": BOX.format(1) for leg in ("LF", "RF", "LH") for part in ("HIP", "FOOT")
    }
    points = wd.ContactPoints(robot(tmp_path, {"trunk": BOX.format(2), **legs}))
    feet = [link for link in points.links if link.endswith("FOOT")]
    assert patterns_for(points, feet) == ["*_FOOT"]
    assert set(points.only(*patterns_for(points, feet)).links) == set(feet)
    assert patterns_for(points, feet[::2]) == feet[::2]


def test_fewer_points_per_mesh_are_advised_if_they_are_few_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All shapes of the robot are meshes."""
    pytest.importorskip("trimesh")
    monkeypatch.setattr(default_points_module, "MOST_POINTS", 40)
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    names = ["trunk", *(f"part{k}" for k in range(12))]
    model = robot(tmp_path, dict.fromkeys(names, MESH.format("m.obj")))
    with pytest.raises(ValueError, match=r"fewer of each mesh: .*mesh_points=2\)"):
        default_points(model)
    assert len(wd.ContactPoints(model, mesh_points=2)) <= 40
    for most, count in ((26, 2), (25, 1)):
        monkeypatch.setattr(default_points_module, "MOST_POINTS", most)
        with pytest.raises(ValueError, match=rf"mesh_points={count}\)"):
            default_points(model)


@pytest.mark.parametrize("count", [1, LISTED, LISTED + 1, LISTED + 3])
def test_some_of_many_end_links_are_named(count: int) -> None:
    """The message gives the number of the remaining links."""
    builder = wd.ModelBuilder("star")
    builder.add_link("hub", 1.0, inertia=[[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    names = [f"arm{k}" for k in range(count)]
    for name in names:
        builder.add_link(name, 1.0, inertia=[[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
        builder.add_joint(f"to_{name}", "revolute", "hub", name, axis=(0.0, 0.0, 1.0))
    points = wd.ContactPoints(builder.build(floating_base=True))
    for name in names:
        points = points.with_sphere(name, (0.0, 0.0, 0.0), 0.1)
    *_, last = default_points_module._fewer(points)
    shown = ", ".join(map(repr, names[:LISTED]))
    more = f" and {count - LISTED} more" if count > LISTED else ""
    assert last.endswith(f" on {shown}{more}")


@pytest.mark.parametrize("gone", [1, 2, 3])
@pytest.mark.parametrize("boxes", [0, 1])
def test_the_message_about_unread_shapes_counts_them(gone: int, boxes: int, tmp_path: Path) -> None:
    shapes = {f"a{k}": MESH.format(f"a{k}.obj") for k in range(gone)}
    shapes |= {f"b{k}": BOX.format(1) for k in range(boxes)}
    points = wd.ContactPoints(robot(tmp_path, shapes))
    whole = str(gone) if boxes else f"all {gone}"
    more = f", and {gone - 1} more" if gone > 1 else ""
    words = (
        f"r would sink into the ground: {whole} of its collision shapes could not be read: the mesh "
        f"a0.obj of a0 (there is no such file){more}. Repair them, or choose what touches: "
        "points=wd.ContactPoints(model).with_sphere('a0', (0, 0, 0), 0.02), or points=[] for nothing"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        refuse_unread(points)
    if boxes:
        refuse_none(points)
    else:
        with pytest.raises(ValueError, match="would sink"):
            refuse_none(points)
    refuse_unread([])
    refuse_none([])


def test_links_farthest_from_the_root_are_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole advice has two items: a name pattern and a user's own spheres.

    A robot with exactly as many points as the limit is accepted.
    """
    builder = wd.ModelBuilder("r").add_link("hub", 1.0, inertia=np.eye(3))
    parents = {"near_tip": "hub", "arm": "hub", "middle": "arm", "far_tip": "middle"}
    for name, parent in parents.items():
        builder.add_link(name, 1.0, inertia=np.eye(3))
        kind = "fixed" if name == "middle" else "revolute"
        builder.add_joint(f"to_{name}", kind, parent, name, pose=(3.0, 0.0, len(name)))
    points = wd.ContactPoints(builder.build(floating_base=True))
    for name in parents:
        points = points.with_sphere(name, (0.0, 0.0, 0.0), 0.1)
    assert list(default_points_module._fewer(points)) == [
        "points=wd.ContactPoints(model).only('*ar_tip')",
        "spheres of your own, points=[wd.ContactPoint(link, centre, radius), ...] on 'far_tip', "
        "'near_tip'",
    ]
    assert patterns_for(points, ["far_tip"]) == ["far_tip"]
    model = robot(tmp_path, {"trunk": BOX.format(2), "arm": BOX.format(1)})
    monkeypatch.setattr(default_points_module, "MOST_POINTS", 16)
    assert len(default_points(model)) == 16
    monkeypatch.setattr(default_points_module, "MOST_POINTS", 15)
    with pytest.raises(ValueError, match="has 16 contact points, more than 15; choose those that"):
        default_points(model)


def test_a_pattern_can_be_a_common_prefix(tmp_path: Path) -> None:
    shapes = {name: BOX.format(1) for name in ("trunk", "foot_l", "foot_r", "hip_l", "hip_r")}
    points = wd.ContactPoints(robot(tmp_path, shapes))
    assert patterns_for(points, ["foot_l", "foot_r"]) == ["foot_*"]
    assert patterns_for(points, ["foot_l", "hip_l"]) == ["foot_l", "hip_l"]


@pytest.mark.parametrize(("ends", "pattern"), [("oe", None), ("toe", "*toe")])
def test_a_pattern_has_three_letters_or_more(
    ends: str, pattern: str | None, tmp_path: Path
) -> None:
    links = [f"x{ends}", f"y{ends}"]
    points = wd.ContactPoints(robot(tmp_path, dict.fromkeys(["trunk", *links], BOX.format(1))))
    assert patterns_for(points, links) == ([pattern] if pattern else links)


def test_documented_numbers() -> None:
    check_numbers("functions.simulation.default_points", MOST_POINTS=500, LISTED=4)


def test_links_with_ground_pairs_have_no_points() -> None:
    """A link with points and ground pairs would touch the ground twice.

    The pair would carry only a part of the weight.
    """
    box = wd.description.Box(0.1, 0.1, 0.1)
    scene = wd.load_robot("double_pendulum").with_object("low", box, mass=1.0, pose=(1, 0, 0.05))
    scene = scene.with_object("other", box, mass=1.0, pose=(2, 0, 0.05))
    pairs = wd.ContactPairs(scene).only(("low", "other")).with_ground("low")
    sim = wd.Simulation(scene, 1, pairs=pairs, dtype="float64", dt=0.002)
    assert wd.ContactPoints(scene).links == ("low", "other") and sim.points.links == ("other",)
    for _ in range(30):
        sim.step()
    assert sim.force_between("ground", "low")[0, 2] == pytest.approx(9.81, rel=1e-3)
    everything = wd.ContactPoints(scene)
    assert wd.Simulation(scene, 1, pairs=pairs, points=everything).points is everything
