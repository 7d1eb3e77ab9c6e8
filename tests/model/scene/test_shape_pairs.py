"""Which pairs of shapes may touch."""

from __future__ import annotations

from itertools import pairwise

import pytest

import warpdyn as wd
from warpdyn.model.scene.shape_pairs import shape_pairs

BALL = wd.description.Sphere(0.1)


def names(model: wd.Model) -> set[frozenset[str]]:
    """The links of all pairs."""
    return {frozenset((a.link, b.link)) for a, b, _ in shape_pairs(model)}


def mjcf(geom: str = "", contact: str = "") -> wd.Model:
    """An arm of two links on a table, next to a ball."""
    return wd.load(
        f"""<mujoco><worldbody><geom name="table" type="box" size="1 1 .1"/>
        <body name="upper"><joint/><geom type="sphere" size=".1"/>
          <body name="lower" pos="1 0 0"><joint/><geom type="sphere" size=".1" {geom}/></body></body>
        <body name="ball" pos="3 0 0"><freejoint/><geom type="sphere" size=".1"/></body>
        </worldbody><contact>{contact}</contact></mujoco>"""
    )


def pair(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


def test_neighbours_do_not_touch() -> None:
    """Links that a joint connects overlap by design. As in MuJoCo the world is not a neighbour."""
    assert names(mjcf()) == {
        pair("world", "upper"),
        pair("world", "lower"),
        pair("world", "ball"),
        pair("upper", "ball"),
        pair("lower", "ball"),
    }


def test_a_joint_to_the_world_makes_neighbours_in_other_formats() -> None:
    """The first link of a URDF arm overlaps its pedestal."""
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    text = f"""<robot name="r"><link name="base">{shape}</link><link name="arm">{shape}</link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    assert names(wd.load(text)) == set()
    scene = wd.load(text, floating_base=False).with_object("ball", BALL, mass=1.0)
    assert names(scene) == {pair("base", "ball"), pair("arm", "ball")}


def test_excluded_bodies_do_not_touch() -> None:
    """MJCF's <exclude> applies to the two bodies that it names."""
    excluded = mjcf(contact='<exclude body1="ball" body2="lower"/>')
    assert names(excluded) == names(mjcf()) - {pair("ball", "lower")}
    renamed = excluded.rename(links={"ball": "egg"})
    assert pair("egg", "lower") not in names(renamed) and pair("egg", "upper") in names(renamed)
    assert excluded.detach("lower").excluded_pairs == ()


@pytest.mark.parametrize(
    "masks, touches",
    [
        ('contype="2" conaffinity="2"', False),
        ('contype="2" conaffinity="1"', True),
        ('contype="1" conaffinity="2"', True),
        ('contype="0" conaffinity="1"', True),
    ],
)
def test_contact_masks_are_applied(masks: str, touches: bool) -> None:
    """The other geoms have contype 1 and conaffinity 1."""
    assert (pair("lower", "ball") in names(mjcf(geom=masks))) == touches


SRDF = """<robot name="panda">
<disable_collisions link1="panda_link0" link2="panda_link2" reason="Never"/>
<disable_default_collisions link="panda_hand"/>
<enable_collisions link1="panda_hand" link2="panda_link0"/></robot>"""


def test_disabled_collisions_of_srdf_are_applied() -> None:
    """MoveIt writes them for each robot."""
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = ("panda_link0", "panda_link1", "panda_link2", "panda_hand")
    text = "".join(f'<link name="{link}">{shape}</link>' for link in links)
    for n, (above, below) in enumerate(pairwise(links)):
        text += f'<joint name="j{n}" type="continuous"><parent link="{above}"/><child link="{below}"/></joint>'
    robot = f'<robot name="panda">{text}</robot>'
    plain, told = wd.load(robot), wd.load(robot, srdf=SRDF)
    assert names(plain) == {
        pair("panda_link0", "panda_link2"),
        pair("panda_link0", "panda_hand"),
        pair("panda_link1", "panda_hand"),
    }
    assert names(told) == {pair("panda_link0", "panda_hand")}


def test_an_attached_robot_keeps_its_excluded_pairs() -> None:
    """They have the new names of its links."""
    tool = mjcf(contact='<exclude body1="ball" body2="lower"/>')
    both = wd.load_robot("panda").attach(tool, "panda_hand", prefix="t_")
    assert both.excluded_pairs == (("t_ball", "t_lower"),)


def test_pairs_of_shapes_follow_changes_of_their_links() -> None:
    """MJCF's <pair> is kept through renaming, attaching, detaching, and merging links on fixed
    joints."""
    text = """<mujoco><worldbody><body name="arm"><joint/><geom type="sphere" size=".1"/>
      <body name="tool" pos="1 0 0"><geom size=".2"/><geom name="tip" size=".1"/></body></body>
    <body name="ball"><freejoint/><geom name="egg" size=".3" contype="0" conaffinity="0"/></body>
    </worldbody><contact><pair geom1="tip" geom2="egg" friction=".4 .4"/></contact></mujoco>"""

    def pairs(model: wd.Model) -> list[tuple[str, str | None, float | None]]:
        return [
            (a.link, a.shape.name, friction and friction.sliding)
            for a, _, friction in shape_pairs(model)
        ]

    model = wd.load(text)
    assert pairs(model) == [("tool", "tip", 0.4)]
    assert pairs(model.rename(links={"tool": "hand"})) == [("hand", "tip", 0.4)]
    assert pairs(model.collapse()) == [("arm", "tip", 0.4)]
    assert pairs(model.collapse(keep=["tool"])) == [("arm", "tip", 0.4)]
    assert model.detach("ball").touching_pairs == ()
    both = wd.load_robot("panda").attach(model, "panda_hand", prefix="t_")
    assert ("t_tool", "tip", 0.4) in pairs(both)
    assert wd.ContactPairs(model).friction == (0.4,)
