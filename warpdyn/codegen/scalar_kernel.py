"""The scalar form of a program for the CPU: one environment, every value one number.

It is the code of one environment (one_environment.py) with the CPU's functions. With a single
robot, all lanes of a vector but one are idle, and their width has a cost: many processors lower
their clock for about a millisecond once they have multiplied in wide vectors. On an Intel Xeon of
2.5 GHz (Cascade Lake) Python runs 1.3 times slower after each launch of panda's rnea in lanes, and
at full speed after the scalar one; the launch takes 0.7 us instead of 1.0, a joint impedance law
with its loops 10 instead of 18.
"""

from __future__ import annotations

from ..recording.program import Program
from .one_environment import OneEnvironment

BUILTINS = ("fma", "sqrt", "floor")
"""Functions that clang writes as instructions; those of the library might set errno."""


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args, tid)` that computes environment first + tid."""
    end = "f" if single else ""
    macros = {f"{name}{end}": f"__builtin_elementwise_{name}" for name in BUILTINS}
    macros[f"fabs{end}"] = "__builtin_elementwise_abs"
    macros[f"sincos{end}(x, s, c)"] = f"(*(s) = ::sin{end}(x), *(c) = ::cos{end}(x))"
    define = [f"#define {name} {text}" for name, text in macros.items()]
    undefine = [f"#undef {name.partition('(')[0]}" for name in macros]
    return "\n".join(["", *define, OneEnvironment(program, single).source(), *undefine, ""])
