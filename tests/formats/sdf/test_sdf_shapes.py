"""Shapes of an SDF file: visuals, collisions, and shapes that are left out with a remark."""

from __future__ import annotations

import numpy as np
import pytest
from sdf_texts import (
    at,
    joint,
    link,
    load,
    quietly,
    remarks,
    robot,
)

from warpdyn import ContactPoints


def test_an_ellipsoid_is_a_visual_but_not_a_collision() -> None:
    """The drawn shape has the three radii of the file."""
    shape = "<geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry>"
    text = robot(f'<link name="a"><visual name="v">{shape}</visual></link>')
    (seen,) = quietly(text).link("a").visuals
    assert (seen.shape, seen.size) == ("ellipsoid", (0.1, 0.2, 0.3))
    text = robot(f'<link name="a"><collision name="c">{shape}</collision></link>')
    assert any("shape <ellipsoid> of <collision>" in line for line in remarks(text))


def test_elements_without_effect_are_left_out_silently() -> None:
    """Elements without dynamics, and elements whose value is zero or false."""
    inside = (
        "<self_collide>1</self_collide><sensor name='s' type='imu'/>"
        "<kinematic>false</kinematic><gravity>1</gravity>"
    )
    assert (
        load(
            robot(link("a", inside=inside), "<plugin name='p' filename='f'><x>1</x></plugin>")
        ).nlinks
        == 1
    )


def test_shapes_are_read() -> None:
    """Shapes are in the frame of the link, also those that the file gives in another frame. No mesh is opened."""
    shapes = {
        "box": "<size>1 2 3</size>",
        "cylinder": "<radius>1</radius><length>2</length>",
        "sphere": "<radius>3</radius>",
        "mesh": "<uri>model://no/such.dae</uri><scale>2 2 2</scale>",
    }
    visuals = "".join(
        f'<visual name="{kind}">{at("0 0 1 0 0 0", "b")}<geometry><{kind}>{size}</{kind}></geometry></visual>'
        for kind, size in shapes.items()
    )
    found = (
        load(robot(link("a", inside=visuals), link("b", "5 0 0 0 0 0"), joint())).link("a").visuals
    )
    assert [shape.shape for shape in found] == list(shapes)
    assert [shape.size for shape in found] == [(1, 2, 3), (1, 2), (3,), (2, 2, 2)]
    assert (
        all(shape.pose.position == (5, 0, 1) for shape in found)
        and found[3].filename == "model://no/such.dae"
    )


def test_capsules_are_read() -> None:
    """SDF's length is the distance between the centres of the ends."""
    capsule = "<capsule><radius>0.1</radius><length>0.6</length></capsule>"
    inside = f"<collision name='c'><geometry>{capsule}</geometry></collision>"
    (shape,) = load(robot(link("a", inside=inside))).link("a").collisions
    assert shape.shape == "capsule" and shape.size == (0.1, 0.6)


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 3, 4), (-1, 2, -2), (0, 0, -1)])
def test_a_plane_is_drawn_along_its_normal(normal: tuple[float, ...]) -> None:
    """The normal is in the axes of the visual, which is rotated by 90 degrees about x."""
    said = "<plane><normal>{} {} {}</normal><size>2 3</size></plane>".format(*normal)
    pose = f"<pose>1 2 3 {np.pi / 2} 0 0</pose>"
    inside = f"<visual name='v'>{pose}<geometry>{said}</geometry></visual>"
    (shape,) = load(robot(link("a", inside=inside))).link("a").visuals
    assert shape.shape == "plane" and shape.size == (2, 3) and shape.pose.position == (1, 2, 3)
    x, y, z = np.array(normal) / np.linalg.norm(normal)
    assert np.allclose(np.array(shape.pose.rotation)[:, 2], (x, -z, y), atol=1e-12)


def test_a_collision_plane_is_read_but_has_no_contacts() -> None:
    """A plane of the ground and one of a moving link are in the axes of the collision, with a
    remark. They add no contact points, and URDF leaves them out."""
    said = "<plane><normal>0 0 1</normal><size>2 3</size></plane>"
    inside = f"<collision name='c'><pose>1 2 3 0 0 0</pose><geometry>{said}</geometry></collision>"
    text = robot(link("a", inside=inside), link("b", inside=inside), joint())
    lines = [x for x in remarks(text) if "is a plane, which has no contacts" in x]
    assert [x.partition(" is ")[0] for x in lines] == [
        'collision "c" of link "a"',
        'collision "c" of link "b"',
    ]
    made = quietly(text)
    for name in ("a", "b"):
        (shape,) = made.link(name).collisions
        assert shape.shape == "plane" and shape.size == (2, 3)
        assert shape.pose.position == (1, 2, 3) and not made.link(name).visuals
    assert len(ContactPoints(made)) == 0 and "plane" not in made.to_urdf()


def test_broken_or_unknown_shapes_are_remarked() -> None:
    """No motion depends on them."""
    broken = "<collision name='c'><geometry><box><size>1 2</size></box></geometry></collision>"
    hills = "<visual name='v'><geometry><heightmap/></geometry></visual>"
    said = remarks(robot(link("a", inside=broken + hills)))
    assert any("3 finite numbers" in line and "this collision is left out" in line for line in said)
    assert any("ignored shape <heightmap> of <visual>" in line for line in said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("<poze>1 0 0 0 0 0</poze>", ""), "element <poze> of <collision>"),
        (("", "<siz>1 1 1</siz>"), "element <siz> of <box>"),
        (
            ("<surface><friction><ode><mu>0.2</mu></ode></friction></surface>", ""),
            "element <surface> of <collision>",
        ),
    ],
)
def test_words_of_a_collision_that_are_not_read_are_remarked(
    words: tuple[str, str], said: str
) -> None:
    """Friction of a file, for example, has no effect here: contacts have that of `wd.Ground`."""
    of_collision, of_box = words
    shape = f"<geometry><box>{of_box}</box></geometry>"
    inside = f'<collision name="c">{of_collision}{shape}</collision>'
    assert any(f"ignored {said}" in line for line in remarks(robot(link("a", inside=inside))))


def test_a_part_of_a_mesh_is_remarked() -> None:
    """The whole mesh is drawn in its place."""
    mesh = "<mesh><uri>a.stl</uri><submesh><name>hull</name></submesh></mesh>"
    inside = f'<visual name="v"><cast_shadows>1</cast_shadows><geometry>{mesh}</geometry></visual>'
    (said,) = remarks(robot(link("a", inside=inside)))
    assert said.startswith("ignored element <submesh> of <mesh>")
