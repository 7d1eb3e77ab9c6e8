"""Checkpoint of a training run: read without executing code from the file, and compared with the
current run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from .task import TaskError

NEEDED = {
    "environments": dict,
    "observations": dict,
    "random": torch.Tensor,
    "others": list,
    "learner": dict,
    "iteration": int,
    "seconds": tuple,
    "curve": list,
    "of": dict,
}
"""Entries of a checkpoint, and their types."""


PICKLE = b"\x80"
"""First byte of a pickle; the zip archives of torch.save begin with "P"."""

RESUME = "choose another folder, or remove that file"
"""Advice for a folder whose checkpoint cannot be used."""


def read_checkpoint(path: Path, advice: str = RESUME) -> dict[str, Any]:
    """A checkpoint's entries. TaskError, which ends with `advice`: the file is not a checkpoint.

    Only tensors, numbers, strings and containers of them are read (`weights_only=True`). A file
    that would run code when it is unpickled raises an error.
    """
    if not path.is_file():
        raise _no_checkpoint(path, "it is not a regular file", advice)
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except OSError as error:
        raise _no_checkpoint(path, str(error.strerror), advice) from None
    if first not in (b"P", PICKLE):
        raise _no_checkpoint(path, "it was not written by torch.save", advice)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error below says the same
            whole = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zipfile and Torch each raise their own errors
        raise _no_checkpoint(path, _reason(error), advice) from None
    if not isinstance(whole, dict):
        reason = f"it holds a {type(whole).__name__}, not a dictionary"
        raise _no_checkpoint(path, reason, advice)
    if lacking := [name for name in NEEDED if name not in whole]:
        raise _no_checkpoint(path, f"it has no {', '.join(map(repr, lacking))}", advice)
    for name, kind in NEEDED.items():
        if not isinstance(whole[name], kind):
            wrong = type(whole[name]).__name__
            reason = f"its {name!r} is a {wrong}, not a {kind.__name__}"
            raise _no_checkpoint(path, reason, advice)
    return whole


def unusable(path: Path, error: Exception) -> TaskError:
    """The error for a checkpoint whose contents do not fit its training."""
    return _no_checkpoint(path, f"its contents do not fit this training ({_first_line(error)})")


def differences(kept: Any, now: Any, name: str = "") -> Iterator[str]:
    """Differences between two plain values, each described in a few words with its innermost
    name."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*kept, *now)):
            # Checkpoints of earlier versions store less about their training.
            if name or key in kept:
                yield from differences(kept.get(key), now.get(key), f"{name} {key}".strip())
    elif repr(kept) != repr(now):  # NaN equals NaN
        old, new = ("none" if x in (None, "") else x for x in (kept, now))
        yield f"{name} {old} instead of {new}"


def plain(x: Any) -> Any:
    """A value as plain Python, which `==` compares by value: a number, a string, or a list or
    dictionary of these."""
    if hasattr(x, "_asdict"):
        x = x._asdict()
    if isinstance(x, Mapping):
        return {name: plain(each) for name, each in x.items()}
    if hasattr(x, "tolist"):  # arrays and numbers of NumPy and Torch
        return x.tolist()
    is_list = isinstance(x, Sequence) and not isinstance(x, str | bytes)
    return [plain(each) for each in x] if is_list else x


def _no_checkpoint(path: Path, reason: str, advice: str = RESUME) -> TaskError:
    return TaskError(f"{path} is not a training checkpoint: {reason}; {advice}")


def _reason(error: Exception) -> str:
    """The first line of an error. Torch's own message is replaced: it advises loading the file with
    the code in it."""
    text = str(error)
    if "Weights only" in text or "weights_only" in text:
        return "it holds objects other than tensors, numbers and strings, which could run code"
    return _first_line(error)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
