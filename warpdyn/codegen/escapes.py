"""Escaping of users' text in generated C and C++: in comments and in strings.

A name comes from a file that a stranger may have written. Whatever characters it has, it must not
end the comment or the string that contains it.
"""

from __future__ import annotations

import re

_NOT_PLAIN = re.compile(r"[^ -\[\]-~]")
"""Characters that are not printable ASCII, and the backslash, so that it cannot join lines."""

_DELIMITERS = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")
"""First characters of comment delimiters and of trigraphs (`??/` is a backslash)."""


def escape_comment(text: str) -> str:
    r"""The text for a line of a comment, for `//` as well as `/* */`: printable ASCII without
    delimiters.

    >>> print(escape_comment("arm" + chr(10) + "*/ int x;"))
    arm\x0a* / int x;
    """
    plain = _NOT_PLAIN.sub(lambda found: _code(found[0]), text)
    return _DELIMITERS.sub(lambda found: f"{found[0]} ", plain)


def string_literal(text: str) -> str:
    """A C string with the text's bytes in UTF-8.

    Raises ValueError for characters that no C string can hold: NUL, which would end it, and
    halves of surrogate pairs, which do not exist in UTF-8.
    """
    if "\0" in text or any("\ud800" <= x <= "\udfff" for x in text):
        raise ValueError(
            f"{text!r} cannot be a C string: it contains a NUL or half of a surrogate pair; rename it"
        )
    return f'"{"".join(map(_byte, text.encode("utf-8")))}"'


def _code(character: str) -> str:
    """The number of a character, as Python's strings write it."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _byte(byte: int) -> str:
    """A byte of a string, always with three octal digits, so that a following digit is not read as
    part of it."""
    if byte in b'"\\':
        return f"\\{chr(byte)}"
    if 0x20 <= byte < 0x7F and byte != ord("?"):
        return chr(byte)
    return f"\\{byte:03o}"
