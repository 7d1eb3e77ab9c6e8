"""Names and sentences of users in generated C and C++: what may stand in a comment, and in a string.

A name comes from a file that a stranger may have written. Whatever it holds, it stays inside of the
comment or the string that it is written to.
"""

from __future__ import annotations

import re

_NOT_PLAIN = re.compile(r"[^ -\[\]-~]")
"""What is no printable ASCII, and the backslash, which ends no line this way."""

_DELIMITERS = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")
"""First letters of what ends or begins a comment, and of trigraphs (`??/` is a backslash)."""


def comment_text(text: str) -> str:
    r"""A line of a comment, of `//` as well as of `/* */`: printable ASCII without delimiters.

    >>> print(comment_text("arm" + chr(10) + "*/ int x;"))
    arm\x0a* / int x;
    """
    plain = _NOT_PLAIN.sub(lambda found: _code(found[0]), text)
    return _DELIMITERS.sub(lambda found: f"{found[0]} ", plain)


def string_literal(text: str) -> str:
    """A string of C, which holds the text's bytes in UTF-8.

    Raises ValueError for what no string of C holds: the character NUL, at which it would end, and
    halves of surrogate pairs, which UTF-8 has not.
    """
    if "\0" in text or any("\ud800" <= x <= "\udfff" for x in text):
        raise ValueError(
            f"{text!r} cannot be a string of C: it has a NUL or half of a surrogate pair; rename it"
        )
    return f'"{"".join(map(_byte, text.encode("utf-8")))}"'


def _code(character: str) -> str:
    """The number of a character, as Python's strings write it."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _byte(byte: int) -> str:
    """A byte of a string; always three octal digits, so that a digit behind does not count to them."""
    if byte in b'"\\':
        return f"\\{chr(byte)}"
    if 0x20 <= byte < 0x7F and byte != ord("?"):
        return chr(byte)
    return f"\\{byte:03o}"
