"""Names of robots, links and arrays as C, C++ and Python identifiers."""

from __future__ import annotations

import keyword
import re
import unicodedata

WORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict
return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
wchar_t while xor xor_eq"""
TAKEN = ("std", "main", "linux", "unix", "NULL", "NAN", "INFINITY")
"""Names that compilers and their headers define: macros, and the standard library's namespace."""
KEYWORDS = frozenset([*re.split(r"\s+", WORDS), *keyword.kwlist, *TAKEN])
"""Words that C, C++ or Python reserve, so that they cannot be names."""


def identifier(text: str) -> str:
    """A name as a C and Python identifier: letters without accents, an underscore for other
    characters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_") or "x"
    if plain[0].isdigit():
        plain = f"n{plain}"
    return f"{plain}_" if plain in KEYWORDS else plain
