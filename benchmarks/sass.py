"""Machine code of a kernel from NVIDIA's disassembler (`pip install nvidia-cuda-nvdisasm`)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")

LOADS = ("LDG", "LD")
"""Loads from memory that is not the thread's own and not shared."""

LOCAL = ("LDL", "STL")

ENDS = ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT")
"""Instructions that end a block; a label begins another one."""


class MachineCode(NamedTuple):
    """Counts of a kernel's instructions."""

    code_instructions: int
    load_blocks: int
    """Blocks with loads. Loads of one block wait for memory together. Of two branches that read rows
    in different ways a thread runs one."""
    local_share: float
    """Words of 32 bits that go to or come from local memory, by all instructions."""


def disassembler() -> str | None:
    """Path of the disassembler, from PATH or its package; None if it is not installed."""
    found = shutil.which("nvdisasm")
    if found is None:
        packages = Path(sysconfig.get_path("purelib")) / "nvidia"
        found = next(map(str, packages.glob("cu*/bin/nvdisasm")), None)
    return found


def read_machine_code(cubin: Path) -> MachineCode | None:
    """Counts of a cubin's instructions; None without the disassembler."""
    program = disassembler()
    if program is None:
        return None
    done = subprocess.run([program, "-c", cubin], capture_output=True, text=True, check=True)
    return count(done.stdout)


def count(listing: str) -> MachineCode:
    """Counts of instructions and blocks in a listing."""
    instructions = local = load_blocks = 0
    for block in blocks(listing):
        names = [name.partition(".")[0] for name in block]
        instructions += len(names)
        local += sum(words(x) for x, name in zip(block, names, strict=True) if name in LOCAL)
        load_blocks += any(name in LOADS for name in names)
    return MachineCode(instructions, load_blocks, local / max(instructions, 1))


def words(instruction: str) -> int:
    """32-bit words that a load or store moves."""
    parts = instruction.split(".")
    return 4 if "128" in parts else 2 if "64" in parts else 1


def blocks(listing: str) -> Iterator[list[str]]:
    """Yield basic blocks: lists of instructions that run one after another."""
    block: list[str] = []
    for line in listing.splitlines():
        found = INSTRUCTION.match(line)
        if found:
            block.append(found[1])
        if line.startswith(".L") or (found and found[1].partition(".")[0] in ENDS):
            yield block
            block = []
    yield block
