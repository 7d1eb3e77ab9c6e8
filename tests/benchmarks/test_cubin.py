"""Machine code of CUDA kernels: values of a cubin, and the disassembler's listing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cubin import read_cubin
from benchmarks.cuda_counts import machine_code, staged_numbers
from benchmarks.cuda_kernels import call_of
from benchmarks.sass import blocks, count, disassembler
from warpdyn.codegen.targets import write
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

LISTING = """
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E R5, desc[UR4][R2.64+0x4] ;
        /*0030*/               @P0 BRA `(.L_x_0) ;
        /*0040*/                   STL.64 [R1], R4 ;
        /*0050*/                   FADD R4, R4, R5 ;
.L_x_0:
        /*0060*/                   LDG.E R6, desc[UR4][R2.64+0x8] ;
        /*0070*/                   LDL R7, [R1] ;
        /*0080*/                   EXIT ;
"""


def test_machine_code_has_the_resources_of_a_thread() -> None:
    """The kernel of panda's rnea stages three inputs and the torques, in rows of 9 numbers for 32
    lanes."""
    call = call_of("panda:rnea", 1)
    code = machine_code(write(record_call(call, input_shapes(call), True), "rnea", True, "cuda"))
    assert 32 <= code["registers"] <= 255 and code["code_bytes"] > 5000
    assert code["shared_bytes"] == 4 * 4 * 32 * 9
    assert code["seconds"] > 0.0
    if disassembler() is not None:
        assert 16 * code["code_instructions"] <= code["code_bytes"] + 1000
        assert code["load_blocks"] >= 1


def test_a_listing_is_split_into_blocks() -> None:
    """A block ends at a branch and at a label. A wide access moves several words."""
    assert [len(block) for block in blocks(LISTING) if block] == [4, 2, 3]
    code = count(LISTING)
    assert code.code_instructions == 9 and code.load_blocks == 2
    assert code.local_share == pytest.approx(3 / 9)


def test_a_file_that_is_no_cubin_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cubin"
    file.write_bytes(b"no cubin")
    with pytest.raises(ValueError, match="is not a cubin"):
        read_cubin(file)


def test_a_source_without_rows_has_no_shared_memory() -> None:
    assert staged_numbers("const int lane = 0;") == 0
    assert staged_numbers("__shared__ T stage[672];") == 672
