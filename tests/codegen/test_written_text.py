"""The written sources equal the measured ones; they change only on purpose. Some choices change no
number: which values are in memory, where barriers are, what is prefetched. After an intended
change, `python tests/codegen/test_written_text.py` prints the new table."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest
from every_statement import PROGRAMS, SHAPES, STRAIGHT

from warpdyn.codegen import cpu, translation_units
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.exported_header import ExportedFunction, ExportedRobot, exported_header
from warpdyn.codegen.portable_style import Style
from warpdyn.codegen.targets import TARGETS, write
from warpdyn.codegen.warp_cut import Dependencies
from warpdyn.recording.program import Program, record

WHOLE = {**PROGRAMS, **STRAIGHT}


def record_by_name(name: str) -> Program:
    tables = ("t",) if name == "everything" else ()
    shapes = {n: shape for n, shape in SHAPES.items() if n != "t" or tables}
    function = WHOLE[name]
    return record((lambda x, t=None: function(x, t)), shapes, tables=tables)


def digest(text: str) -> str:
    return f"{crc32(text.encode()):08x}"


def kernel(target: str, single: bool) -> Callable[[Program], str]:
    def write_kernel(program: Program) -> str:
        source = write(program, "some", single, target)
        return f"{source.warps} {source.shared_bytes} {source.full_source}"

    return write_kernel


def in_units(program: Program) -> str:
    """The CPU source as several translation units."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translation_units, "SIZE", 5000)
        patch.setattr(cpu, "PART", 60)
        return write(program, "some", True, "cpu").full_source


def header(language: str, single: bool, libm: bool) -> Callable[[Program], str]:
    def write_header(program: Program) -> str:
        each = ExportedFunction("go", program, {"x": "x"}, {"out": "out"}, ["go"])
        style = Style(language, single, "some", libm=libm)  # type: ignore[arg-type]
        return exported_header(ExportedRobot(["some"]), [each], style)

    return write_header


def bytecode(program: Program) -> str:
    return json.dumps(encode(program), default=lambda x: getattr(x, "__dict__", None) or list(x))


def cuts(program: Program) -> str:
    return repr([cut for warps in (2, 3, 4) for cut in Dependencies(program).cuts(warps)])


def texts() -> dict[tuple[str, str], Callable[[Program], str]]:
    """Functions that write sources, by kind of source and name of program."""
    found: dict[tuple[str, str], Callable[[Program], str]] = {}
    for name in WHOLE:
        for target in TARGETS:
            for single in (True, False):
                found[f"{target} {'float' if single else 'double'}", name] = kernel(target, single)
        found["bytecode", name] = bytecode
        found["units", name] = in_units
        if name not in ("everything", "ending"):
            for language in ("c++", "c"):
                found[f"{language} float", name] = header(language, True, True)
                found[f"{language} double", name] = header(language, False, False)
    return {**found, ("cuts", "limbs"): cuts}


TABLE = {
    ("cpu float", "everything"): "300073e9",
    ("cpu double", "everything"): "7733a683",
    ("cuda float", "everything"): "024d6e35",
    ("cuda double", "everything"): "32c2eea5",
    ("cuda_few_220 float", "everything"): "024d6e35",
    ("cuda_few_220 double", "everything"): "32c2eea5",
    ("cuda_few_96 float", "everything"): "024d6e35",
    ("cuda_few_96 double", "everything"): "32c2eea5",
    ("cuda_few float", "everything"): "024d6e35",
    ("cuda_few double", "everything"): "32c2eea5",
    ("scalar float", "everything"): "1ffc6d19",
    ("scalar double", "everything"): "4b36f9c4",
    ("bytecode", "everything"): "4f6d9c9d",
    ("units", "everything"): "33cc3d14",
    ("cpu float", "gradient"): "a216e06c",
    ("cpu double", "gradient"): "c3d8c2c5",
    ("cuda float", "gradient"): "dd831cd2",
    ("cuda double", "gradient"): "734ede2a",
    ("cuda_few_220 float", "gradient"): "dd831cd2",
    ("cuda_few_220 double", "gradient"): "734ede2a",
    ("cuda_few_96 float", "gradient"): "dd831cd2",
    ("cuda_few_96 double", "gradient"): "734ede2a",
    ("cuda_few float", "gradient"): "dd831cd2",
    ("cuda_few double", "gradient"): "734ede2a",
    ("scalar float", "gradient"): "6a282035",
    ("scalar double", "gradient"): "c5ce0940",
    ("bytecode", "gradient"): "b153d98c",
    ("units", "gradient"): "ab427a17",
    ("c++ float", "gradient"): "33891719",
    ("c++ double", "gradient"): "3adfed13",
    ("c float", "gradient"): "5d85c58f",
    ("c double", "gradient"): "3dceaad4",
    ("cpu float", "ending"): "bd5a724d",
    ("cpu double", "ending"): "bb433308",
    ("cuda float", "ending"): "7d4c58c5",
    ("cuda double", "ending"): "12faffcd",
    ("cuda_few_220 float", "ending"): "7d4c58c5",
    ("cuda_few_220 double", "ending"): "12faffcd",
    ("cuda_few_96 float", "ending"): "7d4c58c5",
    ("cuda_few_96 double", "ending"): "12faffcd",
    ("cuda_few float", "ending"): "7d4c58c5",
    ("cuda_few double", "ending"): "12faffcd",
    ("scalar float", "ending"): "180514bf",
    ("scalar double", "ending"): "468a4ecb",
    ("bytecode", "ending"): "ac37f2c4",
    ("units", "ending"): "7267f7f3",
    ("cpu float", "limbs"): "5f54ac93",
    ("cpu double", "limbs"): "bf1b49d1",
    ("cuda float", "limbs"): "5175be5c",
    ("cuda double", "limbs"): "3224bcb6",
    ("cuda_few_220 float", "limbs"): "73ce8814",
    ("cuda_few_220 double", "limbs"): "52f516d7",
    ("cuda_few_96 float", "limbs"): "73ce8814",
    ("cuda_few_96 double", "limbs"): "52f516d7",
    ("cuda_few float", "limbs"): "73ce8814",
    ("cuda_few double", "limbs"): "52f516d7",
    ("scalar float", "limbs"): "1405d0ce",
    ("scalar double", "limbs"): "091d3ead",
    ("bytecode", "limbs"): "31e60eee",
    ("units", "limbs"): "b74afd78",
    ("c++ float", "limbs"): "7ac7dd6f",
    ("c++ double", "limbs"): "9f56f314",
    ("c float", "limbs"): "252441fa",
    ("c double", "limbs"): "ef794d1f",
    ("cuts", "limbs"): "f76c4040",
}
"""Digests of each kind of source, for each program."""


@pytest.mark.parametrize(("what", "name"), texts(), ids=map(" of ".join, texts()))
def test_a_written_source_has_the_stored_digest(what: str, name: str) -> None:
    assert digest(texts()[what, name](record_by_name(name))) == TABLE[what, name]


def test_the_table_has_all_present_sources() -> None:
    assert TABLE.keys() == texts().keys()


if __name__ == "__main__":
    print("TABLE = {")
    for (what, name), written in texts().items():
        print(f'    ("{what}", "{name}"): "{digest(written(record_by_name(name)))}",')
    print("}")
