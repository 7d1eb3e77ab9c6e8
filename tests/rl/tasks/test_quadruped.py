"""A user's quadruped: quantities derived from its model, and mistakes refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.tasks.quadruped import HEIGHT
from warpdyn.rl.tasks.quadruped_tasks import CommandedQuadruped

FOUND = wd.load_robot("quadruped", floating_base=True)
NAMES = {joint.name: joint.name.replace("_calf_joint", "_KFE") for joint in FOUND.joints}
ROBOT = FOUND.rename(joints=NAMES, links={f"{leg}_foot": f"{leg}_PAW" for leg in ("FL", "FR")})
"""The bundled quadruped with other names of knees and of the front feet."""

FEET = ("*_paw", "*_foot")
BENT = {"*_thigh_joint": 0.8, "R*_thigh_joint": 1.0, "*_KFE": -1.5}


def standing(model: wd.Model = ROBOT, **said: Any) -> Any:
    return rl.Quadruped(**{"feet": FEET, **said}).standing(model)


def test_the_lowest_foot_touches_the_ground_at_the_default_height() -> None:
    """The height of the base comes from forward kinematics of the stance."""
    found = standing(stance=BENT)
    q = np.concatenate([[0.0, 0.0, found.height, 0.0, 0.0, 0.0, 1.0], found.stance])
    heights = wd.oracle(wd.point_heights, ROBOT, q, points=found.points)
    assert min(heights) == pytest.approx(0.0, abs=1e-12) and max(heights) < 0.02
    assert [point.link for point in found.points] == ["FL_PAW", "FR_PAW", "RL_foot", "RR_foot"]
    assert standing(stance=BENT, height=0.4).height == 0.4


def test_reach_moves_each_foot_by_its_own_leg() -> None:
    """Joint changes of `reach` times 1 mm move that foot by 1 mm, to first order, and no other."""
    found = standing(stance=BENT)
    q = np.concatenate([np.zeros(6), [1.0], found.stance])
    for foot, reach in enumerate(found.reach):
        for axis in range(3):
            moved = q.copy()
            moved[7:] += 1e-3 * reach[:, axis]
            places = wd.oracle(wd.point_positions, found.model, moved, points=found.points)
            wanted = found.feet.copy()
            wanted[foot, axis] += 1e-3
            assert places == pytest.approx(wanted, abs=1e-5)


def test_a_stance_is_read_by_pattern_by_name_and_in_order() -> None:
    """The last matching pattern applies.

    Joints without a pattern are at 0. A configuration can be named.
    """
    by_pattern = standing(stance=BENT).stance
    assert by_pattern.tolist() == [0, 0.8, -1.5, 0, 0.8, -1.5, 0, 1.0, -1.5, 0, 1.0, -1.5]
    assert np.array_equal(standing(stance=by_pattern).stance, by_pattern)
    home = ROBOT.configurations["home"][7:]
    assert np.array_equal(standing().stance, home)
    assert np.array_equal(standing(stance="home").stance, home)


def test_gains_are_proportional_to_weight_times_height() -> None:
    """Half of weight times height per radian. Friction and rotor inertia are proportional too."""
    found = standing()
    moment = ROBOT.total_mass * 9.81 * found.height
    assert found.moment == pytest.approx(moment)
    assert found.drives.kp == pytest.approx(0.5 * moment) and found.drives.effort is None
    assert found.drives.kd == pytest.approx(0.02 * found.drives.kp)
    knee = found.model.joint("FL_KFE")
    assert knee.armature == pytest.approx(0.0065 * ROBOT.total_mass * found.height**2)
    assert knee.effects[0].viscous == pytest.approx(0.2 * found.drives.kd)
    chosen = standing(kp=np.arange(12.0), kd=0.7).drives
    assert chosen.kp.tolist() == list(range(12)) and chosen.kd == 0.7


def test_speeds_and_times_scale_with_the_root_of_the_height() -> None:
    """The Froude number is that of the bundled quadruped.

    An explicit command range is used unchanged.
    """
    assert rl.QuadrupedVelocity().pace == pytest.approx(1.0, abs=1e-12)
    higher = rl.QuadrupedVelocity(ROBOT, rl.Quadruped(feet=FEET, stance=BENT, height=4 * HEIGHT))
    assert higher.pace == pytest.approx(2.0)
    assert higher.numbers["command_range"].tolist() == pytest.approx([2.0, 2.0, 0.5])
    # Accelerations are those of gravity, whatever the size; turning's fall with the height.
    assert higher.numbers["command_rate"].tolist() == pytest.approx([2.0, 2.0, 1.0])
    body = rl.Quadruped(feet=FEET, stance=BENT, command_range=(0.5, 0.3, 0.8))
    assert rl.QuadrupedVelocity(ROBOT, body).numbers["command_range"].tolist() == [0.5, 0.3, 0.8]
    for wrong in ((1.0, 1.0), (1.0, -1.0, 1.0)):
        with pytest.raises(rl.TaskError, match="command_range must be the largest speeds ahead"):
            rl.QuadrupedVelocity(ROBOT, rl.Quadruped(feet=FEET, command_range=wrong))


def test_similar_motions_of_scaled_robots_earn_the_same() -> None:
    """A robot four times as high takes steps half as often.

    Equal motions in its units earn the same.
    """

    def compute_rewards(task: rl.QuadrupedVelocity) -> dict[str, float]:
        pace, n = task.pace, task.actions
        speed = np.array([0.6, 0.2, 0.1]) * pace
        turning = np.array([0.3, 0.2, 0.4]) / pace
        joints = np.linspace(-1.0, 1.0, n) / pace
        fields = {
            "q": np.concatenate([np.zeros(6), [1.0], task.stance]),
            "v": np.concatenate([speed, turning, joints]),
            "last_v": np.concatenate([speed, turning, joints - 0.1 / pace**2]),
            "command": np.array([0.4 * pace, 0.1 * pace, 0.9 / pace]),
            "torques": task.moment * np.linspace(0.0, 0.3, n),
            **{"action": np.ones(n), "last_action": np.zeros(n)},
        }
        rewards = CommandedQuadruped.reward(task, None, rl.Episode(fields))
        return {n: float(x) for n, x in rewards.items()}

    here = compute_rewards(rl.QuadrupedVelocity())
    body = rl.Quadruped(feet=FEET, stance=BENT, height=4 * HEIGHT)
    there = compute_rewards(rl.QuadrupedVelocity(ROBOT, body))
    assert set(here) == set(CommandedQuadruped.scales) and here["acceleration"] > 1.0
    assert there == pytest.approx({**here, "limits": there["limits"]}, rel=1e-9)


def test_joint_properties_of_the_model_are_kept() -> None:
    """Rotors are added only if no joint has one."""
    first = ROBOT.moving_joints[1].name
    mine = ROBOT.with_armature({first: 0.02})
    assert standing(mine).model.joint(first).armature == 0.02
    mine = ROBOT.with_armature(0.02).with_friction(viscous=0.3)
    knee = standing(mine.with_limit_springs(stiffness=50.0, damping=0.1)).model.joint("FL_KFE")
    assert knee.armature == 0.02
    assert (knee.effects[0].viscous, knee.effects[0].stiffness) == (0.3, 50.0)


def test_the_trunk_is_the_box_around_its_collision_shapes() -> None:
    """The shapes are the body's box and the head's sphere. The sides can also be set."""
    found = standing()
    assert (found.centre + found.half).tolist() == pytest.approx([0.33, 0.05, 0.057])
    assert (found.centre - found.half).tolist() == pytest.approx([-0.188, -0.05, -0.057])
    assert standing(box=(0.4, 0.2, 0.1)).half.tolist() == [0.2, 0.1, 0.05]


def test_each_foot_has_one_contact_sphere() -> None:
    """The sphere among its shapes, one at its origin by a radius, or one around its corners."""
    assert {point.radius for point in standing().points} == {0.022}
    assert {point.radius for point in standing(radius=0.03).points} == {0.03}
    found = standing(feet="*_hip", stance=BENT)
    capsule = [p for p in wd.ContactPoints(ROBOT) if p.link == "FL_hip"]
    assert found.points[0] in capsule


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            {"feet": "*_hoof"},
            r'no link "\*_hoof" for a foot. .* FL_PAW, FR_PAW, RL_foot and RR_foot',
        ),
        ({"feet": "*"}, r"a quadruped has four feet; \* matches 18 links of quadruped"),
        ({"feet": "*_paw"}, "four feet; .* matches 2 links of quadruped: FL_PAW and FR_PAW"),
        ({"stance": [0.1] * 11}, "stance must be 12 angles for quadruped, .*; got 11"),
        ({"stance": "kneeling"}, "no configuration 'kneeling' for a stance; it has home"),
        ({"stance": {"*_knee": 1.0}}, r'stance: quadruped has no joint "\*_knee"; it has FL_hip'),
        ({"stance": {"*_KFE": 1.0}}, 'joint "FL_KFE" .* at 1 is outside its limits, -2.7'),
        ({"radius": None, "feet": ("imu", "*_paw", "RL_foot")}, '"imu" of quadruped has no coll'),
    ],
)
def test_each_mistake_is_refused_in_one_line(said: dict[str, Any], text: str) -> None:
    with pytest.raises(rl.TaskError, match=text) as caught:
        standing(**said)
    assert "\n" not in str(caught.value)


def test_robots_that_cannot_walk_are_refused() -> None:
    with pytest.raises(rl.TaskError, match=r"fixed base .*: load it with floating_base=True"):
        standing(wd.load_robot("quadruped", floating_base=False))
    with pytest.raises(rl.TaskError, match="wxyz quaternions"):
        standing(wd.load_robot("quadruped", quaternion="wxyz"))
    bare = wd.load(ROBOT.to_urdf().encode(), floating_base=True)
    with pytest.raises(rl.TaskError, match="no configuration home, standing or stand to stand in"):
        standing(bare)


def test_the_task_accepts_a_users_robot() -> None:
    """Targets begin at the stance, and environments begin on their feet."""
    task = rl.QuadrupedVelocity(ROBOT, rl.Quadruped(feet=FEET, stance=BENT, action=0.2))
    assert task.stance[1] == 0.8 and task.actions == 12 and task.body.action == 0.2
    with pytest.raises(rl.TaskError, match="cartpole_swing_up takes no body and no model"):
        rl.make("cartpole_swing_up", model=ROBOT, body=None)


def boxes_for_feet(trunk: bool = True) -> wd.Model:
    """The bundled quadruped with feet of 4 cm boxes, with or without a shape of its trunk."""
    text = (Path(wd.__file__).parent / "robots" / "quadruped.urdf").read_text()
    root = ElementTree.fromstring(text)
    for link in root.iter("link"):
        for collision in link.findall("collision"):
            if link.get("name", "").endswith("_foot"):
                (shape,) = collision.findall("geometry")
                shape.clear()
                ElementTree.SubElement(shape, "box", size="0.04 0.04 0.04")
            elif not trunk and link.get("name") == FOUND.root:
                link.remove(collision)
    return wd.load_urdf(ElementTree.tostring(root, "unicode"), floating_base=True)


def test_a_foot_of_corners_becomes_a_sphere_about_their_middle() -> None:
    """Its radius is the depth of the lowest corner at the stance."""
    model = boxes_for_feet()
    stance = FOUND.configurations["home"][7:]
    found = standing(model, stance=stance, feet="*_foot")
    q = np.concatenate([np.zeros(6), [1.0], stance])
    for point in found.points:
        mine = [x for x in wd.ContactPoints(model) if x.link == point.link]
        assert point.centre == pytest.approx(np.mean([x.centre for x in mine], axis=0))
        R = wd.oracle(wd.fk, model, q, frame=point.link)[:3, :3]
        assert len(mine) == 8 and point.radius == pytest.approx(0.02 * np.abs(R[2]).sum())


def test_robots_without_shapes_or_in_other_conventions_are_refused() -> None:
    """The message is one line with the remedy."""
    said = (
        'the trunk "{root}" of {name} has no collision shape that can be read: give box= its three '
        "sides [m]"
    )
    model = boxes_for_feet(trunk=False)
    stance = FOUND.configurations["home"][7:]
    with pytest.raises(rl.TaskError) as caught:
        standing(model, stance=stance, feet="*_foot")
    assert str(caught.value) == said.format(root=model.root, name=model.name)
    assert standing(model, stance=stance, feet="*_foot", box=(0.4, 0.2, 0.1)).half.tolist() == [
        *(0.2, 0.1, 0.05)
    ]
    with pytest.raises(rl.TaskError) as caught:
        standing(wd.load_robot("quadruped", quaternion="wxyz"))
    assert str(caught.value) == (
        "quadruped has wxyz quaternions and local base velocities: tasks are written for xyzw and "
        "local; load it without these options"
    )
    with pytest.raises(rl.TaskError, match="xyzw quaternions and world base velocities"):
        standing(FOUND.with_base_velocity("world"))


def test_feet_must_be_below_the_base() -> None:
    for height, said in ((-0.1, "-0.1"), (0.0, "0"), (np.nan, "nan")):
        with pytest.raises(rl.TaskError, match=rf"are not below its base \(height {said} m\)"):
            rl.Quadruped(height=height).standing(FOUND)
