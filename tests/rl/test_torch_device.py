"""The device of a training, from the GPUs that Warp and Torch find.

Torch's answers are stand-ins.
"""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.torch_device import torch_device


@pytest.mark.parametrize("available", [False, True])
def test_a_training_on_the_cpu_needs_no_cuda_in_torch(
    available: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert torch_device("cpu", True) == torch_device("cpu", False) == ("cpu", "")


def test_a_gpu_that_warp_and_torch_find_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("cuda:1", False) == torch_device("cuda:1", True) == ("cuda:1", "")


@pytest.mark.parametrize(
    ("version", "reason"), [(None, "is built without CUDA"), ("12.8", "finds no GPU")]
)
def test_a_gpu_that_torch_cannot_use_is_replaced_by_the_cpu(
    version: str | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training then uses the CPU, and a line says why.

    If the user named the GPU, an error is raised.
    """
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", version)
    device, line = torch_device("cuda:0", False)
    assert device == "cpu" and line.startswith("training on the CPU: Warp finds cuda:0, but Torch")
    assert reason in line and "\n" not in line
    with pytest.raises(rl.TaskError, match=f"{reason}, which training on cuda:0 needs"):
        torch_device("cuda:0", True)
