"""Numbers with a name in the modules of codegen: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "arguments": {
        "FIELDS": 5,
    },
    "bytecode.assembler": {
        "NOWHERE": 0,
    },
    "bytecode.instructions": {
        "WORDS": 5,
        "DEPTH": 32,
        "LOOPS": 4096,
        "TABLES": 64,
        "MOST_BOUNDS": 64,
        "CORNERS": 4,
    },
    "bytecode.statements": {
        "NOTHING": -1,
    },
    "cpu": {
        "AHEAD": 4,
        "GROUP": 2,
        "GROUPED": 3,
        "STACK": 1048576,
        "LARGEST_WORKSPACE": 4194304,
    },
    "cpu_routines": {
        "PART": 250,
        "STEP_PART": 20000,
    },
    "cuda": {
        "STATIC_BYTES": 48128,
    },
    "cuda_rows": {
        "LANES": 32,
        "SECTOR_BYTES": 32,
        "PIECE_BYTES": 256,
    },
    "cuda_warps": {
        "WARPS": 4,
        "FEWER_WARPS": 2,
        "GOOD_CUT": 0.6,
        "WORTH": 0.8,
        "SM_90_BYTES": 225280,
        "SM_86_BYTES": 98304,
        "REGISTERS": 255,
        "STATEMENTS_PER_RESULT": 10,
    },
    "emit": {
        "BARRIER_AFTER": 32,
    },
    "headers": {
        "VECTOR_BYTES": 64,
    },
    "moved_rows": {
        "FEWEST": 64,
    },
    "partition": {
        "CORNER_SLOTS": 4,
    },
    "portable": {
        "PART": 400,
    },
    "scopes": {
        "VARIABLES": 500,
    },
    "tiles": {
        "DIRECT": 64,
        "STAGED": 128,
        "STAGED_LATE": 640,
        "LONG": 128,
    },
    "translation_units": {
        "SIZE": 300000,
    },
    "warp_cut": {
        "BARRIER": 60,
        "LATENCY": 467,
        "GROWTH": 1.35,
        "LARGE": 10000,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/codegen") == NUMBERS
