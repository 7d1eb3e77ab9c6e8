"""Loading any description: formats are distinguished by content, and a format that is not XML can
be registered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mjcf_texts import INERTIAL, body
from sdf_texts import AB, joint, robot
from urdf_texts import links
from urdf_texts import robot as urdf_robot

import warpdyn as wd
from warpdyn.formats.load import load as load_any
from warpdyn.formats.registry import FORMATS, Format
from warpdyn.formats.robot_source import RobotSource
from warpdyn.model import Model
from warpdyn.model.description import Joint, Link
from warpdyn.model.joints import KINDS
from warpdyn.model.names import ModelError


def test_load_recognises_the_format_by_content(tmp_path: Path) -> None:
    """The suffix of the file does not decide the format."""
    path = tmp_path / "robot.xml"
    path.write_text(robot(AB, joint()))
    assert load_any(path).nv == 7 and load_any(path, floating_base=False).nv == 1
    assert load_any('<robot name="r"><link name="a"/></robot>', floating_base=True).nv == 6
    with pytest.raises(Exception, match="the root element is <x>; URDF begins with <robot>"):
        load_any("<x/>")


def test_load_gives_the_same_model_as_the_reader_of_the_format(tmp_path: Path) -> None:
    """wd.load returns the model or raises the error of that reader, for a path, a text and
    bytes."""
    texts = {
        wd.load_urdf: urdf_robot(links("a")),
        wd.load_sdf: robot(AB, joint()),
        wd.load_mjcf: body(INERTIAL),
    }
    for reader, text in texts.items():
        path = tmp_path / "robot.txt"
        path.write_text(text)
        for source in (path, str(path), text, text.encode()):
            assert wd.load(source).key == reader(source).key
    with pytest.raises(ModelError, match=r"^URDF text: there is no link"):
        wd.load("<robot/>")


def test_load_refuses_options_that_the_reader_does_not_have() -> None:
    """An option of another reader is refused whatever its value. An omitted option has the reader's
    default."""
    urdf = '<robot name="r"><link name="a"/></robot>'
    for option, value in (("loops", "cut"), ("model", "r")):
        with pytest.raises(
            TypeError, match=rf"URDF text: load_urdf, .* has no option {option}; leave"
        ):
            wd.load(urdf, **{option: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="floating_bas"):
        wd.load(urdf, floating_bas=True)  # type: ignore[call-arg]
    free = wd.load(urdf, floating_base=True, quaternion="wxyz", base_velocity="mixed")
    assert free.q_names[3].endswith("qw") and free.base_velocity == "local_world_aligned"
    assert not wd.load(urdf).floating_base and wd.load(robot(AB, joint())).floating_base


def load_plain(source: Any, *, floating_base: bool = False) -> Model:
    """Read a robot from JSON: {"links": {name: mass}, "joints": {name: [kind, parent, child]}}."""
    text = RobotSource.of(source, "load_plain", "plain")
    try:
        content = json.loads(text.data)
    except ValueError as error:
        raise ModelError(f"{text.name}: {error}; correct the text") from error
    links = [Link(name, mass) for name, mass in content["links"].items()]
    joints = [Joint(name, KINDS[kind], *ends) for name, (kind, *ends) in content["joints"].items()]
    return Model.assemble("plain", links, joints, source=text.name, floating_base=floating_base)


PLAIN = Format(
    name="plain",
    noun="a plain file",
    module=__name__,
    reader="load_plain",
    recognises=lambda data: data.lstrip().startswith(b"{"),
    suffixes=(".plain",),
)

TEXT = '{"links": {"a": 1, "b": 2}, "joints": {"j": ["continuous", "a", "b"]}}'


@pytest.fixture
def plain() -> Iterator[None]:
    """Register the format for one test."""
    FORMATS.append(PLAIN)
    yield
    FORMATS.remove(PLAIN)


def test_a_registered_format_that_is_not_xml_is_loaded(plain: None, tmp_path: Path) -> None:
    """wd.load recognises it in a text, in bytes and in a path, by its beginning or suffix, and
    passes options on."""
    for source in (TEXT, f"\n {TEXT}", TEXT.encode()):
        assert wd.load(source).joint_names == ("j",)
    named, other = tmp_path / "r.plain", tmp_path / "r.json"
    for path in (named, other):
        path.write_text(TEXT)
        assert wd.load(path, floating_base=True).nv == 7
    named.write_text("cut")
    with pytest.raises(ModelError, match=r"r\.plain: Expecting value"):
        wd.load(named)


def test_messages_name_every_registered_format(plain: None) -> None:
    """The message for a missing file and the one for an unknown root element do. XML formats load
    as before."""
    with pytest.raises(ModelError, match="give the path of a URDF, SDF, MJCF, USD or plain file"):
        wd.load("no/such.file")
    with pytest.raises(ModelError, match="MJCF with <mujoco>; convert it to one of them"):
        wd.load("<x/>")
    assert wd.load(urdf_robot(links("a"))).link_names == ("a",)


def test_an_unregistered_format_is_not_recognised() -> None:
    """wd.load takes a text that begins with a brace for a path."""
    with pytest.raises(ModelError, match="no such file"):
        wd.load(TEXT)
