"""Numbers with a name in the modules of execution: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "autodiff.torch_operator": {
        "MOST": 512,
    },
    "autodiff.torch_remembered": {
        "MOST": 16,
    },
    "compile.announcements": {
        "WORTH_A_LINE": 1.0,
        "REFRESH": 0.2,
    },
    "compile.background": {
        "LAST_WAIT": 2.0,
        "NICENESS": 10,
    },
    "compile.c_object": {
        "LEVEL": 1,
    },
    "compile.bytecode_checks": {
        "MOST_SLOTS": 16777215,
    },
    "compile.cache": {
        "FORMAT": 7,
    },
    "compile.compiler_child": {
        "IDLE": 5.0,
    },
    "compile.compiling": {
        "ENOUGH_INTERPRETED": 0.02,
        "SECONDS": 0.35,
        "SECONDS_PER_CHARACTER": 7e-06,
        "SECONDS_FOR_HEADERS": 2.7,
        "NVRTC": 0.25,
        "NVRTC_PER_CHARACTER": 1.8e-05,
        "NVRTC_PER_ENTRY": 0.0034,
    },
    "compile.interpreter": {
        "EXPECTED_SECONDS": 2.0,
    },
    "compile.kernel": {
        "BLOCK": 32,
    },
    "compile.kernel_objects": {
        "BLOCK": 1,
        "SPACE_PER_CHARACTER": 8,
        "SPACE": 1048576,
        "SPACE_FOR_HEADER": 16777216,
    },
    "compile.sealed_files": {
        "LARGEST": 268435456,
    },
    "launch.batch_target": {
        "FEW_PER_MULTIPROCESSOR": 64,
        "SYSTEM_BYTES": 1024,
    },
    "launch.job": {
        "SECONDS_PER_OPERATION": 1.2e-11,
        "SECONDS_PER_BYTE": 4e-11,
    },
    "launch.launch": {
        "LONG": 10.0,
    },
    "launch.native_threads": {
        "POLLS": 200,
        "OBJECT_BYTES": 256,
        "STACK": 16777216,
    },
    "launch.state_checks": {
        "UNIT": 0.001,
        "AT_LIMIT": 1e-06,
        "SHOWN": 5,
    },
    "native.c_functions": {
        "OPERANDS": 16,
        "LONG": 1e-05,
        "_FASTCALL": 128,
    },
    "native.native_call": {
        "MOST": 8,
    },
    "native.torch_native": {
        "MOST": 8,
        "_CPU": 0,
        "_STRIDED": 0,
        "_WORDS": 23,
    },
    "repeat.call_cache": {
        "MOST": 512,
        "RUNS_IN_PYTHON": 8,
    },
    "repeat.planned_call": {
        "MOST_KEPT": 1024,
    },
    "request.argument_checks": {
        "MOST_BY_VALUE": 512,
    },
    "threads": {
        "ENOUGH": 9e-05,
        "SLICE": 1e-05,
        "PYTHONS_SLICE": 4e-05,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/execution") == NUMBERS
