"""Contact attributes of geoms and pairs: what MuJoCo refuses is refused, and nothing is cut off."""

from __future__ import annotations

import re

import mujoco
import pytest

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_contact_attributes as checked
from warpdyn.model.names import ModelError

FILE = """<mujoco>{default}<worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="b">
<freejoint/><geom name="ball" size="0.1" {geom}/></body></worldbody>
<contact><pair geom1="floor" geom2="ball" {pair}/></contact></mujoco>"""

OF_BOTH = (
    'friction="1 x"',
    'solref="0.02 1 1"',
    'solimp="0.9 0.95 0.001 0.5 2 1"',
    'margin="0.1 0.1"',
    'gap="x"',
    'condim="2"',
    'condim="5"',
    'condim="0"',
    'condim="3.0"',
    'condim="3 3"',
    'condim="x"',
)
OF_GEOMS = (
    'friction="1 0.1 0.1 0.1"',
    'solmix="1 1"',
    'priority="1.5"',
    'contype="1 2"',
    'contype="2147483648"',
    'conaffinity="one"',
    'group="x"',
    'group="1.0"',
    'group="3000000000"',
)
OF_PAIRS = ('friction="1 1 1 1 1 1"', 'solreffriction="0.02 1 1"')

REFUSED = [
    *(("geom", text) for text in (*OF_BOTH, *OF_GEOMS)),
    *(("pair", text) for text in (*OF_BOTH, *OF_PAIRS)),
]

ACCEPTED = [
    ("geom", 'friction="1 0.1 0.2" solref="0.02 1" solimp="0.9 0.95 0.001 0.5 2" solmix="2"'),
    ("geom", 'condim=" 6 " priority="-3" contype="2147483647" conaffinity="-2147483647"'),
    ("geom", 'friction="" solref="0.01" solimp="0.8 0.9" margin="0.1" gap="-0.1" condim="1"'),
    ("pair", 'friction="1 1 1 1 1" solreffriction="0.02 1" condim="4" margin="0.1" gap="0.1"'),
]


def file_with(place: str, text: str) -> str:
    return FILE.format(**{"default": "", "geom": "", "pair": "", place: text})


@pytest.mark.parametrize(("place", "text"), REFUSED)
def test_attributes_that_mujoco_refuses_are_refused(place: str, text: str) -> None:
    """The message names the element, the attribute and its text. No shape is left out silently."""
    with pytest.raises(ValueError, match=r"attribute|condim"):
        mujoco.MjModel.from_xml_string(file_with(place, text))
    name, value = re.findall(r'(\w+)="(.*)"', text)[0]
    with pytest.raises(ModelError, match=rf'{place}.*: {name} is "{value}"; it'):
        wd.load(file_with(place, text))


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
@pytest.mark.parametrize(("place", "text"), ACCEPTED)
def test_attributes_that_mujoco_accepts_are_read(place: str, text: str) -> None:
    theirs = mujoco.MjModel.from_xml_string(file_with(place, text))
    (shape,) = wd.load(file_with(place, text)).link("b").collisions
    assert shape.touch is not None
    if place == "geom":
        k = theirs.geom("ball").id
        assert shape.touch.friction == pytest.approx(tuple(theirs.geom_friction[k]))
        assert shape.touch.priority == theirs.geom_priority[k]
        assert shape.touch.condim == theirs.geom_condim[k]
        assert shape.touch.kinds == theirs.geom_contype[k]
        assert shape.touch.others == theirs.geom_conaffinity[k]


@pytest.mark.parametrize("value", ["nan", "inf", "1_0"])
@pytest.mark.parametrize("place", ["geom", "pair"])
def test_numbers_are_finite(place: str, value: str) -> None:
    """MuJoCo only warns of NaN."""
    with pytest.raises(ModelError, match=f'friction is "{value}"; it must be at most'):
        wd.load(file_with(place, f'friction="{value}"'))


def test_attributes_of_a_class_are_checked_where_it_is_used() -> None:
    default = '<default><geom friction="1 1 1 1"/></default>'
    with pytest.raises(ModelError, match=r'geom.*: friction is "1 1 1 1"'):
        wd.load(FILE.format(default=default, geom="", pair=""))


def test_documented_numbers() -> None:
    """They are MuJoCo's."""
    assert checked.MOST_NUMBERS == {
        "friction": 3,
        "solref": 2,
        "solreffriction": 2,
        "solimp": 5,
        "solmix": 1,
        "margin": 1,
        "gap": 1,
    }
    assert (checked.FRICTIONS_OF_PAIR, checked.CONDIMS) == (5, (1, 3, 4, 6))
    assert checked.LARGEST == 2147483647
