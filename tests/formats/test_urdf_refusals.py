"""The URDF reader: what it refuses, and that it either returns a model or raises a ModelError."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from urdf_texts import LIMIT, body, inertia, joint, links, refusal, robot

from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelError, ModelWarning
from warpdyn.robots import load_robot

# Refusals.

AB = links("a", "b")
BAD = {
    "empty robot": ("<robot/>", ["no link", "at least one <link>"]),
    "no links": (robot(joint()), ["no link"]),
    "two roots": (AB, ['"a", "b"', "one root"]),
    "cycle": (
        AB + joint(kind="fixed") + joint("k", "fixed", "b", "a"),
        ["closed loop", "must be a tree"],
    ),
    "cycle beside the root": (
        links("r", "a", "b") + joint(kind="fixed") + joint("k", "fixed", "b", "a"),
        ["closed loop", "must be a tree"],
    ),
    "joint onto itself": (links("r", "a") + joint(child="a"), ["closed loop"]),
    "two parents": (
        links("a", "b", "c")
        + joint()
        + joint("k", parent="a", child="c")
        + joint("l", parent="c", child="b"),
        ['joint "l"', '"b" is already the child of joint "j"', "remove one"],
    ),
    "link twice": (links("a", "a"), ['two links are named "a"', "own name"]),
    "joint twice": (
        links("a", "b", "c") + joint() + joint(child="c"),
        ['two joints are named "j"', "own name"],
    ),
    "link without name": ("<link/>", ["<link> has no name", "write name="]),
    "link with empty name": ('<link name=" "/>', ["<link> has no name"]),
    "joint without name": (AB + joint().replace('name="j"', ""), ["<joint> has no name"]),
    "joint without type": (
        AB + joint().replace('type="revolute"', ""),
        ['joint "j"', "has no type"],
    ),
    "unknown type": (
        AB + joint(kind="screw"),
        ['joint "j"', '"screw" is unknown', "revolute, continuous"],
    ),
    "no parent element": (
        AB + joint().replace('<parent link="a"/>', ""),
        ['joint "j"', "no <parent>"],
    ),
    "no child element": (
        AB + joint().replace('<child link="b"/>', ""),
        ['joint "j"', "no <child>"],
    ),
    "parent without link": (
        AB + joint().replace('<parent link="a"/>', "<parent/>"),
        ['joint "j"', "<parent> has no link"],
    ),
    "parent missing": (
        AB + joint(parent="z"),
        ['joint "j"', 'parent link "z" does not exist', "correct the name"],
    ),
    "child missing": (AB + joint(child="z"), ['joint "j"', 'child link "z" does not exist']),
    "zero axis": (
        AB + joint(inside='<axis xyz="0 0 0"/>'),
        ['joint "j": axis is (0, 0, 0)', "a revolute joint needs a non-zero axis"],
    ),
    "NaN axis": (AB + joint(inside='<axis xyz="0 nan 1"/>'), ['joint "j"', "axis", "finite"]),
    "infinite axis": (
        AB + joint(inside='<axis xyz="0 1e999 1"/>'),
        ['joint "j"', "axis", "finite"],
    ),
    "axis of two numbers": (
        AB + joint(inside='<axis xyz="0 1"/>'),
        ['joint "j"', "3 finite numbers"],
    ),
    "axis without xyz": (AB + joint(inside="<axis/>"), ['joint "j"', "<axis> has no xyz"]),
    "origin not numbers": (
        AB + joint(inside='<origin xyz="0 ${h} 0"/>'),
        ['joint "j"', '"0 ${h} 0"', "3 finite numbers"],
    ),
    "origin with a comma": (
        AB + joint(inside='<origin xyz="0,1 0 0"/>'),
        ['joint "j"', '"0,1 0 0"'],
    ),
    "origin as quaternion": (
        AB + joint(inside='<origin quat_xyzw="0 0 0 1"/>'),
        ['joint "j"', "write the rotation as rpy"],
    ),
    "underscored number": (
        AB + joint(inside='<origin xyz="1_0 0 0"/>'),
        ['joint "j"', '"1_0 0 0"'],
    ),
    "NaN limit": (
        AB + joint(inside='<limit lower="nan"/>'),
        ['joint "j"', "<limit> lower", '"nan"'],
    ),
    "damping not a number": (
        AB + joint(inside='<dynamics damping="x"/>'),
        ['joint "j"', "<dynamics> damping"],
    ),
    "NaN mass": (body('<mass value="nan"/>'), ['link "a"', "<mass> value", "finite number"]),
    "mass beyond all": (body('<mass value="1e10"/>'), ['link "a"', '"1e10"', "beyond 1e+09"]),
    "inertia beyond all": (
        body('<mass value="1"/>' + inertia(1e300, 1, 1)),
        ['link "a"', "<inertia> ixx", "beyond 1e+09"],
    ),
    "joint far away": (
        AB + joint(inside='<origin xyz="0 1e308 0"/>'),
        ['joint "j"', '<origin> xyz is "0 1e308 0"', "beyond 1e+09", "(line 1)"],
    ),
    "angle beyond all": (
        AB + joint(inside='<origin rpy="1e12 0 0"/>'),
        ['joint "j"', "<origin> rpy", "beyond 1e+09"],
    ),
    "negative mass": (
        body('<mass value="-1"/>'),
        ['link "a": mass is -1 kg', "must not be negative"],
    ),
    "mass without value": (body("<mass/>"), ['link "a"', "<mass> has no value"]),
    "mass not a number": (body('<mass value="1kg"/>'), ['link "a"', '"1kg"']),
    "inertia not a number": (
        body('<mass value="1"/><inertia ixx="a" iyy="1" izz="1"/>'),
        ['link "a"', "<inertia> ixx"],
    ),
    "inertia without izz": (
        body('<mass value="1"/><inertia ixx="1" iyy="1"/>'),
        ['link "a"', "<inertia> has no izz"],
    ),
    "mimic of nothing": (
        AB + joint(inside='<mimic joint="k"/>'),
        ['joint "j": it mimics "k"', "remove <mimic>"],
    ),
    "mimic without joint": (AB + joint(inside="<mimic/>"), ['joint "j"', "<mimic> has no joint"]),
    "mimic of itself": (AB + joint(inside='<mimic joint="j"/>'), ['joint "j"', "j -> j"]),
    "mimic in a cycle": (
        links("a", "b", "c")
        + joint(inside='<mimic joint="k"/>')
        + joint("k", parent="b", child="c", inside='<mimic joint="j"/>'),
        ['joint "j"', "j -> k -> j"],
    ),
    "mimic of a fixed joint": (
        links("a", "b", "c")
        + joint(inside='<mimic joint="k"/>')
        + joint("k", "fixed", "b", "c", ""),
        ['joint "j"', '"k", a fixed joint'],
    ),
    "planar joint that mimics": (
        AB + joint(kind="planar", inside='<mimic joint="j"/>'),
        ['joint "j"', "planar joint cannot mimic"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_the_file_the_element_and_the_remedy(case: str, tmp_path: Path) -> None:
    """The reader raises one ModelError, whose message is one line."""
    text, words = BAD[case]
    path = tmp_path / "bad.urdf"
    path.write_text(text if text.startswith("<robot") else robot(text))
    message = refusal(path)
    assert message.startswith("bad.urdf: ") and "\n" not in message
    assert all(word in message for word in words), message


def test_refusals_name_the_line() -> None:
    """A value that is not a number is reported with its line."""
    text = robot("\n", links("a"), "\n", body('\n<mass value="x"/>', "b"))
    assert refusal(text).endswith("(line 4)")


def test_messages_of_the_parser_are_put_on_one_line() -> None:
    """The text ends inside a CDATA section of several lines."""
    said = refusal("<robot name='r'><link name='a'/><![CDATA[\n<inertia\n\nixx='0.1'")
    assert "not well-formed XML" in said and "\n" not in said


def test_a_wrong_quaternion_order_is_refused() -> None:
    """There are two orders, "xyzw" and "wxyz"."""
    with pytest.raises(ModelError, match='quaternion must be "xyzw" or "wxyz"'):
        load_urdf(robot(links("a")), quaternion="xwyz")


# Fuzzing.

SMALL = robot(
    '\n<link name="base"/>\n',
    body(
        '<origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="1.5"/>' + inertia(0.1, 0.1, 0.1), "arm"
    ),
    '\n<link name="tip"><visual><geometry><box size="1 1 1"/></geometry></visual></link>\n<foo:bar a="1"/>',
    joint(
        "j1",
        parent="base",
        child="arm",
        inside=LIMIT + '<origin xyz="0 0 1" rpy="0 1 0"/><axis xyz="0 1 0"/>',
    ),
    joint(
        "j2",
        "prismatic",
        "arm",
        "tip",
        LIMIT + '<mimic joint="j1" multiplier="2"/><dynamics damping="1"/>',
    ),
)
JUNK = """
    nan inf -1 1e999 < > /> " &#0; &lt; &x; <!-- --> <![CDATA[ ]]> <?xml?> <!DOCTYPE <!ENTITY x: xmlns:x='y' x:y='z'
    <link/> <joint/> <robot> </robot> é 1_1 1.2.3 j1 base floating fixed revolute
