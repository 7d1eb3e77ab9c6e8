"""`warpdyn simulate`: its output, pictures and files, and its messages about robots it cannot
hold."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hopper import HOPPER, PLAN
from module_numbers import module_numbers
from printed import printed_rows

import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.cli.pictures.roll_out import History, Plan
from warpdyn.cli.pictures.simulate import picture, print_results, remarks, show_on_page, upright


def test_a_simulation_prints_draws_and_saves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints a table of the end and the speed, draws a PNG file, and saves arrays that NumPy
    loads."""
    pytest.importorskip("matplotlib")
    picture, saved = tmp_path / "new" / "arms.png", tmp_path / "arms.data"
    words = ["simulate", "double_pendulum", "--envs", "8", "--seconds", "0.3", "--push", "5"]
    assert main([*words, "--png", str(picture), "--save", str(saved)]) == 0
    said = capsys.readouterr().out
    assert "double_pendulum: 8 robots with 0 contact points each for 0.3 s" in said
    assert "joints off target" in said and "steps a second" in said and "ground force" not in said
    assert f"picture: {picture}" in said and f"saved: {saved}" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    arrays = np.load(saved)
    assert arrays["q"].shape == (8, 2) and arrays["errors"].shape == (15, 8)
    assert np.allclose(arrays["times"], 0.02 * np.arange(1, 16))


def test_an_existing_file_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused before any computation, and replaced with --force."""
    saved = tmp_path / "thesis.npz"
    saved.write_text("PRECIOUS")
    words = ["simulate", "double_pendulum", "--envs", "2", "--seconds", "0.1", "--save", str(saved)]
    assert main(words) == 2
    assert f"{saved} exists; --force replaces it" in capsys.readouterr().err
    assert saved.read_text() == "PRECIOUS"
    assert main([*words, "--force"]) == 0
    assert np.load(saved)["q"].shape == (2, 2)
    capsys.readouterr()
    assert main([*words[:-1], str(tmp_path), "--force"]) == 2
    said = capsys.readouterr()
    assert "it is a folder" in said.err and "steps a second" not in said.out


def test_a_robot_file_on_the_ground_has_heights_and_forces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output also says how many robots ended upright. The option sets the number of threads."""
    file = tmp_path / "hopper.urdf"
    file.write_text(HOPPER)
    asked: list[int] = []
    monkeypatch.setattr("warpdyn.cli.pictures.simulate.set_num_threads", asked.append)
    words = ["simulate", str(file), "--base", "floating", "--envs", "3", "--substeps", "2"]
    assert main([*words, "--seconds", "0.4", "--threads", "1"]) == 0
    assert asked == [1]
    said = " ".join(capsys.readouterr().out.split())
    assert "held is the neutral configuration" in said
    assert "height of the base [m]" in said and "ground force / weight" in said
    assert "100.0% ended above half of their height" in said


def test_the_speed_counts_launches_after_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """There are three launches of 4 robots and 5 steps, and two of them take 2 s. A single launch
    has no speed."""
    model, sim = wd.load_robot("cartpole"), SimpleNamespace(points=())
    plan = PLAN._replace(envs=4, substeps=5)
    for launches, has_speed in ((3, True), (1, False)):
        time = 0.025 * np.arange(1, launches + 1)
        print_results(model, plan, sim, History(time, {}, 0, 0.5, 2.0))  # type: ignore[arg-type]
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith("20 steps a second") for line in lines) == has_speed
        assert any("steps a second" in line for line in lines) == has_speed


