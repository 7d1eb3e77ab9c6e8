"""Clips of motions: joint positions and the pose of the base over time, from CSV and NPZ files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...functions.manifold import difference, interpolate
from ...model import Model
from ...model.coordinate_ranges import continue_angles, may_wrap
from ...model.regular_files import RefusedFileError, read_regular_file
from ..task import TaskError

TIME = "time"
"""Name of a CSV file's column with the times of the frames [s]."""

PLACE = ("base_x", "base_y", "base_z")
TURN = ("base_qx", "base_qy", "base_qz", "base_qw")
"""Names of a CSV file's columns with the base's position [m] and quaternion."""

ARRAYS = ("joint_names", "rate", "joint_positions", "base_position", "base_quaternion")
"""Names of an NPZ file's arrays; a robot with a fixed base has only the first three."""

LARGEST = 256 * 2**20
"""Largest size of a file in bytes, and of its arrays."""

UNIT = 1e-2
"""Largest difference of a quaternion's length from 1."""

BEYOND = 1e-3
"""Largest distance beyond a joint's limits [rad, m]."""

UNEVEN = 0.1
"""Largest difference of a step in time from the mean, as a share of it."""

EVEN = 1e-3
"""Largest distance of frames from even times that is round-off of written numbers, as a share of a
step."""

REMEDY = "name a CSV or NPZ file of a motion"


