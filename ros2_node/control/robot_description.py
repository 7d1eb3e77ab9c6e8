"""From a description, or the name of one, to the model that the node computes with."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import warpdyn as wd
from warpdyn import Model, ModelError
from warpdyn.formats.robot_text import RobotText

from .settings import Settings

Result = TypeVar("Result")

LARGEST = 16 * 1024 * 1024
"""Bytes of a description: beyond them it is none [B]. The largest known URDF files have a few MB."""
READING_TIME = 10.0
"""Time in which a file must be read, and a xacro file expanded [s]; a disk that is gone, or a macro
that calls itself, takes for ever."""


def load_model(settings: Settings, text: str = "") -> Model:
    """The model that the parameters, or else the topic's `text`, describe, without its
    payload.

    Raises ValueError (ModelError for a bad description) or OSError with a text for the user.
    """
    if settings.robot_description:
        model = wd.load_urdf(_checked("robot_description", settings.robot_description))
    elif settings.robot_description_file:
        model = _load_file(settings.robot_description_file)
    elif not text.lstrip().startswith("<"):
        what = f"begins with {text.strip()[:40]!r}" if text.strip() else "is empty"
        raise ModelError(f"robot_description {what}: send the text of a URDF file")
    else:
        model = wd.load_urdf(_checked("robot_description", text))
    if not model.joint_names:
        raise ModelError(f"{model.name} has no moving joint: there is no torque to compute")
    return model


def _load_file(file: str) -> Model:
    """Robot of a URDF file, of a xacro file, or bundled."""
    if file in wd.robot_names():
        return wd.load_robot(file, floating_base=False)
    data = _in_time(f"{file}: reading it", lambda: read_description(file))
    if Path(file).suffix == ".xacro":
        return _in_time(f"{file}: expanding it", lambda: wd.load_xacro(file))
    return wd.load_urdf(RobotText(Path(file).name, "URDF", data))


def read_description(file: str) -> bytes:
    """The bytes of a regular file of at most LARGEST; a FIFO or a device is never waited for."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        bundled = ", ".join(wd.robot_names())
        raise ModelError(
            f"{file}: there is no such file; give the path of a URDF or xacro file, or one of "
            f"{bundled}"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(
            f"{file}: cannot be read ({reason}); give the path of a URDF file"
        ) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            folder = stat.S_ISDIR(status.st_mode)
            what = "a directory" if folder else "a pipe, a socket or a device"
            raise ModelError(f"{file}: is {what}; give the path of a URDF file")
        if status.st_size > LARGEST:
            raise ModelError(f"{file}: {_too_large(status.st_size)}")
        with open(handle, "rb", closefd=False) as opened:
            return opened.read(LARGEST)
    finally:
        os.close(handle)


def _checked(name: str, text: str) -> str:
    if len(text) > LARGEST:
        raise ModelError(f"{name}: {_too_large(len(text))}")
    return text


def _too_large(size: int) -> str:
    return (
        f"has {size / 2**20:.0f} MB; a description of more than {LARGEST / 2**20:.0f} MB is not "
        "read: is it a URDF file?"
    )


def _in_time(what: str, work: Callable[[], Result]) -> Result:
    """What `work` returns or raises; ModelError when it takes longer than READING_TIME. Its thread
    is then left to itself."""
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