def test_pairs_without_a_slot_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The report has their number and the remedy. Without such pairs there is none."""
    model, sim = wd.load_robot("cartpole"), SimpleNamespace(points=())
    for left_out in (0, 17):
        history = History(np.array([0.025]), {}, 0, 0.5, 2.0, left_out)
        print_results(model, PLAN, sim, history)  # type: ignore[arg-type]
        said = " ".join(capsys.readouterr().out.split())
        assert ("17 times two shapes were near" in said) == bool(left_out)
        assert ("ContactPairs(model, slots=)" in said) == bool(left_out)


def test_upright_means_above_half_of_the_height_after_a_second() -> None:
    """Only free bases on the ground have the measure."""
    time = np.array([0.5, 1.0, 1.5])
    heights = np.array([[1.0, 1.0], [1.0, 1.0], [0.9, 0.3]])
    stood = History(time, {"heights": heights, "loads": heights}, 0, 0.0, 0.0)
    assert upright(stood) == 0.5
    sinking = np.array([[1.0, 1.0], [0.5, 0.5], [0.375, 0.4375]])
    sank = History(time, {"heights": sinking, "loads": sinking}, 0, 0.0, 0.0)
    assert upright(sank) == 0.5, "half of the median of the first second is 0.375"
    assert upright(History(time, {"heights": heights}, 0, 0.0, 0.0)) is None


def test_missing_shapes_and_drives_are_reported() -> None:
    """No shapes, joints that no drive holds."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>'
    stone = f'<robot name="stone"><link name="a">{body}</link></robot>'
    plan = PLAN._replace(push=3.0)
    bare = list(remarks(wd.load_urdf(stone, floating_base=True), plan))
    assert bare[0].startswith("stone has no collision shapes that touch the ground: it falls")
    assert bare[-1].startswith("pushed is a, every second by 3 N")


MESH = '<collision><geometry><mesh filename="{}"/></geometry></collision>'
"""A shape that the file of a robot names."""


