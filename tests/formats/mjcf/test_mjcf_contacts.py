"""Contacts of geoms with the floor of their file, compared with MuJoCo; and the one remark on what
is not simulated."""

from __future__ import annotations

import re
import warnings
from itertools import product

import pytest

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_contacts as chosen
from warpdyn.formats.mjcf.mjcf_contacts import GeomContact
from warpdyn.model.description import Geometry
from warpdyn.model.ground_contact import STANDARD_WEIGHT, GroundContact

FLOOR = '<geom name="floor" type="plane" size="1 1 1" {0}/>'

BALL = '<body name="b" pos="0 0 {1}"><freejoint/><geom name="ball" size="0.1" mass="3" {0}/></body>'


def load(*parts: str, before: str = "") -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(f"<mujoco>{before}<worldbody>{''.join(parts)}</worldbody></mujoco>")


def ball_of(geom: str, *floor: str) -> GroundContact | None:
    (shape,) = (
        load(*(FLOOR.format(each) for each in floor), BALL.format(geom, 1)).links[0].collisions
    )
    assert isinstance(shape, Geometry)
    return shape.on_ground


GEOMS = (
    *("", 'friction="0.3"', 'friction="1.7 0.1 0.1" condim="1"', 'condim="6" solmix="3"'),
    *('solref="0.05 0.7"', 'solref="-4000 -60"', 'solimp="0.2 0.8 0.01 0.3 3"', 'priority="1"'),
    *('contype="2" conaffinity="0"', 'contype="0" conaffinity="1"'),
)


@pytest.mark.parametrize(("ball", "floor"), list(product(GEOMS, GEOMS)))
def test_contacts_with_the_floor_have_mujocos_friction_and_depth(ball: str, floor: str) -> None:
    """All pairs of attributes are compared: whether there is a contact, its friction, and how deep
    a ball lies in the floor once MuJoCo's ball is at rest."""
    mujoco = pytest.importorskip("mujoco")
    # With pyramids MuJoCo's stiffness is by the friction too.
    bodies = FLOOR.format(floor) + BALL.format(ball, 0.0999)
    text = f'<mujoco><option cone="elliptic"/><worldbody>{bodies}</worldbody></mujoco>'
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    mine = ball_of(ball, floor)
    assert mine is not None and mine.touches == bool(data.ncon)
    if not data.ncon:
        return
    contact = data.contact[0]
    assert mine.friction == (contact.friction[0] if contact.dim > 1 else 0.0)
    assert mine.torsional == (contact.friction[2] if contact.dim > 3 else 0.0)
    assert mine.rolling == (contact.friction[3] if contact.dim > 4 else 0.0)
    for _ in range(1000):
        mujoco.mj_step(theirs, data)
    assert mine.sink == pytest.approx(0.1 - data.qpos[2], rel=1e-3)


@pytest.mark.parametrize(
    ("ball", "floor", "pair"),
    [
        ('margin="0.02"', 'margin="0.01" gap="0.3"', ""),
        ('margin="0.02"', 'margin="0.01" priority="1"', ""),
        ('margin="0.02"', 'margin="-0.01"', ""),
        ('margin="0.02"', "", 'margin="0.05"'),
        ('margin="0.02"', "", 'friction="1 1"'),
    ],
)
def test_a_ball_with_a_margin_rests_as_high_as_in_mujoco(ball: str, floor: str, pair: str) -> None:
    """Margins of the two geoms add; a <pair> has its own. A gap changes no force."""
    mujoco = pytest.importorskip("mujoco")
    contact = f'<contact><pair geom1="floor" geom2="ball" {pair}/></contact>' if pair else ""
    bodies = FLOOR.format(floor) + BALL.format(ball, 0.11)
    text = f'<mujoco><option cone="elliptic"/><worldbody>{bodies}</worldbody>{contact}</mujoco>'
    theirs = mujoco.MjModel.from_xml_string(text)
    data, model = mujoco.MjData(theirs), wd.load(text)
    mujoco.mj_step(theirs, data, nstep=1500)
    sim = wd.Simulation(model, 1, dt=0.004, substeps=250, dtype="float64")
    sim.step()
    sim.step()
    assert sim.q[0, 2] == pytest.approx(data.qpos[2], abs=2e-6)
    assert not [line for line in model.warnings if "margin" in line]


def test_without_a_floor_a_geom_has_its_own_friction() -> None:
    """The geom has a condim of 1."""
    alone = ball_of('friction="0.4" condim="1"')
    assert alone is not None and alone.touches and alone.friction == 0.4


