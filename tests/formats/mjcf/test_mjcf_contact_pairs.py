"""Contacts between pairs of geoms: masks, excluded and explicit pairs, compared with MuJoCo."""

from __future__ import annotations

import random
import re
import warnings
from itertools import combinations
from pathlib import Path

import pytest
from lxml import etree

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf_contacts import MjcfContacts
from warpdyn.formats.mjcf.mjcf_values import MjcfValues
from warpdyn.model.ground_contact import ContactFriction
from warpdyn.model.scene.shape_pairs import shape_pairs

BALL = '<body name="b" pos="0 0 {1}"><freejoint/><geom name="ball" size="0.1" mass="3" {0}/></body>'


def load(*parts: str, before: str = "") -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(f"<mujoco>{before}<worldbody>{''.join(parts)}</worldbody></mujoco>")


GEOMS = (
    *("", 'friction="0.3"', 'friction="1.7 0.1 0.1" condim="1"', 'condim="6" solmix="3"'),
    *('solref="0.05 0.7"', 'solref="-4000 -60"', 'solimp="0.2 0.8 0.01 0.3 3"', 'priority="1"'),
    *('contype="2" conaffinity="0"', 'contype="0" conaffinity="1"'),
)

HEAP = """<mujoco><default><pair friction="0.9 0.9"/>
<default class="icy"><pair friction="0.1 0.1" condim="1"/></default></default>
<worldbody><geom name="floor" type="plane" size="1 1 1"/><geom name="wall" type="box" size=".1 .1 .1"/>
<body name="upper" pos="0 0 .05"><joint/><geom name="u" size=".1"/>
  <geom name="free" size=".1" contype="0" conaffinity="0" friction=".3" condim="6"/>
  <body name="lower" pos=".05 0 0"><joint axis="0 1 0"/><geom name="l" size=".1"/></body></body>
<body name="ball" pos="0 .1 .05"><freejoint/><geom name="b" size=".1" contype="2" friction="2"/></body>
</worldbody><contact>{}</contact></mujoco>"""
"""Geoms that all overlap each other and the floor."""

MOVED = {
    "floor": "world",
    "wall": "world",
    "u": "upper",
    "free": "upper",
    "l": "lower",
    "b": "ball",
}
"""The body of each geom."""


def contacts_of(text: str) -> dict[frozenset[str], ContactFriction]:
    """The friction of all contacts between two bodies in warpdyn, by the names of the geoms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(text)
    found = {
        frozenset((str(a.shape.name), str(b.shape.name))): friction
        for a, b, friction in shape_pairs(model)
    }
    for shape in (shape for link in model.links for shape in link.collisions):
        assert shape.on_ground is not None
        if shape.on_ground.touches and shape.name != "wall":
            said = shape.on_ground
            numbers = ContactFriction(said.friction, said.torsional, said.rolling)
            found[frozenset(("floor", str(shape.name)))] = numbers
    return {pair: friction or ContactFriction(0.0) for pair, friction in found.items()}


def mujoco_contacts_of(text: str) -> dict[frozenset[str], ContactFriction]:
    """The same for MuJoCo, without geoms of the same body, whose contact moves nothing."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = {}
    for contact in data.contact:
        a, b = (model.geom(geom).name for geom in contact.geom)
        if MOVED[a] != MOVED[b]:
            sliding, _, torsional, rolling, _ = map(float, contact.friction)
            numbers = ContactFriction(sliding, torsional, rolling)
            found[frozenset((a, b))] = numbers.of_condim(contact.dim)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_contact_pairs_equal_mujocos(seed: int) -> None:
    """The same geoms touch with the same friction as in MuJoCo for random <pair> and <exclude>.

    A pair counts for neighbours, for excluded bodies and for geoms without masks, and takes nothing
    from its geoms.
    """
    draw = random.Random(seed)
    parts = []
    for a, b in draw.sample(list(combinations(MOVED, 2)), 4):
        kind = draw.choice(
            ('friction="0.4 0.4"', 'condim="1"', 'class="icy"', 'condim="6"', 'condim="4"', "")
        )
        parts.append(f'<pair geom1="{a}" geom2="{b}" {kind}/>')
    for a, b in draw.sample(list(combinations(dict.fromkeys(MOVED.values()), 2)), 2):
        parts.append(f'<exclude body1="{a}" body2="{b}"/>')
    text = HEAP.format("".join(parts))
    assert contacts_of(text) == mujoco_contacts_of(text)


@pytest.mark.parametrize(("first", "second"), list(combinations(GEOMS, 2)))
def test_two_geoms_touch_with_mujocos_friction(first: str, second: str) -> None:
    """The contact has the larger coefficients and condim, or those of the geom with the higher
    priority. A geom with condim 1 gives its coefficient to the contact with another geom."""
    mujoco = pytest.importorskip("mujoco")
    bodies = BALL.format(first, 0) + BALL.format(second, 0.1).replace('"b"', '"c"').replace(
        "ball", "two"
    )
    text = f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    found = [friction for *_, friction in shape_pairs(load(bodies))]
    assert len(found) == data.ncon
    for numbers, contact in zip(found, data.contact, strict=True):
        sliding, _, torsional, rolling, _ = contact.friction
        assert numbers == ContactFriction(sliding, torsional, rolling).of_condim(contact.dim)


