"""Kernels for few and for many environments on the emulated device."""

from __future__ import annotations

from cuda_device.emulated_processes import json_of

from warpdyn.codegen.cuda import STATIC_BYTES


def test_both_forms_agree_with_the_cpu() -> None:
    """One form uses dynamic shared memory in several warps, the other none in one warp."""
    found = json_of("forms_of_batches.py")
    few, many = found["few"], found["many"]
    assert few["target"] == "cuda_few_220" and many["target"] == "cuda"
    assert few["warps"] > 1 and few["shared_bytes"] > STATIC_BYTES
    assert many["warps"] == 1 and many["shared_bytes"] == 0
    assert few["error"] < 1e-12 and many["error"] < 1e-12
