"""Registers and memory of a kernel, from the machine code that NVRTC writes for it (ELF)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FRAME_SIZE, REGISTERS = 0x11, 0x2F
"""Attributes in the section .nv.info: each has the index of a function and a number."""

PAIR = 0x04
"""The format of an attribute that says its own length."""

INSTRUCTION_BYTES = 16
"""An instruction; its first 12 bits say what it does."""

LOCAL_LOAD, LOCAL_STORE = 0x983, 0x387
"""LDL and STL of sm_70 to sm_90, as nvdisasm names them."""


class KernelResources(NamedTuple):
    """Registers and memory that a thread of a kernel uses."""

    registers: int
    local_bytes: int
    """The stack: arrays, and values for which there were no registers."""
    code_bytes: int
    local_accesses: int = 0
    """Instructions that read or write local memory."""


def read_cubin(path: Path) -> KernelResources:
    """Resources of the largest function of a cubin, which is the kernel.

    ValueError: it is not an ELF file of 64 bits, or has no kernel.
    """
    content = path.read_bytes()
    if content[:5] != b"\x7fELF\x02":
        raise ValueError(f"{path} is not a cubin: an ELF file of 64 bits is needed")
    sections = dict(_sections(content))
    registers = frame = 0
    for attribute, value in _attributes(sections.get(".nv.info", b"")):
        if attribute == REGISTERS:
            registers = max(registers, value)
        elif attribute == FRAME_SIZE:
            frame = max(frame, value)
    texts = [x for name, x in sections.items() if name.startswith(".text.")]
    code = max(texts, key=len, default=b"")
    if not code:
        raise ValueError(f"{path} has no kernel")
    return KernelResources(registers, frame, len(code), _local_accesses(code))


def _local_accesses(code: bytes) -> int:
    starts = range(0, len(code) - 1, INSTRUCTION_BYTES)
    kinds = [struct.unpack_from("<H", code, at)[0] & 0xFFF for at in starts]
    return kinds.count(LOCAL_LOAD) + kinds.count(LOCAL_STORE)


def _sections(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the sections (System V ABI, ELF-64)."""
    (table,) = struct.unpack_from("<Q", content, 0x28)
    entry, count, of_names = struct.unpack_from("<3H", content, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", content, table + k * entry) for k in range(count)]
    _, _, _, _, names, _ = headers[of_names]
    for name, kind, _, _, offset, size in headers:
        end = content.index(b"\0", names + name)
        has_bytes = kind != 8  # SHT_NOBITS
        text = content[names + name : end].decode()
        yield text, content[offset : offset + size] if has_bytes else b""


def _attributes(info: bytes) -> Iterator[tuple[int, int]]:
    """Attributes with one number for each function: (attribute, number)."""
    at = 0
    while at + 4 <= len(info):
        layout, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if layout == PAIR:
            if size == 8:
                yield attribute, struct.unpack_from("<II", info, at)[1]
            at += size
