"""Names and sentences as they are shown: a name of a stranger's file does nothing to a terminal."""

from __future__ import annotations


def printable(text: str, kept: str = "") -> str:
    r"""The text with what is not printable shown by its number: the ends of lines, the controls of a
    terminal, marks that turn the direction of writing; the characters `kept` stay.

    >>> print(printable("arm" + chr(10) + "all checks passed" + chr(0x202e)))
    arm\x0aall checks passed\u202e
    """
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in kept else character_number(x) for x in text)


def character_number(character: str) -> str:
    """A character's number, as strings of Python and C have it."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
