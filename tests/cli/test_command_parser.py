"""A misspelled command or option is answered with what it is near to."""

from __future__ import annotations

import pytest

from warpdyn.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["inof", "panda"], "there is no command 'inof'; did you mean info?"),
        (["zzz"], "there is no command 'zzz'; warpdyn --help lists the commands"),
        (["export", "ur5e", "rnea", "--otu", "x.hpp"], "did you mean --out?"),
        (["export", "ur5e", "rnea", "--otu=x.hpp"], "did you mean --out?"),
        (["label", "robot", "log.csv", "--otu", "x"], "did you mean --out?"),
        (["bench", "panda", "--bacth", "4"], "did you mean --batch?"),
        (["check", "panda", "--frmae", "x"], "did you mean --frame?"),
        (["bench", "panda", "--batch", "0"], "--batch: must be a whole number of at least 1, got"),
    ],
)
def test_a_misspelled_name_is_answered_with_a_near_one(arguments, text, capsys):
    """Exit code 2; the last line says what was meant, and above it stands the usage of that command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    *usage, last = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and text in last
    command = arguments[0] if "there is no command" not in text else ""
    assert usage[0].startswith(f"usage: warpdyn {command}")


def test_a_name_that_is_near_to_nothing_gets_no_suggestion(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "panda", "--zzz"])
    assert "did you mean" not in capsys.readouterr().err


def test_the_output_has_a_short_name(tmp_path, capsys):
    """`-o` is `--out`."""
    file = tmp_path / "u.hpp"
    assert main(["export", "ur5e", "rnea", "-o", str(file)]) == 0
    assert "ur5e" in file.read_text() and str(file) in capsys.readouterr().out
