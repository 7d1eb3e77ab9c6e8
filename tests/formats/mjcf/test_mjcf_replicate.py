"""MJCF's <replicate>, compared with MuJoCo's bodies by name and pose."""

from __future__ import annotations

import pytest
from lxml import etree
from mjcf_texts import INERTIAL, MUJOCO, load
from mujoco_peer import Peer
from states import error, states

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_replicate
from warpdyn.formats.mjcf import mjcf_replicate as chosen
from warpdyn.formats.mjcf.mjcf_replicate import with_copies
from warpdyn.formats.mjcf.mjcf_values import MjcfValues
from warpdyn.model.names import ModelError

RING = f"""
<mujoco><compiler eulerseq="XYZ"/><worldbody>
<replicate count="{{}}" sep="-" offset="0.1 0.2 0" euler="0 10 30">
  <body name="b" pos="1 0 0"><joint name="j" axis="0 1 0"/>{INERTIAL}<site name="s" pos="0 0 1"/></body>
</replicate>
<body name="z"><joint name="k"/>{INERTIAL}<replicate count="2" offset="1 0 0"><replicate count="2" offset="0 1 0">
  <body name="n"><joint name="l" type="slide"/>{INERTIAL}</body></replicate></replicate></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("count", [1, 10, 11])
def test_copies_equal_mujocos(count: int) -> None:
    """Each copy is moved relative to the one before. A <replicate> may contain another."""
    mujoco = pytest.importorskip("mujoco")
    text = RING.format(count)
    model, there = load(text), mujoco.MjModel.from_xml_string(text)
    assert list(model.joint_names) == [there.joint(i).name for i in range(there.njnt)]
    assert len(model.joint_names) == count + 5
    peer, s = Peer(text, model), states(model, 1)
    q, v = s.q[0], s.v[0]
    for name in (
        *(there.body(i).name for i in range(1, there.nbody)),
        f"s-{0:0{len(str(count))}}",
    ):
        assert error(wd.oracle(wd.fk, model, q, frame=name), peer.pose(q, name)) < MUJOCO
    assert error(wd.oracle(wd.crba, model, q), peer.mass_matrix(q, v)) < MUJOCO


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<replicate/>", 'count is "nan"'),
        ('<replicate count="-1"/>', "it must be a whole number"),
        ('<replicate count="1.5"/>', "it must be a whole number"),
        ('<replicate count="1000000000"><body/></replicate>', "more than 200000 elements"),
        (
            8 * '<replicate count="90">' + "<body/>" + 8 * "</replicate>",
            "more than 200000 elements",
        ),
    ],
)
def test_invalid_replicate_elements_are_refused(text: str, said: str) -> None:
    """Too many copies of copies are refused before they are made."""
    with pytest.raises(ModelError, match=f"<replicate>: .*{said}"):
        load(f"<mujoco><worldbody>{text}</worldbody></mujoco>")


def test_only_named_elements_get_a_number() -> None:
    """The name of a frame does not change."""
    inside = f'<frame name="f"><body><joint/>{INERTIAL}</body></frame>'
    text = f'<mujoco><worldbody><replicate count="2">{inside}</replicate></worldbody></mujoco>'
    plain = f"<mujoco><worldbody>{inside}{inside}</worldbody></mujoco>"
    mujoco = pytest.importorskip("mujoco")
    there = mujoco.MjModel.from_xml_string(text)
    assert not any(there.body(i).name for i in range(1, there.nbody))
    assert load(text).link_names == load(plain.replace(' name="f"', "")).link_names
    assert load(text).joint_names == load(plain.replace(' name="f"', "")).joint_names


def test_messages_on_copies_of_an_included_element_name_its_file() -> None:
    """The copies take the place of the element, in order."""
    text = '<mujoco><worldbody><body name="x"/><replicate count="2" offset="1 0 0"><body name="a"/>'
    text += '</replicate><body name="y"/></worldbody></mujoco>'
    root = etree.fromstring(text)
    (copied,) = root.iter("replicate")
    values = MjcfValues("main.xml", root, {copied: "part.xml"})
    with_copies(values, root)
    names = {body.get("name"): values.line(body) for body in root.iter("body")}
    assert list(names) == ["x", "a0", "a1", "y"]
    assert {n for n, line in names.items() if line == "line 1 of part.xml"} == {"a0", "a1"}
    assert [frame.get("pos") for frame in root.iter("frame")] == ["0.0 0.0 0.0", "1.0 0.0 0.0"]


def test_the_number_of_elements_after_copying_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts those of the file and of all copies, with the copied element itself."""
    text = f'<mujoco><worldbody><replicate count="3"><body><joint/>{INERTIAL}</body></replicate>'
    text += "</worldbody></mujoco>"
    monkeypatch.setattr(mjcf_replicate, "MOST", 6 + 3 * 4)
    assert load(text).nv == 3
    monkeypatch.setattr(mjcf_replicate, "MOST", 6 + 3 * 4 - 1)
    with pytest.raises(
        ModelError, match="the file would have more than 17 elements after its copies"
    ):
        load(text)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 200_000