LEAST = 1e-4
"""MuJoCo's mjMINIMP: impedances and midpoints are between this number and one minus it."""


@pytest.mark.parametrize(
    ("solimp", "stiffness", "impedance"),
    [
        ("1 1 0", 1e4, 1 - LEAST),
        ("0 0.9 1e3", 1e12, LEAST),
        ("0.5 0 1e9", 1e4, 0.5),
    ],
    ids=["most", "least", "least at depth"],
)
def test_impedances_are_within_mujocos_bounds(
    solimp: str, stiffness: float, impedance: float
) -> None:
    """K d² r = (1 - d) g, where K uses the impedance at depth. Numbers of the file outside the
    bounds are moved to them."""
    contact = GeomContact.of({"solimp": solimp, "solref": f"-{stiffness} -1"})
    at_depth = min(max(contact.solimp[1], LEAST), 1 - LEAST)
    K = stiffness / at_depth**2
    wanted = (1 - impedance) * STANDARD_WEIGHT / (K * impedance**2)
    assert contact.on_ground(0.002).sink == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("midpoint", "width"), [(0.0, 0.05), (1.0, 4e-5)])
def test_a_midpoint_is_within_mujocos_bounds(midpoint: float, width: float) -> None:
    """The curve rises sharply (power 50), so its place shows the bound of the midpoint."""
    power, stiffness = 50, 1e6
    solimp = f"0.1 0.9 {width} {midpoint} {power}"
    contact = GeomContact.of({"solimp": solimp, "solref": f"-{stiffness} -1"})
    sink = contact.on_ground(0.002).sink
    x = sink / width
    rise = (1 - x) if midpoint == 0.0 else x
    assert 0.0 < rise < 1.0
    y = rise**power / (1 - LEAST) ** (power - 1)
    d = 0.1 + (1 - y if midpoint == 0.0 else y) * 0.8
    assert stiffness / 0.81 * d * d * sink == pytest.approx((1 - d) * STANDARD_WEIGHT, rel=1e-6)


def test_a_high_power_of_the_impedance_does_not_divide_by_zero() -> None:
    """The contact has the largest impedance wherever it is deeper than the midpoint."""
    contact = GeomContact.of({"solimp": "0.1 0.9 0.001 0 1000", "solref": "-4000 -60"})
    assert contact.on_ground(0.002).sink == pytest.approx((1 - 0.9) * STANDARD_WEIGHT / 4000)


def test_shapes_that_the_floor_cannot_touch_have_no_contact_points() -> None:
    """contype and conaffinity decide, as in MuJoCo."""
    through = load(FLOOR.format('conaffinity="2"'), BALL.format('contype="1" conaffinity="0"', 1))
    assert len(wd.ContactPoints(through)) == 0 and len(through.links[0].collisions) == 1
    assert len(wd.ContactPoints(load(FLOOR.format(""), BALL.format("", 1)))) == 1


def test_missing_contact_parameters_are_mujocos_defaults() -> None:
    contact = GeomContact.of({"friction": "0.5", "solimp": "0.8 0.9"})
    assert contact.friction == (0.5, 0.005, 0.0001) and contact.condim == 3
    assert contact.solimp == (0.8, 0.9, 0.001, 0.5, 2.0) and contact.solref == (0.02, 1.0)
    with pytest.raises(ValueError, match="could not convert"):
        GeomContact.of({"condim": "three"})


CHAIN = """<body name="a"><joint/><geom size=".1" {0}/><body name="b"><joint/><geom size=".1" {0}/>
<body name="c"><joint/><geom size=".1" {0}/></body></body></body>"""

LONE = '<body><joint/><geom size=".1" contype="{0}" conaffinity="{1}"/></body>'
"""A body on the world, with its masks."""