def test_a_pair_with_a_height_field_is_a_contact_with_the_ground() -> None:
    """`terrain=` gives its shape. A foot without masks has its contact points, with the friction of
    the pair."""
    text = """<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 .1"/></asset><worldbody>
    <geom name="floor" type="hfield" hfield="hills"/><body pos="0 0 1"><freejoint/>
    <geom name="foot" size=".1" contype="0" conaffinity="0"/></body></worldbody>
    <contact><pair geom1="foot" geom2="floor" friction=".6 .6"/></contact></mujoco>"""
    with pytest.warns(wd.ModelWarning, match="without contacts: 1 hfield"):
        model = wd.load(text)
    (shape,) = model.links[0].collisions
    assert shape.on_ground is not None
    assert (shape.on_ground.touches, shape.on_ground.friction) == (True, 0.6)
    assert len(wd.ContactPoints(model)) == 1 and model.touching_pairs == ()


def test_a_pair_with_a_shape_without_contacts_is_remarked() -> None:
    """warpdyn has no contacts of ellipsoids."""
    text = HEAP.replace('name="b" size=".1"', 'name="b" type="ellipsoid" size=".1 .1 .1"')
    with pytest.warns(wd.ModelWarning, match=r"pairs with shapes that have no contacts \(1\)"):
        model = wd.load(text.format('<pair geom1="u" geom2="b"/>'))
    assert model.touching_pairs == ()


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ('geom1="u" geom2="other"', 'geom2 is "other", but no geom has this name'),
        ('geom1="u"', 'geom2 is "", but no geom has this name'),
        (
            'geom1="u" geom2="l" friction="high"',
            "it must be at most 5 finite numbers",
        ),
    ],
)
def test_an_invalid_pair_is_refused_with_its_line(pair: str, said: str) -> None:
    """MuJoCo refuses it too."""
    with pytest.raises(wd.ModelError, match=rf"{said} \(line \d+\)"):
        wd.load(HEAP.format(f"<pair {pair}/>"))


def test_pairs_of_an_attached_model_are_added(tmp_path: Path) -> None:
    """Excluded bodies are added too, as in MuJoCo."""
    inner = HEAP.format('<pair geom1="free" geom2="b"/><exclude body1="lower" body2="ball"/>')
    (tmp_path / "inner.xml").write_text(inner)
    outer = """<mujoco><asset><model name="m" file="inner.xml"/></asset><worldbody><frame>
    <attach model="m" prefix="a_"/></frame></worldbody></mujoco>"""
    (tmp_path / "outer.xml").write_text(outer)
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "outer.xml"))
    assert (theirs.npair, theirs.nexclude) == (1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(tmp_path / "outer.xml")
    assert model.excluded_pairs == (("a_lower", "a_ball"),)
    (pair,) = model.touching_pairs
    assert pair.links == ("a_upper", "a_ball") and pair.friction.sliding == 0.9


def test_missing_friction_numbers_of_a_pair_are_mujocos_defaults() -> None:
    """Each missing number has its own default."""
    mujoco = pytest.importorskip("mujoco")
    numbers = ("0.7", "0.6", "0.05", "0.004", "0.003")
    for count in range(6):
        said = f'friction="{" ".join(numbers[:count])}"' if count else ""
        text = f"""<mujoco><worldbody><body name="a"><joint/><geom name="a" size="1"/></body>
        <body name="b"><joint/><geom name="b" size="1"/></body></worldbody>
        <contact><pair geom1="a" geom2="b" {said}/></contact></mujoco>"""
        theirs = mujoco.MjModel.from_xml_string(text).pair_friction[0]
        root = etree.fromstring(text)
        contacts = MjcfContacts(MjcfValues("r.xml", root), root)
        contacts.body_of_geom = {"a": "a", "b": "b"}
        pair = contacts._read_pair(root.find("contact/pair"))
        along, torsion, roll = pair.contact.friction
        across, roll_across = pair.across
        assert [along, across, torsion, roll, roll_across] == pytest.approx(theirs.tolist())


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ('geom1="a" geom2="z"', 'geom2 is "z", but no geom has this name'),
        ('geom1="z" geom2="a"', 'geom1 is "z", but no geom has this name'),
        ('geom1="a"', 'geom2 is "", but no geom has this name'),
        ('geom1="a" geom2="b" condim="x"', 'condim is "x"; it must be a whole number'),
        ('geom1="a" geom2="b" friction="1 x"', "; it must be at most 5 finite numbers"),
    ],
)
def test_pairs_of_unknown_geoms_are_refused(pair: str, said: str) -> None:
    text = f"""<mujoco><worldbody><body><joint/><geom name="a" size="1"/></body><body><joint/>
    <geom name="b" size="1"/></body></worldbody><contact><pair {pair}/></contact></mujoco>"""
    with pytest.raises(wd.ModelError, match=re.escape(said)):
        wd.load(text)