@dataclass(frozen=True)
class MotionClip:
    """A motion of a robot, frame by frame at a constant rate.

    rate: frames per second. joint_names: of the columns of joint_positions (frames, joints)
    [rad, m]. base_position (frames, 3) [m] and base_quaternion (frames, 4), x, y, z, w: the pose of
    the base in the world; None for a robot with a fixed base.
    """

    rate: float
    joint_names: tuple[str, ...]
    joint_positions: np.ndarray
    base_position: np.ndarray | None = None
    base_quaternion: np.ndarray | None = None
    name: str = "clip"
    """Name in messages."""

    def __post_init__(self) -> None:
        frames = len(self.joint_positions)
        wanted: dict[str, tuple[int, ...]] = {"joint_positions": (frames, len(self.joint_names))}
        if (self.base_position is None) != (self.base_quaternion is None):
            raise self._error("needs both base_position and base_quaternion, or none of them")
        if self.base_position is not None:
            wanted |= {"base_position": (frames, 3), "base_quaternion": (frames, 4)}
        for name, shape in wanted.items():
            x = np.asarray(getattr(self, name), float)
            object.__setattr__(self, name, x)
            if x.shape != shape:
                raise self._error(f"has {name} of shape {x.shape} instead of {shape}")
            if not np.isfinite(x).all():
                frame = int(np.argwhere(~np.isfinite(x))[0, 0])
                raise self._error(f"has a number in {name} that is not finite, in frame {frame}")
        # A motion has a velocity in each frame, from the frames before and after it.
        if frames < 3:
            raise self._error(f"has {frames} frames; a motion needs 3 or more")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise self._error(f"has a rate of {self.rate} frames per second; it must be above 0")
        if twice := sorted({n for n in self.joint_names if self.joint_names.count(n) > 1}):
            raise self._error(f"names {', '.join(twice)} more than once")
        if self.base_quaternion is not None:
            sizes = np.linalg.norm(self.base_quaternion, axis=1)
            if np.any(np.abs(sizes - 1.0) > UNIT):
                frame = int(np.argmax(np.abs(sizes - 1.0) > UNIT))
                raise self._error(
                    f"has a quaternion of length {sizes[frame]:.3g} in frame {frame}; quaternions are "
                    "x, y, z, w of length 1"
                )
            object.__setattr__(self, "base_quaternion", self.base_quaternion / sizes[:, None])

    @property
    def seconds(self) -> float:
        """Time from the first frame to the last one [s]."""
        return (len(self.joint_positions) - 1) / self.rate

    @classmethod
    def read(cls, path: str | Path) -> MotionClip:
        """A clip from a file, CSV or NPZ by its ending.

        CSV: a header, then one row for each frame. Columns, in any order: `time` [s]; `base_x`,
        `base_y`, `base_z` [m]; `base_qx`, `base_qy`, `base_qz`, `base_qw`; and one with the name of
        each joint [rad, m]. Steps in time may differ from their mean by a tenth: frames at even
        times are interpolated. NPZ: arrays `joint_names` (joints,), `rate` (), `joint_positions`
        (frames, joints), `base_position` (frames, 3) and `base_quaternion` (frames, 4), x, y, z, w.
        Without the base's columns or arrays the base is fixed.

        TaskError: the file cannot be read, lacks a part, or has one with another name.
        """
        path = Path(path)
        try:
            data = read_regular_file(path, LARGEST, REMEDY)
        except FileNotFoundError:
            raise TaskError(f"{path}: no such motion file") from None
        except RefusedFileError as error:
            raise TaskError(f"{path} {error}") from None
        except OSError as error:
            raise TaskError(f"{path} cannot be read: {error.strerror}") from None
        if path.suffix.lower() == ".npz":
            return cls(name=str(path), **_from_npz(path, data))
        if path.suffix.lower() == ".csv":
            return cls(name=str(path), **_from_csv(path, data))
        raise TaskError(f"{path}: motions are CSV or NPZ files, by their ending")

    def write(self, path: str | Path) -> None:
        """Write the clip to a file, CSV or NPZ by its ending. NPZ has float32 numbers."""
        path, based = Path(path), self.base_position is not None
        if path.suffix.lower() == ".npz":
            arrays: dict[str, Any] = {
                "joint_names": np.array(self.joint_names),
                "rate": np.float64(self.rate),
                "joint_positions": self.joint_positions.astype(np.float32),
            }
            for name in ARRAYS[3:] if based else ():
                arrays[name] = getattr(self, name).astype(np.float32)
            np.savez_compressed(path, **arrays)
        elif path.suffix.lower() == ".csv":
            times = np.arange(len(self.joint_positions)) / self.rate
            parts: list[Any] = [times, self.joint_positions]
            if based:
                parts[1:1] = [self.base_position, self.base_quaternion]
            rows = np.column_stack(parts)
            names = [TIME, *((*PLACE, *TURN) if based else ()), *self.joint_names]
            np.savetxt(path, rows, fmt="%.6f", delimiter=",", header=",".join(names), comments="")
        else:
            raise TaskError(f"{path}: motions are CSV or NPZ files, by their ending")

    def configurations(self, model: Model) -> np.ndarray:
        """Configurations of a robot, frame by frame (frames, nq).

        An angle without limits that wraps, from 3.1 to -3.1, continues beyond half a turn.

        TaskError: the clip lacks a joint of the robot or has another one, has a base where the
        robot has none, leaves the limits of a joint, or turns one with limits by more than half a
        turn from a frame to the next.
        """
        _check_conventions(model)
        mine, theirs = list(self.joint_names), [str(n) for n in model.joint_names]
        if missing := [n for n in theirs if n not in mine]:
            raise self._error(f"lacks the joint {missing[0]} of {model.name}{_more(missing)}")
        if unknown := [n for n in mine if n not in theirs]:
            raise self._error(
                f"has the joint {unknown[0]}, which {model.name} lacks{_more(unknown)}"
            )
        if model.floating_base and self.base_position is None:
            raise self._error(f"has no pose of the base, which {model.name} needs")
        if not model.floating_base and self.base_position is not None:
            raise self._error(f"has a pose of the base, but the base of {model.name} is fixed")
        # The columns are put into the robot's order.
        q = np.zeros((len(self.joint_positions), model.nq))
        if self.base_position is not None and self.base_quaternion is not None:
            q[:, :3], q[:, 3:7] = self.base_position, self.base_quaternion
        columns = model.joint_position_columns
        q[:, columns] = self.joint_positions[:, [mine.index(n) for n in theirs]]
        lower, upper = model.position_lower[columns], model.position_upper[columns]
        beyond = np.maximum(q[:, columns] - upper, lower - q[:, columns])
        if np.any(beyond > BEYOND):
            frame, joint = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            raise self._error(
                f"has {theirs[joint]} at {q[frame, columns[joint]]:.4g} in frame {frame}; its limits "
                f"are {lower[joint]:.4g} to {upper[joint]:.4g}"
            )
        q = continue_angles(model, q)
        for name, column, *limits in zip(theirs, columns, lower, upper, strict=True):
            if model.joint(name).kind.turns and np.isfinite(limits).any():
                self._refuse_jumps(name, q[:, column])
        return q

    def _refuse_jumps(self, name: str, angle: np.ndarray) -> None:
        """Raise for an angle (frames,) that moves by more than half a turn in a frame."""
        steps = np.diff(angle)
        if np.any(np.abs(steps) > np.pi):
            frame = int(np.argmax(np.abs(steps) > np.pi))
            raise self._error(
                f"turns {name} by {steps[frame]:.4g} rad from frame {frame} to frame {frame + 1}, "
                "more than half a turn; write angles within its limits that do not jump"
            )

    def _error(self, what: str) -> TaskError:
        return TaskError(f"{self.name} {what}")


