"""The device of a training run: a GPU only if Torch can use it."""

from __future__ import annotations

import torch

from .task import TaskError


def torch_device(preferred: str, asked: bool) -> tuple[str, str]:
    """The device of tensors for Warp's device `preferred`, and a line if it is another one.

    Torch's CPU wheel has no CUDA, even on a machine with a GPU. asked: the user named the device.
    TaskError: the user named a device that Torch cannot use.
    """
    if not preferred.startswith("cuda") or torch.cuda.is_available():
        return preferred, ""
    build = "is built without CUDA" if torch.version.cuda is None else "finds no GPU"
    if asked:
        raise TaskError(
            f"Torch {torch.__version__} {build}, which training on {preferred} needs; install "
            "Torch with CUDA (https://pytorch.org/get-started), or leave out --device"
        )
    return "cpu", (
        f"training on the CPU: Warp finds {preferred}, but Torch {torch.__version__} {build} "
        "(https://pytorch.org/get-started)"
    )
