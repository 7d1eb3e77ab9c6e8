"""The style of exported code: its language, its precision and the names of its types and helpers."""

from __future__ import annotations

import re
from ctypes import c_float
from dataclasses import dataclass
from typing import Literal

from . import headers

Language = Literal["c++", "c"]
"""The language: C++17 or C99."""

_HELPERS = re.compile(
    r"\b(number|lanes|word|lane_words|lane_count|lane_square|lane_quarter)(_(\w+))?\b"
)
_LIBRARY = re.compile(r"((?:=|return) )(sin|cos|sqrt|floor|exp|log|atan2)f?\(")


@dataclass(frozen=True)
class Style:
    """The style of exported code."""

    language: Language
    single: bool
    prefix: str
    """In C, the prefix of all names of the file."""
    libm: bool = True
    """True if roots and exponentials are taken from the C library; otherwise there are no
    exponentials."""

    @property
    def inline(self) -> str:
        return "inline" if self.language == "c++" else "static inline"

    @property
    def noexcept(self) -> str:
        return " noexcept" if self.language == "c++" else ""

    @property
    def restrict(self) -> str:
        return "__restrict" if self.language == "c++" else "restrict"

    def helper(self, name: str, lanes: bool = False) -> str:
        """A helper's name: the same for numbers and lanes in C++, where types distinguish them."""
        if self.language == "c++":
            return name
        return f"{self.prefix}_{'lanes' if lanes else 'number'}_{name}"

    def type(self, lanes: bool) -> str:
        """The type of a value."""
        name = "lanes" if lanes else "number"
        return name if self.language == "c++" else f"{self.prefix}_{name}"

    def nearest(self, x: float) -> float:
        """The closest number of the precision, infinity for numbers beyond its range."""
        return c_float(x).value if self.single else x

    def helpers(self, piece: str) -> str:
        """A piece of portable.h, with this file's names."""

        def rename_helper(found: re.Match[str]) -> str:
            whole, kind, function = found[0], found[1], found[3]
            if self.language == "c":
                return f"{self.prefix}_{whole}"
            return function if function else kind

        text = _HELPERS.sub(rename_helper, headers.piece("portable.h", piece, self.single))
        if self.language == "c++":
            text = re.sub(r"^static inline ([^{]*\))", r"inline \1 noexcept", text, flags=re.M)
            text = text.replace("lanes_all(", "all(").replace("= {0}", "= {}")
            if piece == "libm":  # the functions of C++ have one name for float and double
                text = _LIBRARY.sub(r"\1std::\2(", text)
        return text