"""
PIECES = [*JUNK.split(), "", "\0", "\ufffe", "\ud800", "0 0 0"]


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """SMALL with pieces inserted, repeated or removed."""
    text = SMALL
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 30)))
        middle = draw(st.sampled_from(PIECES) | st.just(text[start:stop] * 2) | st.text(max_size=4))
        text = text[:start] + middle + text[stop:]
    return text


ATTRIBUTES = SMALL.split('"')


@st.composite
def revalued_texts(draw: st.DrawFn) -> str:
    """SMALL with other values in its attributes. It is still well-formed."""
    parts = list(ATTRIBUTES)
    for _ in range(draw(st.integers(1, 4))):
        value = draw(
            st.sampled_from(
                [*parts[1::2], "nan", "-inf", "1e999", "", " ", "0 0 0", "1e308 1e308 1e308", "1_1"]
            )
        )
        parts[2 * draw(st.integers(0, len(parts) // 2 - 1)) + 1] = value
    return '"'.join(parts)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    mutated_texts() | revalued_texts() | st.binary(max_size=60).map(lambda junk: b"<" + junk),
    st.booleans(),
)
def test_damaged_text_gives_a_model_or_a_model_error(text: str | bytes, floating: bool) -> None:
    """However the text is damaged, the reader returns a usable model or raises a ModelError."""
    if not text.strip() or (
        isinstance(text, str) and not text.lstrip("\ufeff \t\r\n").startswith("<")
    ):
        return  # a path, not a text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            model = load_urdf(text, floating_base=floating)
        except ModelError as error:
            assert str(error)
            return
    assert np.isfinite([(*link.com, link.mass) for link in model.links]).all() and model.summary()
    assert len(model.q_names) == model.nq == len(model.neutral)


def test_the_parser_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """urdf_parser_py gets only what it knows, so it does not complain on stderr."""
    with pytest.warns(ModelWarning):
        load_urdf(SMALL)
    load_robot("humanoid")
    assert capfd.readouterr() == ("", "")


def test_errors_of_the_parser_become_model_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of urdf_parser_py is raised as a ModelError."""
    from warpdyn.formats import urdf

    monkeypatch.setitem(urdf.TAGS, "limit", urdf.Tag())
    assert "urdf_parser_py refuses it" in refusal(robot(AB, joint()))
