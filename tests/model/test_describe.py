"""A model as text and as HTML."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from documented_numbers import check_numbers
from hand_models import hand
from lxml import etree
from robots import Robot

import warpdyn as wd
from warpdyn.model import describe
from warpdyn.model.describe import DEEPEST, remainder, tree


def test_summary_draws_the_tree() -> None:
    """One line is about the robot. Each link has a line below its parent, with coordinates, limits
    and mass."""
    lines = hand().summary().splitlines()
    assert lines[0] == "hand: 6 links, 3 moving joints, nq = 5, nv = 5, fixed base, 6.8 kg"
    assert lines[1:] == [
        "base  5 kg",
        "├─ (fixed) ─ eye  0.3 kg",
        "└─ wrist q[0] (revolute -1..2) ─ palm  1 kg",
        "   ├─ slide q[1:4] (planar) ─ puck  0.1 kg",
        "   ├─ finger q[4] (prismatic 0..0.04) ─ left  0.2 kg",
        "   └─ follower (mimics finger x 1 + 0) ─ right  0.2 kg",
    ]


def test_counts_of_one_are_singular() -> None:
    """One link and one joint in the first line, and one configuration."""
    post = wd.ModelBuilder("post").add_link("base").build()
    assert post.summary().startswith("post: 1 link, 0 moving joints,")
    post = wd.ModelBuilder("post").add_link("base").add_link("arm", mass=1.0)
    model = post.add_joint("hinge", "continuous", "base", "arm").build()
    assert repr(model).startswith("<Model post: 2 links, 1 moving joint,")


def test_limits_of_both_axes_are_in_the_summary() -> None:
    builder = wd.ModelBuilder("gimbal").add_link("base").add_link("cup", mass=1.0)
    second = wd.description.Limits(-5.0, 6.0)
    axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0), "lower": -1.0, "upper": 2.0}
    builder.add_joint("swivel", "universal", "base", "cup", **axes, limits2=second)
    assert "swivel q[0:2] (universal -1..2, -5..6) ─ cup" in builder.build().summary()


def test_every_link_has_a_line_below_its_parents(robot: Robot) -> None:
    """The name and columns of a joint come before the link that it carries."""
    head, *lines = robot.model.summary().splitlines()
    lines = lines[: robot.model.nlinks]
    assert head.startswith(f"{robot.model.name}: ") and len(lines) == robot.model.nlinks
    assert sum("─ " in line for line in lines) == len(robot.model.joints)
    assert repr(robot.model) == f"<Model {head}>"
    for name in robot.model.joint_names:
        column = robot.model.coordinates[name].q.start
        assert any(f"{name} q[{column}" in line for line in lines)


def robot_with_meshes(folder: Path) -> wd.Model:
    """A robot with a mesh file, a missing mesh file, and a home configuration."""
    (folder / "a.stl").write_bytes(b"solid")
    meshes = [
        wd.description.Geometry("mesh", (1.0, 1.0, 1.0), f"{x}.stl", folder=folder) for x in "ab"
    ]
    shapes = (
        wd.description.Geometry("sphere", (0.1,)),
        wd.description.Geometry("capsule", (0.1, 0.5)),
        *meshes,
    )
    builder = wd.ModelBuilder("toy").add_link("box", 1.0, collisions=shapes[:2])
    builder.add_link("arm", 1.0, collisions=shapes[2:])
    builder.add_joint("turn", "continuous", "box", "arm", axis=(0, 1, 0))
    return builder.build(floating_base=True).with_configuration("home", {"turn": 1.0})


def test_contact_points_and_configurations_follow_the_tree(tmp_path: Path) -> None:
    """Links without contact points are listed with the reason. No mesh is read for it. HTML has the
    same lines."""
    pytest.importorskip("trimesh")
    model = robot_with_meshes(tmp_path)
    said = [
        "contact points: 3 on box, some of the mesh a.stl",
        "without contact points: the mesh b.stl of arm (there is no such file)",
        "configurations: home",
    ]
    assert model.summary().splitlines()[3:] == said
    assert html_of(model).xpath("./div/text()") == said
    assert list(remainder(hand())) == []


def test_lines_below_the_tree_are_wrapped_between_links() -> None:
    """They are wrapped at 100 columns, never between a number and its link."""
    for name in wd.robot_names():
        model = wd.load_robot(name)
        below = model.summary().splitlines()[model.nlinks + 1 :]
        assert max(map(len, below)) <= 100 and below[-1] == "configurations: home"
        assert not [line for line in below if line.endswith((" on", *"0123456789"))]
        points = wd.ContactPoints(model)
        counts = [f"{sum(p.link == x for p in points)} on {x}" for x in points.links]
        text = " ".join(line.strip() for line in below[:-1])
        assert text == (f"contact points: {', '.join(counts)}" if counts else "")


def test_a_missing_reader_of_meshes_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe, "find_spec", lambda name: None)
    assert "the mesh a.stl of arm (the package trimesh reads it, and is not installed" in (
        " ".join(robot_with_meshes(tmp_path).summary().split())
    )


def test_a_long_line_is_split_in_two() -> None:
    """The link is below its joint, with the branch line that continues. Limits are left out."""
    assert tree(hand(), 37) == [
        "base  5 kg",
        "├─ (fixed) ─ eye  0.3 kg",
        "└─ wrist q[0] (revolute) ─ palm  1 kg",
        "   ├─ slide q[1:4] (planar)",
        "   │     puck  0.1 kg",
        "   ├─ finger q[4] (prismatic)",
        "   │     left  0.2 kg",
        "   └─ follower (mimics finger)",
        "         right  0.2 kg",
    ]
    lines = tree(hand(), 36)
    assert lines[2:4] == ["└─ wrist q[0] (revolute)", "   │  palm  1 kg"]


def html_of(model: wd.Model) -> etree._Element:
    """The model's HTML, which must be well-formed XML."""
    return etree.fromstring(model._repr_html_(), etree.XMLParser(huge_tree=True))


