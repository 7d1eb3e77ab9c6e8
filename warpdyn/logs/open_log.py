"""The reader for each kind of log file, and the name of the file that is written for it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ..model.optional_packages import install_extra
from .records import Log, LogError

ENDINGS = {
    ".parquet": "parquet",
    ".npz": "npz",
    ".csv": "csv",
    ".bag": "bag",
    ".mcap": "bag",
    ".db3": "bag",
}
"""Kinds of files by their ending; folders are bags of ROS 2."""

NEEDS = {"parquet": ("Parquet", "pyarrow"), "bag": ("bags", "rosbags")}
"""Packages for kinds that need one in addition to NumPy."""


def kind_of_log(path: Path) -> str | None:
    """The kind of a file; None for a file that cannot be read."""
    kind = ENDINGS.get(path.suffix.lower())
    return "bag" if kind is None and (path / "metadata.yaml").exists() else kind


def output_name(path: Path) -> str:
    """The name of the file with the labels of this one; for a bag it is a Parquet file."""
    if kind_of_log(path) != "bag":
        return path.name
    return f"{path.stem if path.suffix.lower() in ENDINGS else path.name}.parquet"


def open_log(path: Path, topic: str = "/joint_states") -> Log:
    """A file, open for reading. Raises LogError if it cannot be read.

    topic: of a bag's sensor_msgs/JointState messages.
    """
    kind = kind_of_log(path)
    if not path.exists():
        raise LogError("there is no such file")
    if not (path.is_file() or path.is_dir()):
        raise LogError("it is a pipe, a socket or a device; name a file, or the folder of a bag")
    if kind is None:
        raise LogError(f"it is none of {', '.join(ENDINGS)}, and no folder of a bag")
    if path.is_file() and not path.stat().st_size:
        raise LogError("it is empty: it has 0 bytes")
    try:
        module: Any = import_module(f".{kind}_log", __package__)
    except ModuleNotFoundError as error:
        what, package = NEEDS.get(kind, (kind, ""))
        raise LogError(
            f"{what} files need {error.name or package}, which is not installed: "
            f"{install_extra('labels')}"
        ) from None
    log: Log = (
        module.BagLog(path, topic)
        if kind == "bag"
        else getattr(module, f"{kind.capitalize()}Log")(path)
    )
    return log


def read_metadata(path: Path) -> Any:
    """The meaning of the labels of a Parquet file or an archive, as written. Raises an exception of
    any kind if the file is invalid or has none."""
    module: Any = import_module(f".{ENDINGS[path.suffix.lower()]}_log", __package__)
    return module.read_metadata(path)
