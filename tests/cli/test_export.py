"""`warpdyn export`: the file that it writes, and its refusals in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import warpdyn as wd
from warpdyn.cli import export as export_command
from warpdyn.cli.main import main


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_header_may_have_several_functions(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are separate words or separated by commas. A frame follows a colon. A user's kernel is
    allowed."""
    (here / "mine.py").write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef damped(robot, q, v, *, gain=1.0):\n"
        '    """A damper."""\n    return {"tau": -gain * v}\n'
    )
    asked = ["rnea,fk:panda_hand", "crba", "mine.py:damped", "--option", "gain=3.0"]
    assert main(["export", "panda", *asked]) == 0
    said = capsys.readouterr().out
    assert said.startswith("panda.hpp: rnea, fk_panda_hand, crba, damped, each with _batch; ")
    text = (here / "panda.hpp").read_text()
    assert "inline void fk_panda_hand(const number q[8], number pose[16])" in text
    assert "3.0 *" in text or "-3.0 *" in text
    assert main(["export", "panda", "rnea"]) == 2
    assert "panda.hpp exists; --force replaces it" in capsys.readouterr().err
    assert main(["export", "panda", "rnea", "--force", "--float32"]) == 0
    assert "typedef float number;" in (here / "panda.hpp").read_text()


def test_options_need_a_kernel_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    """They had no effect on warpdyn's functions: the header had the Jacobians of all links."""
    assert main(["export", "panda", "jacobian", "--option", "frame=panda_hand"]) == 2
    assert "options of a function follow colons" in capsys.readouterr().err


def test_a_c_header_may_have_another_name(here: Path) -> None:
    """The test covers --c, --namespace and --out."""
    command = ["export", "cartpole", "aba", "--c", "--no-libm", "--namespace", "my cart"]
    assert main([*command, "--out", "cart.h"]) == 0
    assert "static inline void my_cart_aba(" in (here / "cart.h").read_text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["rnee"], "did you mean 'rnea'?"),
        (["fk:nohand"], "did you mean 'panda_hand'?"),
        (["rnea,rnea"], "two functions would be called rnea"),
        (
            ["inverse_kinematics:panda_hand"],
            "it repeats until it is done, so that its time depends",
        ),
        (["point_heights"], "missing 1 required keyword-only argument: 'points'"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    asked: list[str], said: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """No file is written."""
    assert main(["export", "panda", *asked]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not list(here.glob("*.hpp"))


def test_a_python_package_is_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """--python passes on robot, functions, folder, name, precision and --force, and says what to
    import."""
    asked: list[tuple[Any, ...]] = []

    def write_package(model: wd.Model, calls: dict[str, Any], out: Path, **options: Any) -> Path:
        asked.append((model.name, tuple(calls), out, *options.values()))
        if not options["overwrite"]:
            raise FileExistsError("arm exists; pass overwrite=True")
        return out / "arm"

    monkeypatch.setattr(export_command, "export_python", write_package)
    command = ["export", "cartpole", "rnea,aba", "--python", "--namespace", "arm"]
    assert main(command) == 2
    assert "arm exists; --force replaces it" in capsys.readouterr().err
    assert main([*command, "--out", "there", "--float32", "--force"]) == 0
    assert capsys.readouterr().out == "there/arm: import arm; rnea, aba, each with _batch\n"
    assert asked == [
        ("cartpole", ("rnea", "aba"), Path(), "arm", "float64", False),
        ("cartpole", ("rnea", "aba"), Path("there"), "arm", "float32", True),
    ]


def test_contradictory_options_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked, said in (
        ([], "name at least one function, such as rnea"),
        (["rnea", "--joints", "a"], "--joints is for --ros2-control"),
        (["rnea", "--python", "--no-libm"], "--no-libm is not for --python"),
        (["rnea", "--python", "--bounded-loops"], "--bounded-loops is not for --python"),
    ):
        assert main(["export", "cartpole", *asked]) == 2
        assert said in capsys.readouterr().err


def test_a_frame_that_no_kernel_reads_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Jacobians of all links were written. The link of a function follows a colon."""
    (here / "mine.py").write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef damped(robot, q, v):\n    return -v\n\n\n"
        '@wd.kernel\ndef reach(robot, q, *, frame="tip"):\n    return robot.fk(q, frame=frame)\n'
    )
    for functions in ("jacobian", "jacobian:tip", "mine.py:damped", "rnea,mine.py:damped"):
        assert main(["export", "double_pendulum", functions, "--frame", "upper_rod"]) == 2
        assert "the link of a function follows a colon" in capsys.readouterr().err
    assert not list(here.glob("*.hpp"))
    functions = "mine.py:reach,rnea"
    assert main(["export", "double_pendulum", functions, "--frame", "upper_rod"]) == 0
    assert "/// frame = upper_rod\n" in (here / "double_pendulum.hpp").read_text()
