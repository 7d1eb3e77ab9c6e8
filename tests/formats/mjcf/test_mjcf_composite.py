"""MJCF: cables of <composite>, compared with numbers of MuJoCo 3.3.7. Later versions have no
cables."""

from __future__ import annotations

import numpy as np
import pytest
from lxml import etree
from mjcf_texts import load
from states import error

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_composite
from warpdyn.formats.mjcf import mjcf_composite as chosen
from warpdyn.formats.mjcf.mjcf_composite import with_cables
from warpdyn.formats.mjcf.mjcf_values import MjcfValues
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model.names import ModelError

CABLE = """
<mujoco><default><joint damping="9" armature="7"/><geom density="3"/></default>
<worldbody><body name="stand" pos="0 0 1" quat="0.6 0 0.8 0">
<composite prefix="P" type="cable" {} offset="0.1 0.2 0.3">
<joint kind="main" damping="0.1" stiffness="2" armature="0.01"/>
<geom type="{}" size="0.02 0.03 0.01" density="500"/></composite></body></worldbody></mujoco>"""

THEIRS = {
    "helix": (
        'curve="cos(s) sin(s) s" count="4 1 1" size="1 2 1" initial="none" quat="0.8 0 0.6 0"',
        "box",
        [
            [-1.739999959469, 0.2, 0.819999985695],
            [-0.740000014305, 1.932050776482, 0.486666646004],
            [-0.270354947981, 0.809892120448, -1.135462981016],
        ],
        [
            -6.20605143735,
            17.68434894863,
            9.26058492072,
            0.00110185088,
            8.78416397974,
            9.41082267859,
        ],
    ),
    "points": (
        'vertex="0 0 0 0 0 1 0 1 1 1 1 1" initial="ball"',
        "capsule",
        [[0.26, 0.2, 0.82], [0.8296, 0.68, 1.4872], [0.045472, 0.1536, 1.815904]],
        [
            *(0.35074339413, 0.5131005104, -0.26655448367, 0.49896095753, -9.30895431545),
            *(-7.80488739925, 0.00020191162, -2.90073253852, 0.83126820812),
        ],
    ),
}
"""Attributes of a cable, its geoms, positions of its bodies and the bias, where every joint has the
quaternion 0.8 0.2 -0.4 0.4 and speeds are evenly spaced from -1 to 1."""

ROUNDED = 1e-11
"""Tolerance: the numbers above are rounded to these digits."""


