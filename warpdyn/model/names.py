"""Names and messages: names are looked up, and similar ones suggested. A name from an untrusted file
must not control the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


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


class ModelError(ValueError):
    """A robot description that cannot be used. The message names the place and the remedy in one
    line; characters of names that are not printable appear as their numbers."""

    def __init__(self, text: str = "") -> None:
        super().__init__(printable(text))


class ModelWarning(UserWarning):
    """A description that is used as written although it looks wrong."""


def look_up(table: Mapping[str, T], name: str, what: str, owner: str) -> T:
    """The entry with this name, or a KeyError that suggests similar names."""
    if not isinstance(name, str):
        raise TypeError(f"{owner}: give the name of a {what}, got {name!r}")
    if name in table:
        return table[name]
    hint = suggestion(near_names(name, table)) or ";"
    known = f"it has {', '.join(list(table)[:12]) or 'none'}{', ...' if len(table) > 12 else ''}"
    raise KeyError(f"{owner} has no {what} named {name!r}{hint} {known}")


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Three names, or fewer, that resemble `name`: first those that end with it or contain it, then
    those spelled like it."""
    known, word = list(names), name.lower()
    inside = [each for each in known if word and word in each.lower()]
    inside.sort(key=lambda each: (not each.lower().endswith(word), len(each)))
    spelled = difflib.get_close_matches(name, known, n=3)
    return list(dict.fromkeys([*inside, *spelled]))[:3]


def spelling_hint(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the one that was probably meant, if any."""
    return suggestion(difflib.get_close_matches(name, list(names), n=1))


def suggestion(near: Sequence[str]) -> str:
    """The end of a message that suggests these names; empty if there are none."""
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def count_with_noun(count: int, noun: str) -> str:
    """The count and the noun, with an s unless the count is 1."""
    return f"{count} {noun}{'s' * (count != 1)}"


def check_names(names: Iterable[str]) -> Iterable[str]:
    """The names. A single str is refused, because it would be read as a list of letters."""
    if isinstance(names, str):
        raise TypeError(f'names must be a list, got "{names}"; for one name pass ["{names}"]')
    return names