@pytest.mark.parametrize(
    ("parts", "before", "said"),
    [
        ([BALL.format("", 1)], "", None),
        ([BALL.format("", 1)], '<option density="1.2" viscosity="2e-5"/>', "density and viscosity"),
        ([BALL.format("", 1)], '<option noslip_iterations="3"/>', "noslip_iterations of <option>"),
        ([BALL.format("", 1)], '<option noslip_iterations="0"/>', None),
        ([BALL.format('condim="4"', 1)], "", None),
        ([BALL.format('margin="0.01" gap="0.1"', 1)], "", None),
        ([BALL.format('margin="-0.01"', 1)], "", r"negative margins of geoms \(1\)"),
        ([CHAIN.format('margin="0.01"')], "", "margins of geoms in contacts with pairs="),
        ([BALL.format('solimp=".8 .8 .01"', 1)], "", "the shape of solimp"),
        ([BALL.format("", 1), '<body><joint/><geom size="1" solref=".1 1"/></body>'], "", "solref"),
        ([CHAIN.format("")], "", "contacts between bodies"),
        ([CHAIN.format('conaffinity="0"')], "", None),
        ([CHAIN.format('contype="0"')], "", None),
        ([LONE.format(1, 0), LONE.format(0, 1)], "", "contacts between bodies"),
        ([LONE.format(0, 1), LONE.format(1, 0)], "", "contacts between bodies"),
        ([LONE.format(1, 2), LONE.format(4, 8)], "", None),
        ([CHAIN.format("")], '<contact><exclude body1="a" body2="c"/></contact>', None),
        ([BALL.format("", 1), '<geom type="box" size="1 1 1"/>'], "", "shapes of the world"),
    ],
)
def test_one_remark_lists_everything_that_is_not_simulated(
    parts: list[str], before: str, said: str | None
) -> None:
    """The remark is in `warnings` and in `summary()`. If everything is simulated there is none."""
    model = load(*parts, before=before)
    lines = [line for line in model.warnings if line.startswith("a Simulation leaves out: ")]
    assert len(lines) == (said is not None)
    if said is not None:
        assert re.search(said, lines[0])
        assert "a Simulation leaves out: " in model.summary()
    else:
        assert "leaves out" not in model.summary()


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ('geom1="u" geom2="l"', None),
        ('geom1="u" geom2="floor" solref="0.1 1"', None),
        ('geom1="u" geom2="l" condim="6"', None),
        ('geom1="u" geom2="l" condim="6" friction="1 1 1 1"', r"about their second axis \(1\)"),
        ('geom1="u" geom2="l" condim="4" friction="1 1 1 1"', None),
        ('geom1="u" geom2="l" friction="0.4"', r"along their second axis \(1\)"),
        ('geom1="u" geom2="l" condim="1" friction="0.4"', None),
        ('geom1="u" geom2="l" solref="0.1 1"', r"solref, .* of contact pairs \(1\)"),
        ('geom1="u" geom2="l" margin="0.1"', r"margin and gap of contact pairs \(1\)"),
        ('geom1="u" geom2="floor" solreffriction="0.1 1"', r"solreffriction .* \(1\)"),
        ('geom1="u" geom2="l"/><pair geom1="l" geom2="u"', r"repeated contact pairs \(1\)"),
    ],
)
def test_ignored_attributes_of_a_pair_are_remarked(pair: str, said: str | None) -> None:
    """Contacts between bodies do not have these parts of <pair>."""
    masks = 'size=".1" contype="0" conaffinity="0"'
    bodies = f"""<geom name="floor" type="plane" size="1 1 1"/><body><joint/><geom name="u" {masks}/>
    <body><joint/><geom name="l" {masks}/></body></body>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(
            f"<mujoco><worldbody>{bodies}</worldbody><contact><pair {pair}/></contact></mujoco>"
        )
    told = [line.replace("contacts between bodies without pairs=", "") for line in model.warnings]
    assert bool(re.search("contact pairs", "".join(told))) == (said is not None)
    assert said is None or re.search(said, "".join(told))


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.DEFAULTS == {
        "friction": (1.0, 0.005, 0.0001),
        "condim": (3.0,),
        "priority": (0.0,),
        "solmix": (1.0,),
        "solref": (0.02, 1.0),
        "solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
        "margin": (0.0,),
        "gap": (0.0,),
        "contype": (1.0,),
        "conaffinity": (1.0,),
    }
    assert chosen.FRICTION_OF_PAIR == (1.0, 1.0, 0.005, 0.0001, 0.0001)
    assert chosen.HALVINGS == 60


def test_the_remark_lists_fluids_margins_stiffnesses_and_impedances_in_order() -> None:
    """The stiffnesses are those of single geoms."""
    start = "a Simulation leaves out: "
    two = BALL.format("{}", 1) + BALL.format("{}", 2).replace('"b"', '"c"').replace("ball", "d")

    def remark(option: str, first: str, second: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            geoms = FLOOR.format("") + two.format(first, second)
            text = f"<mujoco><option {option}/><worldbody>{geoms}</worldbody></mujoco>"
            found = [line for line in wd.load(text).warnings if start in line]
        return found[0].partition(start)[2] if found else ""

    touching = "contacts between bodies without pairs="
    of_pairs = "margins of geoms in contacts with pairs="
    cases = {
        ("", "", ""): touching,
        ('density="0" viscosity="0.0"', "", ""): touching,
        ('density="1.2"', "", ""): f"fluid forces (density of <option>), {touching}",
        (
            'density="1" viscosity="2"',
            'margin="0.1"',
            'gap="0.2"',
        ): f"fluid forces (density and viscosity of <option>), {of_pairs}, {touching}",
        ("", 'margin="-0.1"', ""): f"negative margins of geoms (1), {of_pairs}, {touching}",
    }
    for given, wanted in cases.items():
        assert remark(*given) == wanted, given
    assert "solref and solimp of single geoms" in remark("", 'solref="0.05 1"', "")
    both = 'solimp="0.2 0.8 0.01 0.3 3"'
    single = "solref and solimp of single geoms"
    shape = "the shape of solimp, but for its stiffness at rest"
    assert shape in remark("", both, both) and single not in remark("", both, both)


def test_impedances_rise_between_their_bounds() -> None:
    """Both ends of solimp are bounded before the curve is computed, as in MuJoCo."""
    contact = GeomContact.of({"solimp": "0 0.9 1", "solref": "-1e12 -1"})
    sink = contact.on_ground(0.002).sink
    d = LEAST + (0.9 - LEAST) * sink**2 / 0.5
    assert 1e12 / 0.81 * d * d * sink == pytest.approx((1 - d) * STANDARD_WEIGHT, rel=1e-6)


def test_an_impedance_without_width_is_the_mean_of_its_ends() -> None:
    contact = GeomContact.of({"solimp": "0.5 0.9 0", "solref": "-1e4 -1"})
    wanted = (1 - 0.7) * STANDARD_WEIGHT / (1e4 / 0.81 * 0.7**2)
    assert contact.on_ground(0.002).sink == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("solref", "timestep", "said"),
    [("0.02 1", 0.002, True), ("-9 -1", 0.002, False), ("0.02 1", 0.0, False)],
)
def test_only_time_constants_of_a_positive_solref_are_bounded(
    solref: str, timestep: float, said: bool
) -> None:
    """A solref of stiffness and damping has no bound, and refsafe="disable" removes it."""
    softness = GeomContact.of({"solref": solref}).on_ground(timestep).softness
    assert softness is not None and softness.is_bounded is said


@pytest.mark.parametrize(("key", "value"), [("surfacevel", "1 0 0 0 0 0"), ("adhesion", "1")])
def test_surface_velocity_and_adhesion_are_remarked(key: str, value: str) -> None:
    """The attributes of all geoms count, including those of the floor and those from a class."""
    text = """<mujoco><default><geom {}/></default><worldbody><geom type="plane" size="1 1 1" {}/>
    <body><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    written = f'{key}="{value}"'
    said = f"{key} of geoms and contact pairs"
    assert f"{said} (1)" in " ".join(remarks_of(text.format("", written)))
    assert f"{said} (2)" in " ".join(remarks_of(text.format(written, "")))
    assert said not in " ".join(remarks_of(text.format("", f'{key}="0"')))


def test_adhesion_of_pairs_is_remarked() -> None:
    body = '<body><freejoint/><geom name="{}" size="0.1" mass="1"/></body>'
    text = f"""<mujoco><worldbody>{body.format("a")}{body.format("b")}</worldbody><contact>
    <pair geom1="a" geom2="b" adhesion="0.5"/></contact></mujoco>"""
    assert "adhesion of geoms and contact pairs (1)" in " ".join(remarks_of(text))


def test_shapes_of_a_world_that_is_not_a_link_are_remarked() -> None:
    """`wd.ContactPairs` then has no pairs with them. A second body makes the world a link."""
    step = '<geom type="box" size="1 1 1" pos="0 0 -1"/>'
    ball = '<body><freejoint/><geom size="0.1"/></body>'
    text = f"<mujoco><worldbody>{step}{ball}{{}}</worldbody></mujoco>"
    said = "shapes of the world other than the floor"
    alone = f"{said} (the base is free, so no link is the world)"
    assert alone in " ".join(remarks_of(text.format("")))
    assert f"{said} without pairs=" in " ".join(remarks_of(text.format(ball)))


def remarks_of(text: str) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(text).warnings
