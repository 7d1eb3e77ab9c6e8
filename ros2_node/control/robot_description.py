"""The node's model, from a description or a name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import TypeVar

from warpdyn.formats.robot_source import RobotSource
from warpdyn.formats.urdf import load_urdf
from warpdyn.formats.xacro import load_xacro
from warpdyn.model import Model
from warpdyn.model.names import ModelError
from warpdyn.model.regular_files import RefusedFileError, read_regular_file, too_large
from warpdyn.robots import load_robot, robot_names

from .settings.node_settings import Settings

Result = TypeVar("Result")

LARGEST = 16 * 1024 * 1024
"""Largest size of a description [B]. The largest known URDF files have a few MB."""
READING_TIME = 10.0
"""Time limit for reading a file, and for expanding a xacro file [s]: a lost disk, or a macro that
calls itself, would never finish."""


def load_model(settings: Settings, text: str = "") -> Model:
    """The model without payload that the parameters describe, or else the topic's `text`.

    Raises ValueError (ModelError for a bad description) or OSError with a text for the user.
    """
    if settings.robot_description:
        model = load_urdf(_check_size("robot_description", settings.robot_description))
    elif settings.robot_description_file:
        model = _load_file(settings.robot_description_file)
    elif not text.lstrip().startswith("<"):
        what = f"begins with {text.strip()[:40]!r}" if text.strip() else "is empty"
        raise ModelError(f"robot_description {what}: send the text of a URDF file")
    else:
        model = load_urdf(_check_size("robot_description", text))
    if not model.joint_names:
        raise ModelError(f"{model.name} has no moving joint: there is no torque to compute")
    return model


def _load_file(file: str) -> Model:
    """The robot of a URDF or xacro file, or a bundled robot."""
    if file in robot_names():
        # A copy: a model that is read again is another one, for which the robot has to stop.
        return copy(load_robot(file, floating_base=False))
    data = _in_time(f"{file}: reading it", lambda: read_description(file))
    if Path(file).suffix == ".xacro":
        return _in_time(f"{file}: expanding it", lambda: load_xacro(file))
    return load_urdf(RobotSource(Path(file).name, "URDF", data))


def read_description(file: str) -> bytes:
    """The bytes of a regular file of at most LARGEST. It never waits for a FIFO or a device."""
    remedy = "give the path of a URDF file"
    try:
        return read_regular_file(file, LARGEST, remedy)
    except FileNotFoundError:
        bundled = ", ".join(robot_names())
        raise ModelError(
            f"{file}: there is no such file; give the path of a URDF or xacro file, or one of "
            f"{bundled}"
        ) from None
    except RefusedFileError as error:
        raise ModelError(f"{file}: {error}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{file}: cannot be read ({reason}); {remedy}") from None


def _check_size(name: str, text: str) -> str:
    if len(text) > LARGEST:
        remedy = "is it the text of a URDF file?"
        raise ModelError(f"{name}: {too_large(len(text), LARGEST, remedy)}")
    return text


def _in_time(what: str, work: Callable[[], Result]) -> Result:
    """The result of `work`, or its exception; ModelError if it takes longer than READING_TIME. Its
    thread then keeps running."""
    done: list[Result] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            done.append(work())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="description reader", daemon=True)
    thread.start()
    thread.join(READING_TIME)
    if failed:
        raise failed[0]
    if not done:
        raise ModelError(f"{what} took more than {READING_TIME:g} s; is its disk there?")
    return done[0]
