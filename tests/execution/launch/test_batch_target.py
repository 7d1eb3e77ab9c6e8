"""Which kernel a batch on a GPU gets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from warpdyn.execution.launch import batch_target
from warpdyn.execution.launch import batch_target as chosen
from warpdyn.execution.launch.batch_target import FEW_PER_MULTIPROCESSOR, target_for_batch


def on(monkeypatch: pytest.MonkeyPatch, kib: int) -> None:
    """A device with 10 multiprocessors and this much shared memory for a block."""
    device = SimpleNamespace(sm_count=10, max_shared_memory_per_block=kib * 1024)
    monkeypatch.setattr(batch_target, "wp", SimpleNamespace(get_device=lambda _: device))


@pytest.mark.parametrize(
    ("kib", "target"),
    [(227, "cuda_few_220"), (163, "cuda_few_96"), (99, "cuda_few_96"), (64, "cuda_few")],
)
def test_small_batches_use_the_shared_memory_of_the_device(
    kib: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sizes are those of sm_90, sm_80, sm_86 and sm_75."""
    on(monkeypatch, kib)
    assert (
        target_for_batch("cuda:0", 1)
        == target_for_batch("cuda:0", 10 * FEW_PER_MULTIPROCESSOR)
        == target
    )
    assert target_for_batch("cuda:0", 10 * FEW_PER_MULTIPROCESSOR + 1) == "cuda"


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.FEW_PER_MULTIPROCESSOR == 64
    assert chosen.SYSTEM_BYTES == 1024
