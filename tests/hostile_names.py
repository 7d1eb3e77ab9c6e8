"""Names that an untrusted file may have. Each tries to end the comment or the string that contains
it."""

from __future__ import annotations

import random

CODE = ("#error injected", "int injected(void);", "; int injected = 1; //", "#include <injected.h>")
ENDS = (
    "\n",
    "\r",
    "\r\n",
    "*/",
    '"',
    "\\\n",
    "\\",
    "??/\n",
    "??/",
    '\\"',
    "\u2028",
    "\u2029",
    "\x85",
)
ODD = (
    "/*", "//", "%s%n", "??=", "??'", "'", "\t", "\x0b", "\x0c", "\x1b[31m", "\x9b31m", "\u202e",
    "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x7f", "ü", "脚", "🦾", "7", "x\\x41", "\\u0041", "\\0",
)  # fmt: skip

PLAIN = ("arm", "left-hand", "1st", "ends\\", "C:\\robots\\", "what??", 'a "quoted" name', "*", "/")


def hostile_names(count: int, seed: int = 0) -> list[str]:
    """`count` distinct names: every ending with every code, then random combinations of pieces."""
    draw = random.Random(seed)
    names = [*PLAIN, *ENDS, *ODD]
    names += [f"arm{end}{code}{tail}" for end in ENDS for code in CODE for tail in ("", "\n", "/*")]
    while len(names) < count:
        names.append("".join(draw.choices([*CODE, *ENDS, *ODD, *PLAIN], k=draw.randint(2, 6))))
    return list(dict.fromkeys(names))[:count]
