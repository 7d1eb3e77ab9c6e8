"""The SDF reader: what it refuses, and that it either returns a model or raises a ModelError."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sdf_texts import AB, at, axis, frame, joint, link, load, model, refusal, robot, sdf, world

from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.model.names import ModelError, ModelWarning

# Refusals.

TWICE = axis() + axis("0 1 0", tag="axis2")
BAD = {
    "model of nothing": (robot(), ["no link"]),
    "include": (
        robot("<include><uri>model://x</uri></include>", AB),
        ['"model://x"', "outside the file", "gz sdf -p"],
    ),
    "only includes": (
        sdf(world("<include><uri>x</uri></include>")),
        ["no <model> of its own", "<include> is not read"],
    ),
    "link without name": (robot("<link/>"), ["<link> has no name", 'write name="..."']),
    "link with empty name": (robot('<link name=" "/>'), ["<link> has no name"]),
    "reserved name": (robot(link("world")), ['the name "world" is reserved', "choose another"]),
    "link twice": (robot(AB, link("a")), ['two links are named "a" in one model', "own name"]),
    "name twice": (robot(AB, frame("a")), ['a link and a frame are named "a"']),
    "joint without type": (
        robot(AB, '<joint name="j"/>'),
        ['joint "m::j"', 'type "" is unknown', "revolute2, screw"],
    ),
    "unknown type": (robot(AB, joint(kind="piston")), ['type "piston" is unknown']),
    "no parent": (robot(AB, joint(parent="")), ['joint "m::j"', "no <parent>", "name a link"]),
    "no child": (robot(AB, joint(child=" ")), ["no <child>"]),
    "child is the world": (
        robot(AB, joint(child="world")),
        ["its child is the world", "its parent"],
    ),
    "unknown parent": (
        robot(AB, joint(parent="aa")),
        ['its parent is "aa", but model "m" has no such frame', "mean 'a'?"],
    ),
    "unknown child": (robot(AB, joint(child="x::y")), ['its child is "x::y"', "there are a, b, j"]),
    "one end": (robot(AB, joint(child="a")), ['closes a loop between "a" and "a"']),
    "no axis": (robot(AB, joint(inside="")), ["it has no <axis>", "a revolute joint needs one"]),
    "no axis2": (robot(AB, joint(kind="universal")), ["it has no <axis2>"]),
    "zero axis": (robot(AB, joint(inside=axis("0 0 0"))), ["axis is (0, 0, 0)", "non-zero axis"]),
    "NaN axis": (robot(AB, joint(inside=axis("0 nan 1"))), ["<xyz>", "3 finite numbers"]),
    "axis of two numbers": (robot(AB, joint(inside=axis("0 1"))), ["<xyz>", "3 finite numbers"]),
    "axes not perpendicular": (
        robot(AB, joint(kind="universal", inside=axis() + axis("0 1 1", tag="axis2"))),
        ["must be perpendicular"],
    ),
    "axis in nowhere": (robot(AB, joint(inside=axis(expressed_in="q"))), ['expressed_in is "q"']),
    "NaN limit": (
        robot(AB, joint(inside=axis(inside="<limit><lower>nan</lower></limit>"))),
        ["<lower>", "finite"],
    ),
    "endless thread": (
        robot(AB, joint(kind="screw", inside="<thread_pitch>0</thread_pitch>" + axis())),
        ["0 rad/m"],
    ),
    "gear without body": (
        robot(AB, joint(kind="gearbox", inside=TWICE)),
        ["no <gearbox_reference_body>"],
    ),
    "gear of nowhere": (
        robot(
            AB,
            joint(
                kind="gearbox", inside=TWICE + "<gearbox_reference_body>z</gearbox_reference_body>"
            ),
        ),
        ['gearbox_reference_body is "z"'],
    ),
    "mimic of nothing": (
        robot(AB, joint(inside=axis(inside='<mimic joint="k"/>'))),
        ['the joint that it mimics is "k"', "no such joint"],
    ),
    "mimic of itself": (
        robot(AB, joint(inside=axis(inside='<mimic joint="j"/>'))),
        ["in a cycle: j -> j"],
    ),
    "mimic of axis2": (
        robot(AB, joint(inside=axis(inside='<mimic joint="j" axis="axis2"/>'))),
        ['mimics "axis2"', "a joint with one coordinate"],
    ),
    "axis2 mimics": (
        robot(
            AB,
            joint(kind="revolute2", inside=axis() + axis("0 1 0", '<mimic joint="j"/>', "axis2")),
        ),
        ["its <axis2> mimics"],
    ),
    "mass not a number": (
        robot(link("a").replace("2.0", "two")),
        ['link "m::a"', '<mass> is "two"', "a finite number"],
    ),
    "infinite mass": (robot(link("a").replace("2.0", "inf")), ["a finite number"]),
    "negative mass": (robot(link("a", mass=-1)), ["mass is -1 kg"]),
    "mass beyond all": (
        robot(link("a").replace("2.0", "2e9")),
        ['<mass> is "2e9"', "beyond 1e+09"],
    ),
    "far link": (robot(link("a", "1e308 0 0 0 0 0")), ["<pose> is", "beyond 1e+09", "(line "]),
    "underscore": (robot(link("a").replace("2.0", "1_0")), ['"1_0"']),
    "auto inertia": (
        robot(link("a").replace("<inertial>", '<inertial auto="true">')),
        ["computed from shapes", "write <mass>"],
    ),
    "inertia elsewhere": (
        robot(link("a").replace("<pose>0.1", '<pose relative_to="b">0.1'), link("b")),
        ['its pose is given in "b"'],
    ),
    "pose of five": (robot(link("a", "1 2 3 4 5")), ["<pose>", "6 finite numbers"]),
    "pose of seven": (
        robot('<link name="a"><pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose></link>'),
        ["unit length"],
    ),
    "odd rotation": (
        robot('<link name="a"><pose rotation_format="mrp">0 0 0 0 0 0</pose></link>'),
        ['"mrp"', "euler_rpy"],
    ),
    "odd degrees": (
        robot('<link name="a"><pose degrees="yes">0 0 0 0 0 0</pose></link>'),
        ['degrees is "yes"'],
    ),
    "odd static": (robot("<static>maybe</static>", AB), ['static is "maybe"', "true or false"]),
    "pose in nowhere": (robot(link("a", relative_to="q")), ['relative_to is "q"', "there are a"]),
    "pose in a cycle": (
        robot(link("a", relative_to="b"), link("b", relative_to="a")),
        ["in a cycle (", "a -> b -> a"],
    ),
    "pose in itself": (robot(link("a", relative_to="a")), ["in a cycle (a -> a)"]),
    "pose in the world": (robot(link("a", relative_to="world")), ['relative_to is "world"']),
    "pose of a model in its own link": (
        sdf(world(model(at("", "m::a"), link("a")))),
        ["in a cycle (a -> m -> a)"],
    ),
    "attached in a cycle": (
        robot(AB, frame("f", "", "g", "a"), frame("g", "", "f", "a")),
        ["f -> g -> f"],
    ),
    "attached to nothing": (robot(AB, frame("f", "", "z")), ['attached_to is "z"']),
    "no canonical link": (
        sdf(model(AB, frame("f"), more='canonical_link="z"')),
        ['canonical_link is "z"', "no such link"],
    ),
    "frame of a model without links": (
        robot(AB, model(name="i"), frame("f", "", "i")),
        ["it has no link"],
    ),
    "no placement frame": (sdf(model(AB, more='placement_frame="z"')), ['placement_frame is "z"']),
    "kinds cannot mimic": (
        robot(
            AB,
            link("c"),
            joint(kind="ball", inside=axis(inside='<mimic joint="k"/>')),
            joint("k", child="c"),
        ),
        ["a ball joint cannot mimic"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_the_file_the_element_and_the_remedy(case: str, tmp_path: Path) -> None:
    """Each case raises one ModelError, whose message is one line."""
    text, words = BAD[case]
    path = tmp_path / "bad.sdf"
    path.write_text(text)
    # A free root hides no error of poses: hold it where the file puts it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        message = refusal(path, floating_base=False)
    assert message.startswith("bad.sdf: ") and message.count("\n") == 0
    assert all(word in message for word in words), message


def test_refusals_name_the_line() -> None:
    """The message ends with the line of the wrong element."""
    text = robot("\n", link("a"), "\n", link("b").replace("2.0", "x"))
    assert refusal(text).endswith("(line 3)")


@pytest.mark.parametrize("use", ['<!ENTITY e SYSTEM "FILE">', '<!DOCTYPE sdf SYSTEM "FILE">'])
def test_entities_and_dtds_are_not_read(tmp_path: Path, use: str) -> None:
    """A file that an entity or a DTD names is not opened."""
    secret = tmp_path / "secret"
    secret.write_text("<link name='secret'/>")
    head = use.replace("FILE", secret.as_uri())
    text = head if "DOCTYPE" in head else f"<!DOCTYPE sdf [{head}]>"
    message = refusal(text + robot(AB, "&e;" if "ENTITY" in use else ""))
    assert "DOCTYPE" in message and "secret" not in message


def test_deep_nesting_is_refused() -> None:
    """libxml2 stops at 256 levels; less deep models load."""

    def nested_models(count: int) -> str:
        return sdf(
            f"{''.join(f'<model name={chr(34)}m{i}{chr(34)}>' for i in range(count))}{link('a')}{'</model>' * count}"
        )

    assert load(nested_models(200)).nlinks == 1
    assert "not well-formed XML" in refusal(nested_models(400))


def test_a_wrong_quaternion_order_is_refused() -> None:
    """The two orders are those of the URDF reader."""
    with pytest.raises(ModelError, match='quaternion must be "xyzw" or "wxyz"'):
        load_sdf(robot(AB, joint()), quaternion="xwyz")


# Fuzzing.

GEAR = "<gearbox_reference_body>base</gearbox_reference_body>"
SMALL = sdf(
    "\n",
    world(
        model("<static>1</static>", link("plate", "0 0 1 0 0 0"), name="ground"),
        "\n",
        model(
            at("1 0 0 0 0 0.5"),
            link("base"),
            link("arm", "0 0 1 0.1 0 0", relative_to="base"),
            '\n<link name="tip"><visual name="v"><geometry><box><size>1 1 1</size></box></geometry></visual></link>',
            model(link("in", "0 0 0.5 0 0 0"), name="inner"),
            frame("f", "0 1 0 0 0 0", "arm", "j1"),
            joint(
                "j1",
                "revolute",
                "base",
                "arm",
                axis("0 1 0", "<limit><lower>-1</lower></limit>"),
                "0 0 -1 0 0 0",
            ),
            joint(
                "j2",
                "universal",
                "f",
                "tip",
                axis("1 0 0") + axis("0 1 0", tag="axis2", expressed_in="__model__"),
            ),
            joint("j3", "screw", "inner::in", "base", "<thread_pitch>3</thread_pitch>" + axis()),
            model(link("w"), name="wheel"),
            joint("j4", "gearbox", "arm", "wheel::w", GEAR + axis("0 1 0", expressed_in="j1")),
            name="robot",
            more='placement_frame="arm" canonical_link="base"',
        ),
        joint("hold", "fixed", "ground::plate", "robot::inner", ""),
    ),
)
JUNK = """
    nan inf -1 1e999 1e308 < > /> " &#0; &lt; &x; <!-- --> <![CDATA[ ]]> <?xml?> <!DOCTYPE <!ENTITY x:
    xmlns:x='y' x:y='z' <link/> <joint/> <model> </model> <frame/> é 1_1 1.2.3 j1 base arm world __model__ inner::in ::
    fixed ball gearbox mimic
