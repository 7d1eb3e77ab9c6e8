"""MJCF: <include> of files in the folder. No other file on the disk is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from mjcf_texts import INERTIAL

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_include
from warpdyn.formats.mjcf import mjcf_include as chosen
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError

LINK = f'<body name="{{}}"><joint name="j_{{}}"/>{INERTIAL}</body>'


@pytest.fixture
def write(tmp_path: Path):
    """A function that writes a file below the folder of main.xml and returns its path."""

    def file(name: str, text: str) -> Path:
        path = tmp_path / "robot" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return file


def link(name: str) -> str:
    return LINK.format(name, name)


def main(*files: str) -> str:
    includes = "".join(f'<include file="{file}"/>' for file in files)
    return f"<mujoco>{includes}</mujoco>"


def test_elements_of_included_files_are_read(write) -> None:
    """They may be sections, children of a body, classes and settings. Paths start from the main
    file's folder, then from that of the including file. The robot is MuJoCo's."""
    path = write(
        "main.xml",
        '<mujoco><include file="parts/settings.xml"/><worldbody>'
        f'<body name="arm" childclass="soft"><include file="parts/inside.xml"/>{link("last")}</body>'
        "</worldbody></mujoco>",
    )
    write(
        "parts/settings.xml",
        '<mujocoinclude><compiler angle="radian"/><include file="classes.xml"/></mujocoinclude>',
    )
    write(
        "parts/classes.xml",
        '<x><default><default class="soft"><joint damping="3" range="-1 1"/></default></default></x>',
    )
    write("parts/inside.xml", f'<x>{INERTIAL}<joint name="first"/><include file="hand.xml"/></x>')
    write("parts/hand.xml", f"<x>{link('nested')}</x>")
    write("hand.xml", f"<x>{link('hand')}</x>")
    model = wd.load(path)
    assert model.joint_names == ("first", "j_hand", "j_last")
    assert model.joint("first").damping == 3 and model.joint("first").limits.upper == 1
    assert wd.load_mjcf(path).key == model.key
    mujoco = pytest.importorskip("mujoco")
    there = mujoco.MjModel.from_xml_path(str(path))
    assert [there.joint(i).name for i in range(there.njnt)] == list(model.joint_names)


def test_the_includes_option_refuses_included_files(write) -> None:
    """includes=False refuses them. A text has no folder, so its includes are refused unless the
    call names one."""
    path = write("main.xml", main("arm.xml"))
    with pytest.raises(ModelError, match=r'main.xml: <include>: "arm.xml": no other file is read'):
        wd.load(path, includes=False)
    with pytest.raises(ModelError, match=r'"arm\.xml": it is looked for next to a file'):
        load_mjcf(main("arm.xml"))
    write("arm.xml", f"<x><worldbody>{link('a')}</worldbody></x>")
    assert load_mjcf(main("arm.xml"), includes=path.parent).nv == 1


def test_another_folder_can_be_trusted(write, tmp_path: Path) -> None:
    """All folders below it are trusted, and no other."""
    path = write("scenes/main.xml", main("../parts/arm.xml"))
    write("parts/arm.xml", f"<x><worldbody>{link('a')}</worldbody></x>")
    with pytest.raises(ModelError, match=r'outside of the folder of main\.xml.*includes="folder"'):
        wd.load(path)
    assert wd.load(path, includes=tmp_path / "robot").joint_names == ("j_a",)
    (tmp_path / "arm.xml").write_text("<x/>")
    path.write_text(main("../../arm.xml"))
    with pytest.raises(ModelError, match="outside of the folder"):
        wd.load(path, includes=tmp_path / "robot")
    with pytest.raises(ValueError, match="True, False or a folder; 'nowhere' is not"):
        wd.load(path, includes="nowhere")


def test_files_outside_the_folder_are_not_read(write, tmp_path: Path) -> None:
    """A path with "..", an absolute path and a link outside are refused. A link inside the folder
    is read."""
    (tmp_path / "secret.xml").write_text(f"<x><worldbody>{link('a')}</worldbody></x>")
    write("inner/arm.xml", f"<x><worldbody>{link('a')}</worldbody></x>")
    path = write("main.xml", "")
    (path.parent / "out.xml").symlink_to(tmp_path / "secret.xml")
    (path.parent / "in.xml").symlink_to(path.parent / "inner" / "arm.xml")
    (path.parent / "folder").symlink_to(tmp_path)
    for file in (
        *("../secret.xml", "inner/../../secret.xml", str(tmp_path / "secret.xml")),
        *("out.xml", "folder/secret.xml"),
    ):
        path.write_text(main(file))
        with pytest.raises(ModelError, match=f'"{file}" is outside of the folder of main.xml'):
            wd.load(path)
    for file in ("in.xml", str(path.parent / "inner" / "arm.xml"), "inner/../inner/arm.xml"):
        path.write_text(main(file))
        assert wd.load(path).joint_names == ("j_a",)


def test_the_folder_may_be_a_symbolic_link(write, tmp_path: Path) -> None:
    """Its files are in the folder under any name of it."""
    write("arm.xml", f"<x><worldbody>{link('a')}</worldbody></x>")
    write("main.xml", main("arm.xml"))
    (tmp_path / "alias").symlink_to(tmp_path / "robot")
    assert wd.load(tmp_path / "alias" / "main.xml").nv == 1


def test_circular_repeated_and_missing_includes_are_refused(write) -> None:
    """The message names the file and the line of the include."""
    path = write("main.xml", main("a.xml"))
    write("a.xml", '<x>\n<include file="sub/b.xml"/></x>')
    write("sub/b.xml", '<x>\n\n<include file="a.xml"/></x>')
    with pytest.raises(
        ModelError,
        match=r"cycle: main.xml -> a.xml -> sub/b.xml -> a.xml \(line 3 of sub/b.xml\)",
    ):
        wd.load(path)
    path.write_text(main("main.xml"))
    with pytest.raises(ModelError, match=r"in a cycle: main\.xml -> main\.xml"):
        wd.load(path)
    write("a.xml", "<x/>")
    path.write_text(main("a.xml", "./a.xml"))
    with pytest.raises(ModelError, match=r'"\./a\.xml" is included twice'):
        wd.load(path)
    for missing in ("none.xml", "sub", "x" * 5000):
        path.write_text(main(missing))
        with pytest.raises(
            ModelError, match=f'there is no file "{missing}"; put it next to main.xml'
        ):
            wd.load(path)
    path.write_text("<mujoco><include/></mujoco>")
    with pytest.raises(ModelError, match="it has no file; write file="):
        wd.load(path)


def test_malformed_included_files_are_refused_by_name(write) -> None:
    """Entities, broken XML, and a file with only an include. Errors in included elements name their
    file."""
    path = write("main.xml", main("a.xml"))
    for text, said in (
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/hostname">]><x>&e;</x>', "entities"),
        ("<x><worldbody>", "of a.xml: not well-formed XML"),
        (
            '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><x>&c;</x>',
            "entities",
        ),
        ('<include file="a.xml"/>', "it is the outermost element"),
    ):
        write("a.xml", text)
        with pytest.raises(ModelError, match=f"main.xml: <include>: .*{said}"):
            wd.load(path)
    write("a.xml", '<x><worldbody>\n<body name="b">\n<joint range="2"/></body></worldbody></x>')
    with pytest.raises(ModelError, match=r'main.xml: .*range is "2".*\(line 3 of a.xml\)'):
        wd.load(path)
    write(
        "a.xml",
        f'<x><worldbody>\n<body>{INERTIAL}<joint springdamper="1 1"/></body></worldbody></x>',
    )
    with pytest.warns(wd.ModelWarning, match=r"its spring and damping \(line 2 of a.xml\)"):
        wd.load(path)


def test_the_number_and_total_size_of_included_files_are_limited(write, monkeypatch) -> None:
    """The limits also end deep chains of includes."""
    path = write("main.xml", main("0.xml"))
    for k in range(200):
        write(f"{k}.xml", f'<x><include file="{k + 1}.xml"/></x>')
    with pytest.raises(ModelError, match="there is too much to read: at most 100 files"):
        wd.load(path)
    path.write_text(main("big.xml"))
    write("big.xml", f"<x>{' ' * 1000}</x>")
    monkeypatch.setattr(mjcf_include, "MOST_BYTES", 500)
    with pytest.raises(ModelError, match="too much to read"):
        wd.load(path)


def test_elements_after_a_million_lines_are_read(write) -> None:
    """The number of lines in a file is not limited."""
    path = write("main.xml", main("a.xml"))
    write("a.xml", f"<x>{10**6 * chr(10)}<worldbody>{link('a')}</worldbody></x>")
    assert wd.load(path).joint_names == ("j_a",)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_FILES == 100
    assert chosen.MOST_BYTES == 67_108_864