@pytest.mark.parametrize(("words", "shape", "positions", "bias"), THEIRS.values(), ids=THEIRS)
def test_a_cable_is_a_chain_of_ball_joints(words: str, shape: str, positions, bias) -> None:
    """Its segments follow the curve, and its frames turn with the bends. Default classes do not
    apply."""
    model = load(CABLE.format(words, shape), quaternion="wxyz")
    names = ["PB_first", "PB_1", "PB_last"]
    q = np.tile([0.8, 0.2, -0.4, 0.4], model.nq // 4)
    v = np.linspace(-1, 1, model.nv)
    poses = wd.oracle(wd.fk, model, q)
    found = np.array([poses[model.link_index(name)][:3, 3] for name in names])
    assert error(found, np.array(positions)) < ROUNDED
    assert error(wd.oracle(wd.bias_forces, model, q, v), np.array(bias)) < ROUNDED
    acting = model.with_springs("description").with_friction(viscous="description")
    angle = 2 * np.arccos(0.8)
    away = 2 * angle * np.array([0.2, -0.4, 0.4]) / 0.6  # the law: k times the rotation vector
    assert (
        error(wd.oracle(effect_torques, acting, q, v), np.tile(away, model.nv // 3) + 0.1 * v)
        < ROUNDED
    )
    assert acting.joint("PJ_last").damping == 0.1 and acting.joint("PJ_1").armature == 0.01
    tip = wd.oracle(wd.fk, model, q, frame="PS_last")
    assert np.allclose(
        np.linalg.norm(tip[:3, 3] - found[-1]), np.linalg.norm(np.diff(found, axis=0)[1])
    )


def test_a_free_cable_has_a_free_base() -> None:
    """It is in the world and has `initial="free"`. Only its joints have stiffness."""
    text = (
        '<mujoco><worldbody><composite type="cable" curve="s" count="4 1 1" size="1" initial="free">'
        '<joint kind="main" stiffness="2" armature="3"/><geom type="capsule" size="0.02"/>'
        "</composite></worldbody></mujoco>"
    )
    model = load(text)
    assert model.floating_base and model.joint_names == ("J_1", "J_last")
    assert model.base_armature == 0 and model.base_springs[0].spring == 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CABLE.format('curve="s" count="4 2 1" size="1"', "box"), "count of a cable must be 2 to"),
        (
            CABLE.format('curve="s" count="9999 1 1" size="1"', "box"),
            "count of a cable must be 2 to",
        ),
        (
            CABLE.format('curve="tan(s)" count="4" size="1"', "box"),
            "curve must consist of the words",
        ),
        (CABLE.format('curve="s" count="4" size="0"', "box"), "neighbouring points .* coincide"),
        (CABLE.format('curve="s" count="4" size="1"', "sphere"), "capsule, cylinder or box"),
        (CABLE.format('vertex="0 0 0 1"', "box"), "vertex needs"),
        (CABLE.format('curve="s" count="4" size="1" quat="1 0 0 1"', "box"), "unit length"),
        (CABLE.format('curve="s" count="4"', "box"), 'size is "nan"'),
        (
            CABLE.format('curve="s" count="4" size="1"', "box").replace(
                'size="0.02 0.03 0.01"', ""
            ),
            'size is "nan"',
        ),
        (CABLE.format("", "box").replace("cable", "grid"), 'type="grid"> is not read'),
    ],
)
def test_invalid_cables_are_refused(text: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        load(text)


def test_the_elasticity_plugin_of_a_cable_is_remarked() -> None:
    text = CABLE.format('curve="s" count="4" size="1"', "box")
    plugin = '<plugin plugin="mujoco.elasticity.cable"/></composite>'
    with pytest.warns(wd.ModelWarning, match="its elasticity"):
        wd.load(text.replace("</composite>", plugin))


@pytest.mark.parametrize("curve", ["0 0 s", "0 s 0", "s 0 0", "s 0 s"])
def test_the_x_axes_of_bodies_are_along_a_straight_cable(curve: str) -> None:
    """Also of a vertical cable, where z cannot give the normal. y and z complete a right-handed
    frame."""
    text = CABLE.format(f'curve="{curve}" count="4 1 1" size="3"', "box")
    model = load(text.replace('pos="0 0 1" quat="0.6 0 0.8 0"', "").replace("offset", "pos"))
    along = np.array([float(word == "s") for word in curve.split()])
    poses = wd.oracle(wd.fk, model, np.tile([1.0, 0, 0, 0], model.nq // 4))
    found = [poses[model.link_index(name)] for name in ("PB_first", "PB_1", "PB_last")]
    for k, pose in enumerate(found):
        R = pose[:3, :3]
        np.testing.assert_allclose(R[:, 0], along / np.linalg.norm(along), atol=1e-12)
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) > 0
        np.testing.assert_allclose(pose[:3, 3] - found[0][:3, 3], k * along, atol=1e-12)


def test_messages_on_an_included_cable_name_its_file() -> None:
    """The bodies of the cable belong to the file of their element."""
    root = etree.fromstring(CABLE.format('curve="s" count="4" size="1"', "box"))
    (cable,) = root.iter("composite")
    values = MjcfValues("main.xml", root, {cable: "cable.xml"})
    with_cables(values, root)
    bodies = [body for body in root.iter("body") if body.get("name", "").startswith("PB_")]
    assert [values.line(body) for body in bodies] == ["line 0 of cable.xml"] * 3


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ('curve="s" count="5 1 1" size="1"', ""),
        ('curve="s" count="2" size="1"', ""),
        ('curve="s" count="6 1 1" size="1"', "count of a cable must be 2 to 5, then 1 1"),
        ('curve="s" count="1" size="1"', "count of a cable must be 2 to 5, then 1 1"),
        ('curve="s" count="3.5" size="1"', "count of a cable must be 2 to 5, then 1 1"),
        ('curve="s" count="3 1 2" size="1"', "count of a cable must be 2 to 5, then 1 1"),
        ('vertex="0 0 0 1 0 0"', ""),
        ('vertex="0 0 0 1 0 0 2 0 0 3 0 0 4 0 0"', ""),
        ('vertex="0 0 0"', "vertex needs 2 to 5 points of three numbers"),
        ('vertex="0 0 0 1 0 0 2 0 0 3 0 0 4 0 0 5 0 0"', "vertex needs 2 to 5 points"),
        ('curve="s" count="3" size="1" quat="1 0 0 0.04"', ""),
        ('curve="s" count="3" size="1" quat="1 0 0 0.05"', "must be of unit length"),
        (
            'curve="s" count="3" size="1" initial="some"',
            'initial is "some"; it must be one of free, ball',
        ),
    ],
)
def test_cables_have_one_segment_up_to_the_limit(
    words: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each segment has the right length."""
    monkeypatch.setattr(mjcf_composite, "MOST", 4)
    if said:
        with pytest.raises(ModelError, match=said):
            load(CABLE.format(words, "box"))
        return
    model = load(CABLE.format(words, "box"))
    segments = [link for link in model.links if link.name.startswith("PB_")]
    assert len(segments) in (1, 2, 4)
    for link in segments:
        (shape,) = link.collisions
        assert shape.size[0] == pytest.approx(
            1.0 if "vertex" in words else 1 / len(segments), rel=1e-5
        )
        assert shape.size[1:] == pytest.approx((0.06, 0.02))
