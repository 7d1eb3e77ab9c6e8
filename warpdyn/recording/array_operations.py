"""Operations of a program on the arrays of its loops (`algebra.row_arrays.RowArray`).

A recording is a list of nodes without side effects, but an array is memory that changes. So each write
makes a new node that stands for the array after the write, and a read names the node of the array that
it reads. All of these nodes share the memory of the first one, the root. This is right only if each read
comes before the next write, so that a program with arrays keeps the order in which it was recorded.

Arguments of the operations, where `array` and `call` are nodes, `j` and sizes are text, and `index` and
`value` are nodes or constants:

| operation | arguments | result |
|---|---|---|
| rows | name, width, value.. | a new array with these values |
| zeros | name, rows, width | a new array of zeros |
| unset | name, rows, width | a new array without values: each entry is written before it is read |
| given | j | array j of the loop in whose step this is |
| kept | j | for a loop that runs backward through another one, array j of that one before a step |
| lend | name, frame, array.. | the frame of a loop and the arrays that it reads and writes |
| left | name, call, j | array j after the loop |
| begun | name, call, j | a copy of array j as it was before the loop |
| read, gather | array, j, index | entry j of a row; the index is equal in all lanes for `read` |
| write, scatter | array, index, value.. | the array with another row; "" in place of a value leaves its entry |
"""

from __future__ import annotations

from collections.abc import Sequence

ROWS, ZEROS, UNSET = "rows", "zeros", "unset"
GIVEN, KEPT_ROWS = "given", "kept_rows"
LEND, LEFT, BEGUN = "lend", "left", "begun"
READ, GATHER, WRITE, SCATTER = "read", "gather", "write", "scatter"

READS, WRITES = (READ, GATHER), (WRITE, SCATTER)
NEW = (ROWS, ZEROS, UNSET, BEGUN)
"""Operations that need memory of their own."""

ARRAY_OPERATIONS = (*NEW, GIVEN, KEPT_ROWS, LEND, LEFT, *READS, *WRITES)

COUNTER = "counter"
"""Input of a step: the number of the step, from 0 on."""


def values_read(operation: str, arguments: Sequence[object]) -> Sequence[object]:
    """The arguments of an array operation that are values: neither arrays nor sizes."""
    if operation == ROWS:
        return arguments[2:]
    if operation in READS:
        return arguments[2:]
    return arguments[1:] if operation in WRITES else ()
