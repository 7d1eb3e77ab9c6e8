"""Runs of the launch files with the real `launch` and `launch_ros`, and the processes they start.

`python tests/ros/launch_cases.py`, where those are installed, writes recorded_launch.json. Tests
compare the stand-in with this record everywhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).parent / "recorded_launch.json"
USER = "user.yaml"
"""Stands for the path of a user's parameter file in the arguments of a case."""
USER_PARAMETERS = {
    "/**": {"ros__parameters": {"robot_description_file": "ur5e", "torque_scale": 0.5}},
    "warpdyn": {"ros__parameters": {"ramp_time": 3.0, "start_enabled": True}},
}
CASES = {
    "warpdyn": ("warpdyn.launch.py", {}),
    "warpdyn, a file": ("warpdyn.launch.py", {"params_file": USER}),
    "warpdyn, a file and arguments": (
        "warpdyn.launch.py",
        {
            "params_file": USER,
            "namespace": "left",
            "mode": "computed_torque",
            "torque_scale": "[1, 0.5]",
            "command_joints": "[a, b]",
            "start_enabled": "false",
            "joint_states": "/all/joint_states",
            "log_level": "debug",
        },
    ),
    "gravity compensation": ("gravity_compensation.launch.py", {}),
    "gravity compensation, a file": ("gravity_compensation.launch.py", {"params_file": USER}),
    "gravity compensation, a file and arguments": (
        "gravity_compensation.launch.py",
        {"params_file": USER, "torque_scale": "0.8", "controller": "arm", "use_sim_time": "true"},
    ),
    "batch": ("batch.launch.py", {}),
    "batch, a source": ("batch.launch.py", {"source": "true", "robots": "16", "device": "cpu"}),
    "demo without a picture": ("demo.launch.py", {"rviz": "false"}),
    "demo where rviz2 is not installed": ("demo.launch.py", {"rviz": "true", "robot": "ur5e"}),
    "walk without a picture": ("walk.launch.py", {"rviz": "false", "policy": "p.onnx"}),
    "teleoperation": ("teleoperation.launch.py", {}),
    "teleoperation, arguments": (
        "teleoperation.launch.py",
        {"feedback": "20.0", "friction": "0.5", "hand": "false"},
    ),
    "view": ("view.launch.py", {}),
    "view, arguments": (
        "view.launch.py",
        {
            "robot": "panda",
            "floating_base": "true",
            "bag": "drive.mcap",
            "port": "0",
            "namespace": "left",
            "joint_states": "/all/joint_states",
        },
    ),
}

RECORDER = """#!{python}
import json, os, pathlib, sys, time
me = pathlib.Path(sys.argv[0]).name
argv = sys.argv[1:]
files = {{x: pathlib.Path(x).read_text() for x in argv if os.path.isfile(x)}}
out = pathlib.Path(os.environ["RECORDS"]) / f"{{os.getpid()}}.json"
out.write_text(json.dumps({{"executable": me, "argv": argv, "files": files}}))
time.sleep(5.0)  # the launch ends with a child that the rest needs: all are to be recorded first
"""
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
arguments = [pair.split(":=") for pair in sys.argv[2:]]
source = PythonLaunchDescriptionSource(sys.argv[1])
service = LaunchService()
include = IncludeLaunchDescription(source, launch_arguments=arguments)
service.include_launch_description(LaunchDescription([include]))
sys.exit(service.run())
"""


def user_file(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / USER
    file.write_text(yaml.safe_dump(USER_PARAMETERS))
    return file


EXECUTABLES = (
    "warpdyn_node",
    "warpdyn_state_source",
    "warpdyn_plant",
    "warpdyn_walker",
    "warpdyn_teleoperation",
    "warpdyn_hand",
    "warpdyn_view",
)
NODE = "#!{python}\nimport sys; from ros2_node import run_node; sys.exit(run_node())\n"


def install(prefix: Path, script: str = RECORDER) -> None:
    """An ament prefix with this repository as share folder. All its executables are this script, by
    default one that records how it is called."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "warpdyn").touch()
    (prefix / "share" / "warpdyn").symlink_to(ROOT)
    programs = prefix / "lib" / "warpdyn"
    programs.mkdir(parents=True)
    for name in EXECUTABLES:
        program = programs / name
        program.write_text(script.format(python=sys.executable))
        program.chmod(0o755)


def launch_command(file: str, arguments: dict[str, str], user: Path) -> list[str]:
    """The command that `ros2 launch warpdyn FILE` runs."""
    pairs = [f"{k}:={user if v == USER else v}" for k, v in arguments.items()]
    return [sys.executable, "-c", LAUNCH, str(ROOT / "launch" / file), *pairs]


def launch_environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    return {
        **os.environ,
        "AMENT_PREFIX_PATH": str(folder / "prefix"),
        "RECORDS": str(folder / "records"),
        "ROS_LOG_DIR": str(folder / "logs"),
        "PYTHONPATH": path,
    }


def real_run(file: str, arguments: dict[str, str], folder: Path) -> tuple[list[dict], str]:
    """The processes that the real launch starts, `in_order`, and its output."""
    install(folder / "prefix")
    user = user_file(folder)
    records = folder / "records"
    records.mkdir()
    run = subprocess.run(
        launch_command(file, arguments, user),
        env=launch_environment(folder),
        capture_output=True,
        text=True,
        timeout=120.0,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    share = str(folder / "prefix" / "share" / "warpdyn")
    calls = [json.loads(out.read_text()) for out in records.iterdir()]
    places = {share: "$SHARE", str(user): USER}
    return in_order(
        summary(call["executable"], call["argv"], call["files"], places) for call in calls
    ), run.stdout + run.stderr


def in_order(summaries: Iterable[dict]) -> list[dict]:
    """The processes in the same order in every run: by executable, name and namespace."""
    return sorted(summaries, key=lambda each: (each["executable"], each["remappings"]))


def summary(
    executable: str, argv: list[str], files: dict[str, str], places: dict[str, str]
) -> dict:
    """A command line in a form in which two runs agree. Parameter files are given by content, those
    of the package and of the user by name, in order."""
    parameters: list = []
    remappings: list[str] = []
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--params-file":
            path = next(words)
            known = next((p for p in places if path.startswith(p)), None)
            parameters.append(
                yaml.full_load(files[path])
                if known is None
                else path.replace(known, places[known], 1)
            )
        elif word == "-r":
            remappings.append(next(words))
        elif word != "--ros-args":
            rest.append(word)
    return {
        "executable": executable,
        "parameters": json.loads(json.dumps(parameters)),
        "remappings": remappings,
        "arguments": rest,
    }


if __name__ == "__main__":
    import tempfile

    found = {}
    for name, (file, arguments) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = real_run(file, arguments, Path(folder))[0]
    RECORD.write_text(json.dumps(found, indent=1) + "\n")
