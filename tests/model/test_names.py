"""Names are looked up, and those of a file cannot control a terminal: no new lines, colours or text
directions."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from hostile_names import hostile_names

import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.model.names import (
    character_number,
    check_names,
    look_up,
    near_names,
    printable,
    spelling_hint,
)

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


def test_unknown_names_are_answered_with_similar_ones() -> None:
    """This is a KeyError. Something that is not a name, or one name for several, is a TypeError."""
    table = {"elbow": 1, "wrist": 2}
    assert look_up(table, "wrist", "joint", "arm") == 2
    with pytest.raises(KeyError, match="arm has no joint named 'elbwo'; did you mean 'elbow'"):
        look_up(table, "elbwo", "joint", "arm")
    with pytest.raises(TypeError, match="give the name of a joint, got 3"):
        look_up(table, 3, "joint", "arm")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="arm has no free body named 'cube'; it has none"):
        look_up({}, "cube", "free body", "arm")
    with pytest.raises(TypeError, match=r'for one name pass \["wrist"\]'):
        check_names("wrist")
    assert check_names(["wrist"]) == ["wrist"]


def test_similar_names_come_first_in_messages() -> None:
    """Names that contain the word come first, those that end with it before others. The robot's
    names follow."""
    table = {"panda_link0": 0, "panda_hand_tcp": 1, "panda_hand": 2}
    known = "it has panda_link0, panda_hand_tcp, panda_hand"
    said = rf"named 'hand'; did you mean 'panda_hand' or 'panda_hand_tcp'\? {known}"
    with pytest.raises(KeyError, match=said):
        look_up(table, "hand", "link", "panda")
    with pytest.raises(KeyError, match=f"named 'wheel'; {known}"):
        look_up(table, "wheel", "link", "panda")
    with pytest.raises(KeyError, match=known):
        look_up(table, "", "link", "panda")


def test_messages_list_at_most_twelve_names() -> None:
    for count in (1, 12, 13, 40):
        table = {f"x{k}": k for k in range(count)}
        known = ", ".join([*list(table)[:12], *(["..."] if count > 12 else [])])
        with pytest.raises(KeyError) as error:
            look_up(table, "?", "link", "arm")
        assert error.value.args == (f"arm has no link named '?'; it has {known}",)


def test_at_most_three_similar_names_are_suggested() -> None:
    """First come names that contain the word, at their end first, then shorter ones, then names of
    similar spelling."""
    names = ["left_hand_tip", "hand_x", "left_hand", "hand", "Hand_l", "hnad", "foot"]
    assert near_names("hand", names) == ["hand", "left_hand", "hand_x"]
    assert near_names("hadn", names) == ["hnad", "hand", "hand_x"]
    assert near_names("HAND_L", names) == ["Hand_l"]
    assert near_names("", names) == [] and near_names("wheel", names) == []


def test_a_hint_names_the_nearest_spelling() -> None:
    """Without a similar name there is no hint."""
    assert (
        spelling_hint("impedence", {"impedance": 1, "gravity": 2}) == "; did you mean 'impedance'?"
    )
    assert spelling_hint("x", ["impedance"]) == ""
