"""Printable names and messages: a name from an untrusted file must not control the terminal."""

from __future__ import annotations


def printable(text: str, kept: str = "") -> str:
    r"""The text with every character that is not printable shown as its number: line ends, terminal
    controls and marks that turn the direction of writing. The characters in `kept` stay.

    >>> print(printable("arm" + chr(10) + "all checks passed" + chr(0x202e)))
    arm\x0aall checks passed\u202e
    """
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in kept else character_number(x) for x in text)


def character_number(character: str) -> str:
    """A character's number, as strings in Python and C write it."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