@pytest.mark.parametrize("there", [False, True], ids=["no file", "no reader"])
def test_a_robot_with_unreadable_meshes_is_refused(
    there: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line says what is missing, and nothing is computed: the robot would fall through the
    ground."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    body = f'<inertial><mass value="1"/>{inertia}</inertial>{MESH.format("shell.obj")}'
    file = tmp_path / "stone.urdf"
    file.write_text(f'<robot name="stone"><link name="a">{body}</link></robot>')
    if there:
        (tmp_path / "shell.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
        monkeypatch.setitem(sys.modules, "trimesh", None)
    words = ["simulate", str(file), "--base", "floating", "--envs", "2", "--seconds", "0.1"]
    saved = tmp_path / "arrays.npz"
    assert main([*words, "--save", str(saved)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("warpdyn: error: ") and said.err.count("\n") == 1
    assert "shell.obj" in said.err and "would sink" in said.err
    assert ("pip install '.[meshes]' in warpdyn's folder" in said.err) == there
    assert not said.out and not saved.exists()


def test_without_matplotlib_there_is_no_picture(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says so before any simulation."""
    monkeypatch.setattr("warpdyn.cli.command_line.find_spec", lambda name: None)
    assert main(["simulate", "cartpole", "--png", "out.png"]) == 2
    said = capsys.readouterr()
    assert said.err == "warpdyn: error: pictures need matplotlib: pip install matplotlib\n"
    assert not said.out


SCENE = """<mujoco model="scene"><worldbody>
<body name="red" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
<body name="blue" pos="0 0 .16"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
</worldbody></mujoco>"""
"""Two cubes above each other."""


def test_bodies_of_a_scene_touch_if_they_are_a_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A remark without --pair says that they do not. With it the table has their force. Unknown
    links are named.
    """
    file = tmp_path / "scene.xml"
    file.write_text(SCENE)
    words = ["simulate", str(file), "--envs", "2", "--seconds", "1", "--dt", "0.002"]
    for more, height in (([], 0.05), (["--pair", "re*", "blue"], 0.15)):
        saved = tmp_path / f"{height}.npz"
        assert main([*words, *more, "--save", str(saved)]) == 0
        found, said = np.load(saved), capsys.readouterr().out
        np.testing.assert_allclose(found["q"][:, 9], height, atol=0.01)
        assert ("pass through each other" in said) == (not more)
        assert ("largest pair force" in said) == bool(more)
        if more:  # one of two equal bodies rests on the other
            np.testing.assert_allclose(found["pair_loads"][-1], 0.5, rtol=0.01)
    assert main([*words, "--pair", "red", "green"]) == 2
    assert "has no pair of 'red' and 'green'" in capsys.readouterr().err


def test_a_page_that_cannot_be_shown_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line has the viewer's reason. The requested address and port are passed on."""
    viewer = pytest.importorskip("warpdyn.viewer")
    from warpdyn.cli.command_line import UserError
    from warpdyn.cli.pictures import simulated_motion

    asked: list[object] = []

    def refuse(*values: object, **page: object) -> None:
        asked.append((values, page))
        raise viewer.ViewerError("port 80 is taken")

    monkeypatch.setattr(simulated_motion, "show_motion", refuse)
    args = SimpleNamespace(view=True, host="here", port=80, record=Path("a.html"))
    with pytest.raises(UserError, match=r"^port 80 is taken$"):
        show_on_page(args, "motion", "sim", 2.5)  # type: ignore[arg-type]
    page = {"stays": True, "host": "here", "port": 80}
    assert asked == [(("motion", "sim", 2.5, Path("a.html")), page)]


def draw_figure(
    plan: Plan, measured: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """The figure that `picture` would save."""
    figures: list[Any] = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig",
        lambda self, path, dpi: figures.append((self, path, dpi)),
    )
    time = 0.25 * np.arange(1, 5)
    model = SimpleNamespace(name="hopper")
    history = History(time, measured, 0, 0.0, 1.0)
    picture(model, plan, history, Path("a.png"))  # type: ignore[arg-type]
    ((figure, path, dpi),) = figures
    assert (path, dpi) == (Path("a.png"), 90)
    return figure


def test_each_measurement_has_a_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has bands of all robots and of eight in ten, and the median. Pushes are orange. Residuals
    have a logarithmic scale. The load of a landing does not hide the usual one."""
    pytest.importorskip("matplotlib")
    plan = PLAN._replace(envs=11, push=5.0, seconds=2.0)
    robots = np.tile(np.arange(11.0), (4, 1))
    loads = robots.copy()
    loads[0, 0] = 50.0
    measured = {"heights": robots, "loads": loads, "residuals": 1e-3 + robots, "odd": robots}
    figure = draw_figure(plan, measured, monkeypatch)
    assert figure.get_suptitle() == "11 times hopper, pushed by 5 N where it is orange"
    assert figure.get_size_inches().tolist() == pytest.approx([9.0, 7.3])
    heights, load, residual = figure.axes
    assert [panel.get_ylabel() for panel in figure.axes] == [
        "height of the base\n[m]",
        "ground force / weight",
        "residual / weight",
    ]
    bands = {band.get_label(): band for band in heights.collections}
    for label, low, high, alpha in (("all", 0.0, 10.0, 0.15), ("80 %", 1.0, 9.0, 0.35)):
        points = bands[label].get_paths()[0].vertices
        assert (points[:, 1].min(), points[:, 1].max()) == (low, high)
        assert (points[:, 0].min(), points[:, 0].max()) == (0.25, 1.0)
        assert bands[label].get_alpha() == alpha
    (median,) = heights.get_lines()
    assert median.get_label() == "median" and median.get_ydata().tolist() == [5.0] * 4
    assert [len(panel.patches) for panel in figure.axes] == [2, 2, 2]
    assert np.allclose([p.get_x() for p in heights.patches], [0.5, 1.5])
    assert residual.get_yscale() == "log" and heights.get_yscale() == "linear"
    assert np.allclose(residual.get_ylim(), (1e-6, 10.0)) and load.get_ylim() == (0.0, 3.0)
    assert [panel.get_xlabel() for panel in figure.axes] == ["", "", "time [s]"]
    assert len(heights.get_legend().texts) == 3 and load.get_legend() is None


@pytest.mark.parametrize(("most", "top"), [(0.5, 1.1), (2.0, 2.2), (9.0, 3.0)])
def test_the_axis_of_loads_ends_a_little_above_the_largest(
    most: float, top: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    figure = draw_figure(PLAN, {"loads": np.full((4, 2), most)}, monkeypatch)
    assert figure.get_suptitle() == "3 times hopper" and not figure.axes[0].patches
    assert figure.axes[0].get_ylim() == pytest.approx((0.0, top))


def test_remarks_describe_the_robot_and_its_drives() -> None:
    """Drives, held posture, bodies that pass through each other, and pushes have a line each."""
    ball = wd.ModelBuilder("b").add_link("a").add_link("c", 1.0, (0, 0, 0), np.eye(3))
    ball = ball.add_joint("j", "ball", "a", "c").build()
    drives = "no drives: wd.PD drives single angles and lengths, and this robot has other joints"
    assert list(remarks(ball, PLAN)) == [drives]
    pendulum = wd.load_urdf(HOPPER)
    held = 'held is the neutral configuration: the robot has none named "home"'
    assert list(remarks(pendulum, PLAN)) == [held]
    drawn = pendulum.with_configuration("qpos0", [0.4])
    assert list(remarks(drawn, PLAN)) == ['held is "qpos0": the robot has none named "home"']
    home = pendulum.with_configuration("home", [0.4])
    assert list(remarks(home, PLAN)) == []
    push = "pushed is tail, every second by 2.5 N for 0.2 s in a direction of its own"
    assert list(remarks(home, PLAN._replace(push=2.5))) == [push]
    cube = home.with_object("cube", wd.description.Box(0.1, 0.1, 0.1), mass=1.0)
    through = "bodies pass through each other; --pair names two links that touch"
    assert through in list(remarks(cube, PLAN))
    assert through not in list(remarks(cube, PLAN._replace(pairs=(("cube", "x"),))))


def test_the_table_has_the_values_of_the_last_launch(capsys: pytest.CaptureFixture[str]) -> None:
    """They are minimum, median and maximum. Failures are reported."""
    model, sim = wd.load_robot("cartpole"), SimpleNamespace(points=(1, 2))
    plan = PLAN._replace(envs=3, substeps=5, dt=0.004)
    measured = {"errors": np.array([[9.0, 9.0, 9.0], [0.5, 2.0, 0.25]])}
    print_results(model, plan, sim, History(np.array([0.02, 0.04]), measured, 4, 0.5, 2.0))  # type: ignore[arg-type]
    out = capsys.readouterr().out
    assert printed_rows(out) == [
        ["at the end", "least", "median", "most"],
        ["joints off target [rad, m]", "0.2500", "0.5000", "2.0000"],
    ]
    said = " ".join(out.split())
    assert said.startswith(
        "cartpole: 3 robots with 2 contact points each for 0.04 s, 5 steps of 4 ms a launch, float32, on cpu: "
    )
    assert "7.5 steps a second: all robots together 0.03 times real time" in said
    assert "the first launch took 0.50 s" in said
    assert said.endswith("a state was not finite, and began anew, 4 times")


def test_a_package_missing_for_the_viewer_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All commands with a page do so, for example without viser."""
    monkeypatch.delitem(sys.modules, "warpdyn.cli.pictures.simulated_motion", raising=False)
    monkeypatch.delattr("warpdyn.cli.pictures.simulated_motion", raising=False)
    monkeypatch.setitem(sys.modules, "warpdyn.viewer", None)
    monkeypatch.delattr("warpdyn.viewer", raising=False)
    for words in (["simulate", "cartpole", "--view"], ["view", "cartpole"]):
        assert main(words) == 2
        said = capsys.readouterr()
        assert said.err.startswith("warpdyn: error: ") and said.err.count("\n") == 1
        assert "viewer" in said.err and not said.out


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["pictures.simulate"] == {
        "ENVS": 1024,
        "ON_PAGE": 1,
    }
