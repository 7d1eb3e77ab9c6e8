"""The launch files with the real `launch` and `launch_ros`, if those are installed.

None of our package registries has them. Elsewhere these tests are not collected (conftest.py), and
the stand-in is compared with the recorded processes.
"""

from __future__ import annotations

import json
import signal
import subprocess

import pytest
from harness import Peer
from launch_cases import (
    CASES,
    NODE,
    RECORD,
    USER,
    install,
    launch_command,
    launch_environment,
    real_run,
    user_file,
)
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python


@pytest.mark.parametrize("case", CASES)
def test_the_started_processes_agree_with_the_record(case, tmp_path):
    """An intended change needs a new record from `python tests/ros/launch_cases.py`.

    The stand-in must follow, too.
    """
    started, said = real_run(*CASES[case], tmp_path)
    assert started == json.loads(RECORD.read_text())[case]
    assert ("rviz2 is not installed" in said) == ("rviz2" in case)


def test_a_bad_argument_ends_the_launch_with_its_name(tmp_path):
    with pytest.raises(AssertionError, match=r"torque_scale must lie in 0 .. 1\.5"):
        real_run("gravity_compensation.launch.py", {"torque_scale": "8"}, tmp_path / "one")
    with pytest.raises(AssertionError, match=r"params_file 'no\.yaml' is not a file"):
        real_run("gravity_compensation.launch.py", {"params_file": "no.yaml"}, tmp_path / "two")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({}, 0.5),
        ({"torque_scale": "0.8"}, 0.8),
        ({"torque_scale": "[1,1,1,1,1,0]"}, [1.0] * 5 + [0]),
    ],
    ids=["file", "number", "list"],
)
def test_torque_scale_comes_from_the_file_unless_an_argument_sets_it(
    arguments, expected, tmp_path, context
):
    """The parameter file has `torque_scale: 0.5`, and the value is read over DDS."""
    install(tmp_path / "prefix", NODE)
    user = user_file(tmp_path)
    values = {"params_file": USER, **arguments}
    command = launch_command("gravity_compensation.launch.py", values, user)
    process = subprocess.Popen(command, env=launch_environment(tmp_path))
    try:
        peer = Peer(context)
        answer = peer.call("get_parameters", GetParameters, names=["torque_scale", "ramp_time"])
        scale, ramp = map(parameter_value_to_python, answer.values)
        assert (list(scale) if isinstance(expected, list) else scale) == expected and ramp == 3.0
        peer.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30.0)
