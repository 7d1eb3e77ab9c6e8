"""Products with a whole number that `floor` gives, in exported code: remainders, x - y * floor(x / y).

A remainder is exact only if the product and the difference are rounded once. Compilers fuse them
only where the processor has an instruction for it. So exported code computes such a difference by
a function of its own, which splits the factors in halves.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..recording.order import Statement
from ..recording.program import Program

WHOLE_PRODUCTS = {"fma": "whole_fma", "fms": "whole_fms", "fnma": "whole_fnma"}
"""Operations that round once, by those that may round twice in exported code."""

WHOLE_FORMS = {
    "whole_fma": "-{rest}({0}, {1}, -({2}))",
    "whole_fms": "-{rest}({0}, {1}, {2})",
    "whole_fnma": "{rest}({0}, {1}, {2})",
}
"""C of these operations. `rest(a, b, c)` is c - a * b."""


def with_whole_products(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with operations of `WHOLE_PRODUCTS` for products with a whole number."""
    whole = {s.target for s in statements if s.operation == "floor"}
    return [
        s._replace(operation=WHOLE_PRODUCTS[s.operation])
        if s.operation in WHOLE_PRODUCTS and not whole.isdisjoint(s.arguments[:2])
        else s
        for s in statements
    ]


def has_whole_products(program: Program) -> bool:
    """True if a program, or a routine of it, has such a product."""
    changed = any(s.operation in WHOLE_FORMS for s in with_whole_products(program.statements))
    return changed or any(map(has_whole_products, program.routines.values()))
