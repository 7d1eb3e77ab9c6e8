"""MJCF: words that this reader does not know, and files that MuJoCo refuses."""

from __future__ import annotations

import re
import warnings

import pytest
from mjcf_texts import load

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf_vocabulary import ATTRIBUTES, CHILDREN

TEXT = """<mujoco>{top}<worldbody><body name="b"{body}><joint name="j"{joint}/>{inner}
<geom name="g" size="0.1"{geom}/><site name="s"/><body name="c" pos="0 0 1"><joint name="k"/>
<geom name="h" size="0.1"/></body></body></worldbody>{end}</mujoco>"""


def text(**parts: str) -> str:
    """A file with these words in its places."""
    return TEXT.format_map(
        dict.fromkeys(("top", "body", "joint", "inner", "geom", "end"), "") | parts
    )


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"joint": ' dampng="3"'}, 'attribute "dampng" of <joint>'),
        ({"geom": ' masss="3"'}, 'attribute "masss" of <geom>'),
        ({"body": ' poss="1 2 3"'}, 'attribute "poss" of <body>'),
        ({"top": '<compiler angel="radian"/>'}, 'attribute "angel" of <compiler>'),
        ({"top": '<option gravty="0 0 0"/>'}, 'attribute "gravty" of <option>'),
        ({"top": '<option><flag passive="disable"/></option>'}, 'attribute "passive" of <flag>'),
        ({"top": "<default><jnt/></default>"}, "element <jnt> of <default>"),
        (
            {"top": '<default><motor ctrlrang="0 1"/></default>'},
            'attribute "ctrlrang" of <motor>',
        ),
        (
            {"end": '<actuator><motor joint="j" kp="3"/></actuator>'},
            'attribute "kp" of <motor>',
        ),
        (
            {"end": '<equality><joint joint1="j" polycoeff="1"/></equality>'},
            'attribute "polycoeff" of <joint>',
        ),
        ({"end": '<keyframe><key qposs="1 2"/></keyframe>'}, 'attribute "qposs" of <key>'),
        ({"end": '<actuators><motor joint="j"/></actuators>'}, "element <actuators> of <mujoco>"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_words_that_are_not_read_are_remarked(parts: dict[str, str], said: str) -> None:
    """A misspelled word would otherwise have no effect and leave no trace."""
    assert [each.partition(" (line")[0] for each in load(text(**parts)).warnings] == [
        f"ignored {said}"
    ]


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"inner": '<geom name="g" size="1"/>'}, 'two geoms are named "g"'),
        ({"inner": '<site name="s"/>'}, 'two sites are named "s"'),
        ({"inner": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' * 2}, "one <inertial>"),
        (
            {
                "inner": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'
            },
            "it has both fullinertia and diaginertia",
        ),
        (
            {"inner": '<inertial pos="0 0 0" mass="1" quat="1 1 0 0" fullinertia="1 1 1 0 0 0"/>'},
            "it has both fullinertia and quat",
        ),
        ({"body": ' mocap="true"'}, "a mocap body must be a child of <worldbody>, and have no"),
        ({"joint": ' solreflimit="1 2 3"'}, "it must be at most 2 numbers"),
        ({"top": '<option cone="eliptic"/>'}, "must be one of pyramidal, elliptic"),
        ({"top": '<option integrator="euler"/>'}, "must be one of Euler, RK4"),
        ({"top": '<default class="a"/><default class="b"/>'}, "the outermost classes are a, b"),
        ({"end": '<contact><exclude body1="b"/></contact>'}, 'body2 is "None", but no body'),
        ({"end": '<contact><exclude body1="b" body2="x"/></contact>'}, 'body2 is "x", but no body'),
        ({"end": '<actuator><motor joint="j" gear="1 2 3 4 5 6 7"/></actuator>'}, "at most 6"),
        ({"end": '<actuator><damper joint="j" kv="1"/></actuator>'}, "a damper needs a ctrlrange"),
        (
            {"end": '<actuator><damper joint="j" ctrlrange="-1 1"/></actuator>'},
            "a damper needs a ctrlrange",
        ),
        ({"end": '<tendon><fixed name="t"/></tendon>'}, "it names no joint"),
        (
            {
                "end": '<tendon><fixed springlength="2 1"><joint joint="j" coef="1"/></fixed></tendon>'
            },
            "springlength must not decrease",
        ),
        (
            {
                "end": '<tendon><fixed springlength="1 2 3"><joint joint="j" coef="1"/></fixed></tendon>'
            },
            "at most 2 numbers",
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_files_that_mujoco_refuses_are_refused(parts: dict[str, str], error: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(text(**parts))
    with pytest.raises(wd.ModelError, match=re.escape(error)):
        load(text(**parts))


def test_a_whole_file_has_no_remark() -> None:
    """Default classes and elements of other kinds keep their words."""
    whole = text(
        top='<visual><map force="1"/></visual><default><joint damping="1"/><camera fovy="40"/></default>'
        '<custom><numeric name="n" data="1"/></custom><asset><texture name="t" builtin="flat" width="8" '
        'height="8" type="2d"/></asset><statistic extent="1"/>',
        inner='<camera name="c" pos="1 1 1"/><light pos="0 0 3"/><frame name="f" euler="1 2 3"/>',
        end='<sensor><jointpos joint="j" cutoff="3"/></sensor><keyframe><key name="k" ctrl="1"/></keyframe>'
        '<actuator><general joint="j" gear="2" group="1"/></actuator>',
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", wd.ModelWarning)
        wd.load(whole)


def test_mujocos_own_words_are_known() -> None:
    """Words of the installed MuJoCo that mean nothing here are listed."""
    mujoco = pytest.importorskip("mujoco")
    schema: dict[str, set[str]] = {}
    above: list[str] = []
    last = ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        found = re.match(r"( *)(\(?[a-z]+\)?[a-z]*)(?: \([!?*R]\))(.*)", line)
        if found:
            tag = "body" if "body" in found[2] and "(" in found[2] else found[2]
            above = [*above[: len(found[1]) // 3], tag]
            last = "/".join(above[-2:])
            schema.setdefault(last, set()).update(found[3].split())
        else:
            schema[last].update(line.split())
    unread: dict[str, set[str]] = {}
    for place, words in schema.items():
        known = ATTRIBUTES.get(place)
        if known is not None or place.startswith(("body/", "actuator/", "default/")):
            known = known or ATTRIBUTES.get(place.rpartition("/")[2])
        if known is not None and words - set(known.split()):
            unread[place] = words - set(known.split())
    more = {"input", "velrange", "ffrange"}
    assert unread == {"actuator/general": more, "default/general": more}
    for parent in ("mujoco", "default", "contact", "keyframe", "option", "fixed"):
        inner = {place.rpartition("/")[2] for place in schema if place.startswith(f"{parent}/")}
        assert inner - set(CHILDREN[parent].split()) <= {"body"}