def velocities_of(model: Model, q: np.ndarray, rate: float, *, closed: bool = False) -> np.ndarray:
    """Velocities of a motion (frames, nv), in the model's coordinates [m/s, rad/s].

    q: (frames, nq). rate: frames per second. Differences of both neighbours on the manifold
    (`wd.difference`), exact for motions of constant velocity; of one neighbour at both ends, unless
    the motion is `closed`: then the velocities at both ends are equal.
    """
    steps = np.asarray(difference(model, q[:-1], q[1:])) * rate
    middle = 0.5 * (steps[:-1] + steps[1:])
    first, last = steps[:1], steps[-1:]
    if closed:
        first = last = 0.5 * (first + last)
    return np.concatenate([first, middle, last])


def at_rate(
    model: Model, q: np.ndarray, v: np.ndarray, rate: float, wanted: float
) -> tuple[np.ndarray, np.ndarray]:
    """A motion at another rate: configurations between two frames at constant velocity
    (`wd.interpolate`), velocities by linear interpolation.

    The last frame is at or before the end of the motion.
    """
    count = int(np.floor((len(q) - 1) / rate * wanted + 1e-6)) + 1
    at = np.minimum(np.arange(count) * rate / wanted, len(q) - 1)
    k = np.minimum(at.astype(int), len(q) - 2)
    share = at - k
    between = np.asarray(interpolate(model, q[k], q[k + 1], share))
    return between, v[k] + share[:, None] * (v[k + 1] - v[k])


