"""Robot, link, device and files from the command line, or errors if they cannot be used."""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import warp as wp

from ..execution.compile.kernel_cache import start_kernel_cache
from ..execution.compile.warp_start import init_warp
from ..formats.load import load
from ..formats.registry import MJCF, SDF, USD, format_of_data
from ..formats.robot_source import RobotSource, tag_name
from ..formats.xacro import SUFFIX, expand_xacro, load_xacro
from ..model import Model
from ..model.names import ModelError, ModelWarning, printable
from ..robots import load_robot, robot_names


class UserError(Exception):
    """An error in the command line; the message says what to do instead."""


@contextmanager
def user_errors(*kinds: type[Exception]) -> Iterator[None]:
    """A block in which errors of these kinds are the user's: their messages are printed."""
    try:
        yield
    except kinds as error:
        # The text of a KeyError is its message in quotes.
        raise UserError(str(error.args[0] if isinstance(error, KeyError) else error)) from None


def find_modules_here() -> None:
    """Let Python find modules in the current folder, as with `python -m`."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def robot_file(robot: str) -> Path:
    """File of the bundled robot with that name, or else the path itself."""
    bundled = Path(__file__).parents[1] / "robots" / f"{robot}.urdf"
    return bundled if robot in robot_names() else Path(robot)


def is_xacro(robot: str) -> bool:
    """True if a robot of the command line is a xacro file."""
    return Path(robot).suffix == SUFFIX


def peer_file(args: argparse.Namespace) -> Path:
    """The robot's file in a form that other libraries read: a xacro file is expanded into a
    temporary file."""
    if not is_xacro(args.robot):
        return robot_file(args.robot)
    folder = tempfile.mkdtemp(prefix="warpdyn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / Path(args.robot).with_suffix("").with_suffix(".urdf").name
    path.write_bytes(expand_xacro(args.robot, dict(args.xacro_arg)))
    return path


def read_model(args: argparse.Namespace, show_warnings: bool = True) -> Model:
    """The robot of the command line; warnings about its file are printed on stderr."""
    robot = args.robot
    options: dict[str, Any] = {}
    if args.base is not None:
        options["floating_base"] = args.base == "floating"
    expands = is_xacro(robot)
    if args.xacro_arg and not expands:
        raise UserError(f"--xacro-arg is for xacro files (*{SUFFIX}), and {robot} is none")
    options |= {} if expands else _reading_options(args, robot_file(robot))
    # A reader's warning would include the source line that called it; users need only its text.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        if robot in robot_names():
            model = load_robot(robot, **options)
        elif Path(robot).exists() and expands:
            model = load_xacro(robot, mappings=dict(args.xacro_arg), **options)
        elif robot.endswith(".py"):
            raise UserError(
                f"{robot} is a Python file and no robot; a kernel in it is {robot}:NAME"
            )
        elif Path(robot).exists():
            model = load(Path(robot), **options)
        else:
            raise UserError(
                f"there is no file {robot!r}, and no bundled robot of that name: "
                f"{', '.join(robot_names())}"
            )
    for warning in caught if show_warnings else ():
        print(printable(f"warning: {warning.message}", kept="\n"), file=sys.stderr)
    return model


def _reading_options(args: argparse.Namespace, path: Path) -> dict[str, Any]:
    """Options for reading a file in addition to its base: loops are cut, and a part of it is chosen,
    if requested."""
    if args.loops is None and args.part is None:
        return {}
    try:
        text = RobotSource.of(path, "warpdyn", "")
        kind = format_of_data(text.data, text.suffix)
        tag = "" if kind else tag_name(text.xml("<robot>"))
    except ModelError:  # for which `load` has a better message
        return {}
    if args.loops is not None and kind is not USD and tag not in (MJCF.root, SDF.root):
        raise UserError(f"--loops is for SDF, MJCF and USD files, and {path} is none")
    if args.part is not None and kind is not USD and tag != SDF.root:
        raise UserError(f"--model is for SDF and USD files, and {path} is neither")
    asked = {"loops": args.loops, "model": args.part}
    return {name: value for name, value in asked.items() if value is not None}


def refuse_immobile(model: Model) -> Model:
    """The model if it has a moving joint; otherwise raises."""
    if not model.nv:
        raise UserError(f"{model.name} has no moving joint: nothing to compute")
    return model


def find_frame(args: argparse.Namespace, model: Model) -> str | None:
    """Link of the option `--frame`; None without it."""
    try:
        return model.link_names[model.link_index(args.frame)] if args.frame else None
    except KeyError as error:
        raise UserError(error.args[0]) from None


def choose_device(name: str | None) -> str:
    """Alias of the device with that name, or of the best device."""
    start_warp()
    return wp.get_preferred_device().alias if name is None else find_device(name)


def find_device(name: str) -> str:
    """Alias of the device with that name."""
    try:
        return wp.get_device(name).alias
    except Exception:  # Warp raises several types, depending on the error in the name
        known = ", ".join(d.alias for d in wp.get_devices())
        raise UserError(f"there is no device {name!r} here; there is {known}") from None


def start_warp() -> None:
    """Initialise Warp and its cache."""
    start_kernel_cache()
    init_warp()


def check_picture(path: Path) -> None:
    """Raise if a picture cannot be written, before anything is computed for it."""
    if find_spec("matplotlib") is None:
        raise UserError("pictures need matplotlib: pip install matplotlib")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in kinds:
        known = ", ".join(f".{kind}" for kind in sorted(kinds))
        raise UserError(f"cannot draw {path}: its ending must be one of {known}")
    check_file(path)


def check_file(path: Path) -> None:
    """Raise if a file cannot be written; its folder need not exist."""
    existing = next(each for each in (path, *path.absolute().parents) if each.exists())
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder")
    if not os.access(existing, os.W_OK) or (existing != path and not existing.is_dir()):
        raise UserError(f"cannot write {path}: {existing} does not allow it")


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` to make the file, in a folder that need not exist."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write {path}: {error}") from None