"""
PIECES = [*JUNK.split(), "", "\0", "\ufffe", "\ud800", "0 0 0", "0 0 0 0 0 0"]
VALUES = re.split(r"([<>\"]+)", SMALL)
"""Names, attributes and texts at even places, and what divides them."""


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


@st.composite
def revalued_texts(draw: st.DrawFn) -> str:
    """SMALL with texts and attributes exchanged. Most of the results are well-formed."""
    parts = list(VALUES)
    texts = [k for k in range(2, len(parts) - 2, 2) if not parts[k].startswith(("/", " "))]
    inner = [k for k in texts if parts[k - 1][-1] in '">' and parts[k + 1][0] in '"<']
    for _ in range(draw(st.integers(1, 5))):
        others = [parts[k] for k in inner]
        extra = [
            "nan",
            "-inf",
            "1e999",
            "",
            " ",
            "0 0 0",
            "1e308 1e308 1e308 1e308 1 1",
            "world",
            "__model__",
            "ball",
        ]
        parts[draw(st.sampled_from(inner))] = draw(st.sampled_from([*others, *extra]))
    return "".join(parts)


def test_the_file_for_fuzzing_loads() -> None:
    """If it did not load, fuzzing would find only its first error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert load_sdf(SMALL).joint_names == ("j3", "j1", "j2")


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    mutated_texts() | revalued_texts() | st.binary(max_size=60).map(lambda junk: b"<" + junk),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, "world", "robot"]),
    st.sampled_from(["refuse", "cut"]),
)
def test_damaged_text_gives_a_model_or_a_model_error(
    text: str | bytes, floating: bool | None, name: str | None, loops: str
) -> None:
    """However the text is damaged, the reader returns a usable model or raises a ModelError."""
    if not text.strip() or (
        isinstance(text, str) and not text.lstrip("\ufeff \t\r\n").startswith("<")
    ):
        return  # a path, not a text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            found = load_sdf(text, floating_base=floating, model=name, loops=loops)
        except ModelError as error:
            assert str(error)
            return
    assert np.isfinite([(*link.com, link.mass) for link in found.links]).all() and found.summary()
    assert len(found.q_names) == found.nq == len(found.neutral)