def _from_npz(path: Path, data: bytes) -> dict[str, Any]:
    """The arrays of an NPZ file. Objects that would run code are refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(each.file_size for each in packed.infolist())
        if size > LARGEST:
            raise TaskError(
                f"{path} unpacks to {size / 2**20:.0f} MiB; the limit is {LARGEST >> 20}"
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except TaskError:
        raise
    except (ValueError, OSError, zipfile.BadZipFile, KeyError) as error:
        raise TaskError(f"{path} is not an NPZ file of a motion: {error}") from None
    _check_names(path, list(found), ARRAYS[:3], ARRAYS[3:], "array")
    try:
        names = tuple(str(n) for n in np.ravel(found.pop("joint_names")))
        rate = float(found.pop("rate"))
        return {"joint_names": names, "rate": rate} | {
            name: np.asarray(x, float) for name, x in found.items()
        }
    except (ValueError, TypeError) as error:
        raise TaskError(f"{path} is not an NPZ file of a motion: {error}") from None


def _from_csv(path: Path, data: bytes) -> dict[str, Any]:
    try:
        lines = data.decode().splitlines()
        names = [n.strip() for n in lines[0].split(",")] if lines else []
        rows = np.array([[float(x) for x in line.split(",")] for line in lines[1:] if line.strip()])
    except ValueError as error:
        raise TaskError(f"{path} is not a CSV file of a motion: {error}") from None
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise TaskError(f"{path} must have {len(names)} numbers in each row, as many as names")
    columns = dict(zip(names, rows.T, strict=True))
    if len(columns) < len(names):
        raise TaskError(f"{path} names a column twice")
    base = (*PLACE, *TURN)
    has_base = any(n in columns for n in base)
    _check_names(path, names, (TIME, *(base if has_base else ())), names, "column")
    # A clip has one rate: the mean one, at whose times frames are interpolated.
    times = columns.pop(TIME)
    steps = np.diff(times)
    if len(steps) < 2 or not np.all(np.isfinite(times)):
        raise TaskError(f"{path} needs 3 or more frames with finite times")
    step = (times[-1] - times[0]) / len(steps)
    if not step > 0.0 or np.any(np.abs(steps - step) > UNEVEN * step):
        frame = int(np.argmax(np.abs(steps - step)))
        raise TaskError(
            f"{path}: frames must be evenly spaced in time; frame {frame + 1} comes {steps[frame]:.4g} "
            f"s after the one before, and the mean is {step:.4g} s"
        )
    found: dict[str, Any] = {"rate": 1.0 / step}
    if has_base:
        found["base_position"] = np.stack([columns.pop(n) for n in PLACE], 1)
        found["base_quaternion"] = np.stack([columns.pop(n) for n in TURN], 1)
    positions = np.stack([*columns.values()], 1) if columns else np.zeros((len(times), 0))
    found |= {"joint_names": tuple(columns), "joint_positions": positions}
    return _at_even_times(path, times, found)


def _at_even_times(path: Path, times: np.ndarray, parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a motion at as many evenly spaced times: positions on lines between frames,
    rotations at constant angular velocity. TaskError: an angle that wraps, as there is no line."""
    even = np.linspace(times[0], times[-1], len(times))
    if np.all(np.abs(times - even) <= EVEN / parts["rate"]):
        return parts
    for name, x in zip(parts["joint_names"], parts["joint_positions"].T, strict=True):
        if may_wrap(x):
            raise TaskError(
                f"{path}: {name} jumps by more than half a turn from a frame to the next, as an "
                "angle that wraps, and the frames are at uneven times; write even times, or angles "
                "that do not wrap (np.unwrap)"
            )
    k = np.clip(np.searchsorted(times, even, side="right") - 1, 0, len(times) - 2)
    share = ((even - times[k]) / (times[k + 1] - times[k]))[:, None]
    found = dict(parts)
    for name in ("joint_positions", "base_position"):
        if name in parts:
            x = parts[name]
            found[name] = x[k] + share * (x[k + 1] - x[k])
    if "base_quaternion" in parts:
        x = parts["base_quaternion"]
        found["base_quaternion"] = _between_rotations(x[k], x[k + 1], share)
    return found


def _between_rotations(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Quaternions on the shorter arcs between two, (frames, 4); share: (frames, 1)."""
    cosine = np.sum(first * second, 1, keepdims=True)
    second = np.where(cosine < 0.0, -second, second)
    lengths = (np.linalg.norm(x, axis=1, keepdims=True) for x in (first - second, first + second))
    angle = 2.0 * np.arctan2(*lengths)
    # sin(s a) / sin(a), and its limit s for equal rotations
    size = np.maximum(np.sin(angle), 1e-300)
    begin, end = (np.where(angle < 1e-6, s, np.sin(s * angle) / size) for s in (1.0 - share, share))
    return begin * first + end * second


def _check_names(
    path: Path, names: Sequence[str], needed: Sequence[str], allowed: Sequence[str], what: str
) -> None:
    """Raise for a part that is missing, and for one with another name."""
    if missing := [n for n in needed if n not in names]:
        raise TaskError(f"{path} has no {what} {missing[0]}{_more(missing)}")
    if unknown := [n for n in names if n not in (*needed, *allowed)]:
        raise TaskError(
            f"{path} has the {what} {unknown[0]}{_more(unknown)}; a motion has {', '.join(ARRAYS)}"
        )


def _check_conventions(model: Model) -> None:
    """Raise for a model with other conventions than tasks use, or with joints of more than one
    coordinate."""
    if "".join(model.quaternion) != "xyzw" or model.base_velocity != "local":
        raise TaskError(
            f"{model.name} has {'-'.join(model.quaternion)} quaternions and velocities of the base in "
            f"{model.base_velocity} axes; tasks need x-y-z-w and local: wd.load(..., floating_base=True)"
        )
    base = 7 if model.floating_base else 0
    if model.nq - base != len(model.joint_names):
        raise TaskError(
            f"{model.name} has {model.nq - base} coordinates for {len(model.joint_names)} joints; "
            "motions are of joints with one coordinate each"
        )


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""