def text_of_row(row: etree._Element) -> str:
    """The text of a row, without the rows below it."""
    return "".join(row.xpath("./text() | ./b//text() | ./i//text()"))


def rows(html: etree._Element) -> list[str]:
    """The text of each row, from the top."""
    return [text_of_row(row) for row in html.xpath("//li[not(details)] | //li/details/summary")]


def test_html_shows_joints_and_links() -> None:
    """A row for each link contains its joint with type, columns of q and limits, and its mass."""
    assert rows(html_of(hand())) == [
        "fixed base → base 5 kg",
        "mount fixed → eye 0.3 kg",
        "wrist revolute q[0] [-1 … 2 rad, 5 rad/s, 30 N·m] → palm 1 kg",
        "slide planar q[1:4] [3 rad/s or m/s, 4 N·m or N] → puck 0.1 kg",
        "finger prismatic q[4] [0 … 0.04 m, 1 m/s, 20 N] → left 0.2 kg",
        "follower prismatic = 1 × finger + 0 → right 0.2 kg",
    ]
    assert rows(html_of(hand(floating_base=True)))[0] == "free base q[0:7] → base 5 kg"
    assert text_of_row(html_of(hand()).find("summary")) == hand().summary().splitlines()[0]


def test_html_has_every_link_in_order(robot: Robot) -> None:
    """Each link is in a list of its parent."""
    model, html = robot.model, html_of(robot.model)
    assert [row.rpartition("→ ")[2].split(" ")[0] for row in rows(html)] == [
        name.split(" ")[0] for name in model.link_names
    ]
    names = html.xpath("//li//b")
    place = {model.link_names[k]: name for k, name in enumerate(names)}
    for link, name in place.items():
        parent = model.parent(link)
        if parent is not None:
            lists = set(place[parent].iterancestors("ul"))
            heads = place[parent].iterancestors("details")
            lists |= set(next(heads).findall("ul"))
            assert name.xpath("ancestor::ul[1]")[0] in lists


def test_names_are_escaped_in_html() -> None:
    """The names of a description are shown as text."""
    builder = wd.ModelBuilder("<i>&").add_link('<script>"').add_link("</li>")
    model = builder.add_joint("j<&", "continuous", '<script>"', "</li>").build()
    html = html_of(model)
    assert rows(html) == ['fixed base → <script>"', "j<& continuous q[0] → </li>"]
    assert not html.xpath("//script") and html.xpath("//summary/b/text()") == ["<i>&"]


@pytest.mark.parametrize("comb", [False, True], ids=["chain", "comb"])
def test_long_robots_have_html(comb: bool) -> None:
    """The robot has a thousand links in a chain, each also with a second one next to it. Every link
    is shown, and elements are not nested deeper than HTML readers support."""
    builder = wd.ModelBuilder().add_link("0")
    for k in range(1, 1001):
        builder.add_link(str(k)).add_joint(f"j{k}", "continuous", str(k - 1), str(k))
        if comb:
            builder.add_link(f"{k}b").add_frame(f"{k}c", f"{k - 1}")
            builder.add_joint(f"j{k}b", "fixed", str(k - 1), f"{k}b")
    model = builder.build()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own; other libraries raise it
    try:
        assert model.nlinks > sys.getrecursionlimit()
        html = html_of(model)
    finally:
        sys.setrecursionlimit(limit)
    assert len(rows(html)) == model.nlinks == len(set(rows(html)))
    deepest = max(len(list(each.iterancestors())) for each in html.iter())
    assert deepest <= 3 * DEEPEST + 5
    assert deepest > 100 if comb else deepest < 5


def test_documented_numbers() -> None:
    check_numbers("model.describe", DEEPEST=40, WIDTH=100, SHOWN=40)
