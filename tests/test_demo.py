"""The demo's simulation is correct, and the demo runs on robots of every sort."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from short_timing import short_timing as short_timing

import warpdyn as wd
from examples.demo import demo
from examples.demo.demo import main
from warpdyn.cli.timing import Measurement
from warpdyn.model.poses_and_limits import Limits


def test_gravity_compensation_holds_the_arm_and_without_it_the_arm_falls():
    """The held arm moves by less than 1e-9 rad; the other arm swings by more than 0.5 rad."""
    motion = demo.simulate(wd.load_robot("double_pendulum"))
    assert np.abs(motion.held - motion.held[0]).max() < 1e-9
    assert np.abs(motion.falling - motion.falling[0]).max() > 0.5


def test_the_falling_pendulum_keeps_its_energy():
    """The sum of kinetic and potential energy is constant without stops, friction and torque."""
    model = wd.load_robot("double_pendulum")
    free = replace(model, joints=tuple(replace(j, limits=Limits()) for j in model.joints))
    motion = demo.simulate(free)
    v = np.gradient(motion.falling, motion.time, axis=0)[1:-1]
    q = motion.falling[1:-1]
    kinetic = 0.5 * np.einsum("ei,eij,ej->e", v, wd.crba(free, q), v)
    poses = wd.fk(free, q)
    heights = [
        (poses[:, k] @ [*link.com, 1.0])[:, 2] * link.mass for k, link in enumerate(free.links)
    ]
    potential = 9.81 * np.sum(heights, axis=0)
    total = kinetic + potential
    assert np.ptp(total) < 0.02 * np.ptp(potential)


def test_the_start_is_within_limits_and_has_unit_quaternions():
    """Joints with stops start between them. A quaternion starts as the identity."""
    for name in wd.robot_names():
        model = wd.load_robot(name)
        start, stops = demo.start_of(model), demo.has_stops(model)
        assert (start >= model.position_lower)[stops].all()
        assert (start <= model.position_upper)[stops].all()
        if model.floating_base:
            np.testing.assert_array_equal(start[:7], model.neutral[:7])


def test_a_joint_beyond_its_stop_is_set_back_to_rest():
    """A joint beyond a limit is set back to the limit with zero velocity. The others do not
    change."""
    model = wd.load_robot("panda")
    q, v = np.array([model.neutral, model.neutral]), np.ones((2, model.nv))
    q[1, 0] = model.position_upper[0] + 1.0
    before = q.copy()
    demo.stop_at_limits(model, q, v)
    assert q[1, 0] == model.position_upper[0] and v[1, 0] == 0.0
    v[1, 0], q[1, 0] = 1.0, before[1, 0]
    inside = (before >= model.position_lower) & (before <= model.position_upper)
    assert (v == 1.0)[inside[:, : model.nv]].all() and (q == before)[inside].all()


@pytest.mark.parametrize("arguments", [["double_pendulum"], ["quadruped"]])
def test_the_demo_prints_its_table_and_writes_its_picture(arguments, tmp_path, capsys, monkeypatch):
    """It prints the table of five algorithms, then the path of the picture, which is a PNG file."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "BATCH", 256)
    picture = tmp_path / "arm.png"
    assert main([*arguments, "--output", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "Worst error: relative" in said and f"picture: {picture}" in said
    assert "degrees; with tau = g(q) by" in " ".join(said.split())
    assert said.splitlines()[-2].endswith("degrees")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_demo_takes_the_link_of_its_jacobian(monkeypatch, tmp_path, capsys):
    """--frame is the link of the Jacobian. An unknown link gives one line with near names and exit
    code 2."""
    asked = []

    def refuse_to_measure(model, cases, frame):
        asked.append(frame)
        return [Measurement(case, refusal="not now") for case in cases]

    monkeypatch.setattr(demo, "measure_cases", refuse_to_measure)
    picture = ["--output", str(tmp_path / "p.png")]
    assert main(["panda", "--frame", "panda_link7", *picture]) == 0
    assert asked == ["panda_link7"]
    assert main(["panda", "--frame", "panda_lnk7", *picture]) == 2
    said = capsys.readouterr().err
    assert said.startswith("warpdyn: error: panda has no link named 'panda_lnk7'; did you mean ")
    assert "'panda_link7'" in said and said.count("\n") == 1 and len(asked) == 1


def test_the_demo_explains_why_a_robot_has_no_forward_dynamics(tmp_path, capsys):
    """It prints the timings without aba, writes no picture, and exits with code 0."""
    weightless = tmp_path / "weightless.urdf"
    weightless.write_text(
        "<robot name='w'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main([str(weightless), "--output", str(tmp_path / "w.png")]) == 0
    said = capsys.readouterr().out
    assert "aba is not defined" in said and "no picture" in said
