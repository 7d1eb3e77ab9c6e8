"""Names in a file cannot control a terminal: no new lines, colours or text directions."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from hostile_names import hostile_names

import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.model.printable import character_number, printable

ODD = "arm\nFAKE LINE: all checks passed\x9b31m\u202egnp.exe\u2028\u2066\x7f"
SHOWN = r"arm\x0aFAKE LINE: all checks passed\x9b31m\u202egnp.exe\u2028\u2066\x7f"


def lines_are_printable(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def model(name: str = ODD) -> wd.Model:
    """A robot whose robot, links and joints have odd names, with a mimic joint and a
    configuration."""
    made = wd.ModelBuilder(name)
    made.add_link(name, mass=-0.0).add_link(f"{name}2", mass=1.0).add_link(f"{name}3", mass=1.0)
    made.add_joint(name, "prismatic", name, f"{name}2", axis=(0, 0, 1))
    made.add_joint(f"{name}2", "prismatic", f"{name}2", f"{name}3", axis=(0, 0, 1), mimic=name)
    return made.build().with_configuration(name, {name: 0.5})


def test_unprintable_characters_are_shown_as_numbers() -> None:
    """Ordinary names of any language do not change."""
    assert printable(ODD) == SHOWN
    for name in ("panda/hand link", "Ärm", "机器人", "m/s² · N·m"):
        assert printable(name) == name
    assert printable("a\nb\r", kept="\n") == "a\nb\\x0d"
    assert all(printable(name).isprintable() for name in hostile_names(300))


def test_an_escaped_number_is_a_valid_python_escape() -> None:
    """It is checked on both sides of each width."""
    for code in (0, 0x1F, 0x7F, 0xFF, 0x100, 0x2028, 0xFFFF, 0x10000, 0x10FFFF):
        assert ast.literal_eval(f"'{character_number(chr(code))}'") == chr(code)


def test_a_summary_has_one_line_for_each_link() -> None:
    """The names do not matter. Those of the model do not change, so links are found by them."""
    text = model().summary()
    plain = model("arm").summary()
    assert lines_are_printable(text) and SHOWN in text
    assert not any(line.startswith("FAKE") for line in text.split("\n"))
    assert len(model().links) == 3 and model().name == ODD
    assert text.count("─") == plain.count("─")


def xml(text: str) -> str:
    return "".join(f"&#{ord(x)};" for x in text)


def test_errors_and_warnings_are_printable(tmp_path: Path) -> None:
    """A refusal is one line and each warning is one line for a description with odd names."""
    odd, file = xml(ODD), tmp_path / "odd.urdf"
    file.write_text(f'<robot name="{odd}"><link name="{odd}"/><link name="{odd}"/></robot>')
    with pytest.raises(wd.ModelError) as refused:
        wd.load(file)
    assert str(refused.value).isprintable() and SHOWN in str(refused.value)
    inertia = '<inertia ixx="-1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><mass value="1"/>{inertia}</inertial>'
    file.write_text(f'<robot name="{odd}"><link name="{odd}">{inertial}</link></robot>')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wd.load(file)
    (said,) = [str(each.message) for each in caught]
    assert lines_are_printable(said) and SHOWN in said


def test_commands_print_escaped_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`warpdyn info`, and its refusal of a file by name."""
    odd, file = xml(ODD), tmp_path / "odd.urdf"
    joint = (
        f'<joint name="{odd}" type="continuous"><parent link="{odd}"/><child link="tip"/></joint>'
    )
    file.write_text(f'<robot name="{odd}"><link name="{odd}"/><link name="tip"/>{joint}</robot>')
    assert main(["info", str(file)]) == 0
    shown = capsys.readouterr()
    assert lines_are_printable(shown.out) and lines_are_printable(shown.err)
    assert r"\u202egnp.exe" in shown.out and "\nFAKE" not in shown.out
    assert main(["info", str(tmp_path / "no\x1b[31m\nFAKE")]) == 2
    assert lines_are_printable(capsys.readouterr().err)
