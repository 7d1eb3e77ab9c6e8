"""Contact pairs by the names of their links, their coefficients, and their repr."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.contact_pairs import pairs_between, signs_between

BALL = wd.description.Sphere(0.1)


def world(*names: str) -> wd.Model:
    """Free balls with these names."""
    model = wd.ModelBuilder("world").add_link("world").build()
    for k, name in enumerate(names):
        model = model.with_object(name, BALL, mass=1.0, pose=(k, 0, 1))
    return model


MODEL = world("red", "blue", "green")
PAIRS = wd.ContactPairs(MODEL)
ALL = (("red", "blue"), ("red", "green"), ("blue", "green"))


def test_patterns_choose_pairs_in_any_order_of_names() -> None:
    """Both names must match, each its own pattern. `without` gives the rest."""
    assert PAIRS.links == ALL and PAIRS.contacts == 3
    for pattern, chosen in (
        ("red", ALL[:2]),
        (("red", "blue"), ALL[:1]),
        (("blue", "red"), ALL[:1]),
        (("gr*", "*"), ALL[1:]),
        (("re?", "*een"), ALL[1:2]),
        ("*", ALL),
    ):
        assert PAIRS.only(pattern).links == chosen
        assert PAIRS.without(pattern).links == tuple(x for x in ALL if x not in chosen)
    assert PAIRS.only(("red", "blue"), "green").links == ALL
    with pytest.raises(KeyError, match=r"^\"world has no pair of 'rad' and '\*'; .* of red\"$"):
        PAIRS.only("rad")
    with pytest.raises(
        KeyError, match=r"no pair of 'x' and 'y'; there are pairs of blue, green, r"
    ):
        PAIRS.only(("x", "y"))
    nothing = PAIRS.without("*")
    with pytest.raises(KeyError, match="there are pairs of no links"):
        nothing.only("red")


def test_pairs_between_two_links_have_the_sign_of_their_order() -> None:
    """1 in the order of the names, -1 in the other.

    Points are between the ground and their link.
    """
    assert PAIRS.between("red", "green") == {1: 1.0} and PAIRS.between("green", "red") == {1: -1.0}
    points = [wd.ContactPoint(name, (0, 0, 0), 0.1) for name in ("red", "blue", "red")]
    grounded = PAIRS.with_ground("red")
    assert signs_between(points, grounded, "ground", "red") == {0: 1.0, 2: 1.0, 6: 1.0}
    assert signs_between(points, grounded, "red", "ground") == {0: -1.0, 2: -1.0, 6: -1.0}
    assert signs_between(points, PAIRS, "ground", "blue") == {1: 1.0}
    assert signs_between(points, PAIRS, "blue", "red") == {3: -1.0}
    words = (
        "there is no pair of ground and green; there are red and blue, red and green, blue and g"
    )
    with pytest.raises(KeyError, match=words):
        signs_between(points, PAIRS, "ground", "green")
    with pytest.raises(KeyError, match="there is no pair of a and b; there are none"):
        pairs_between([], "a", "b")


def test_the_repr_of_pairs_lists_the_first_four() -> None:
    text = "<3 contact pairs of world with 3 contacts: red and blue, red and green, blue and green>"
    assert repr(PAIRS) == text
    many = wd.ContactPairs(world(*"abcd"))
    shown = "a and b, a and c, a and d, b and c and 2 more"
    assert repr(many) == f"<6 contact pairs of world with 6 contacts: {shown}>"
    assert repr(PAIRS.without("*")) == "<0 contact pairs of world with 0 contacts: none>"


def test_pairs_with_the_ground_have_the_coefficients_of_the_file() -> None:
    """A given sliding friction replaces the file's.

    Without numbers in the file they are None and 0.
    """
    grounded = PAIRS.with_ground("red", friction=0.3)
    assert grounded.friction == (None, None, None, 0.3) and len(grounded) == 4
    assert grounded.torsional_friction == grounded.rolling_friction == (0.0,) * 4
    assert PAIRS.with_ground("red").friction == (None,) * 4 and len(PAIRS) == 3
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 1"><freejoint/>
    <geom type="sphere" size="0.1" mass="1" condim="6" friction="0.5 0.02 0.003"/></body></worldbody></mujoco>"""
    model = wd.load_mjcf(text)
    for friction, sliding in ((None, 1.0), (0.25, 0.25)):
        pairs = wd.ContactPairs(model).with_ground("b", friction=friction)
        assert pairs.friction[-1] == sliding
        assert (pairs.torsional_friction[-1], pairs.rolling_friction[-1]) == (0.02, 0.003)


def test_a_link_is_paired_with_the_ground_once() -> None:
    """Two equal contacts would be twice as stiff."""
    with pytest.raises(ValueError, match="red touches the ground already; name it once"):
        PAIRS.with_ground("red").with_ground("blue", "red")
    with pytest.raises(ValueError, match="red touches the ground already; name it once"):
        PAIRS.with_ground("red", "red")
    assert PAIRS.with_ground("red").with_ground("blue").links[3:] == (
        ("ground", "red"),
        ("ground", "blue"),
    )


def test_a_link_without_a_shape_cannot_touch_the_ground() -> None:
    """It has none, or its mesh cannot be read: it would fall through the ground."""
    with pytest.raises(ValueError, match=r"world has no shape that can touch the ground$"):
        PAIRS.with_ground("world")
    gone = wd.description.Geometry("mesh", (1.0, 1.0, 1.0), filename="gone.stl")
    builder = wd.ModelBuilder("r").add_link("world")
    builder.add_link("b", mass=1.0, inertia=np.eye(3), collisions=[gone])
    builder.add_joint("free", "floating", "world", "b")
    with pytest.raises(ValueError, match=r"b has no shape that can touch the ground \(.*gone.stl"):
        wd.ContactPairs(builder.build()).with_ground("b")


def test_patterns_are_names_or_two_of_them() -> None:
    for wrong in (("red",), ("red", "blue", "green")):
        with pytest.raises(ValueError, match="a pair is two link names, or one name for all"):
            PAIRS.only(wrong)  # type: ignore[arg-type]


def test_meshes_on_the_ground_have_the_chosen_number_of_vertices(tmp_path: Path) -> None:
    """As in pairs with other bodies, also after a choice of pairs."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(2).export(tmp_path / "ball.stl")
    text = """<robot name="r"><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="ball.stl"/></geometry></collision></link></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    model = wd.load(tmp_path / "r.urdf", floating_base=True)
    for count in (8, 32):
        pairs = wd.ContactPairs(model, mesh_vertices=count).without()
        assert len(pairs.with_ground("b")[0].second.vertices) == count
