"""Records of inputs: the name of an array, the width of one environment's slice, and whether it is
common to all."""

from __future__ import annotations

import pytest

from warpdyn.execution.request import inputs
from warpdyn.execution.request.inputs import Input

NQ, NV = 9, 8


@pytest.mark.parametrize(
    ("record", "name", "shape", "plain", "subject"),
    [
        (inputs.argument("q", None, NQ, NV), "q", (NQ,), False, "q"),
        (inputs.argument("tau", None, NQ, NV), "tau", (NV,), False, "tau"),
        (inputs.argument("pose", (7,), NQ, NV, inputs.PLAIN), "pose", (7,), True, "pose"),
        (inputs.GRAVITY, "gravity", (3,), True, "gravity"),
        (inputs.forces(4), "f_ext", (4, 6), False, "f_ext"),
        (inputs.force("hand"), "f_ext:hand", (6,), False, "hand"),
        (inputs.parameter("mass", (2,)), "params:mass", (2,), True, "mass"),
        (inputs.seed(0, "out", (NV,)), "seed 0:out", (NV,), False, "out"),
        (inputs.solution("out", (NV,)), "solution:out", (NV,), False, "out"),
    ],
    ids=lambda x: x.name if isinstance(x, Input) else "",
)
def test_records_have_name_shape_and_subject(
    record: Input, name: str, shape: tuple, plain: bool, subject: str
) -> None:
    """The names are those of `wrt=` and of recorded programs. The subject is not part of a
    program."""
    assert (record.name, record.shape, record.plain, record.subject) == (
        name,
        shape,
        plain,
        subject,
    )


def test_equal_records_are_one_object() -> None:
    """Records that differ in anything are not equal."""
    one = inputs.argument("v", None, NQ, NV)
    assert inputs.argument("v", None, NQ, NV) is one and hash(one) == hash(one._replace())
    assert inputs.argument("v", None, NQ, NV + 1) != one
    assert inputs.argument("v", None, NQ, NV, inputs.PLAIN) != one
    assert inputs.seed(0, "q", (NQ,)) != inputs.seed(1, "q", (NQ,))
    with pytest.raises(AttributeError):
        one.shape = (3,)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "shape", "sizes"),
    [
        ("q", None, "nq"),
        ("q0", (NQ,), "nq"),
        ("q1", (NQ,), "nq"),
        ("q", (NQ + 1,), ""),
        ("v", None, "nv"),
        ("t", (1,), ""),
    ],
)
def test_sizes_are_named_if_they_are_nq_or_nv(name: str, shape: tuple, sizes: str) -> None:
    """A size that the function fixes has no name."""
    assert inputs.argument(name, shape, NQ, NV).sizes == sizes


def test_labels_are_the_names_that_users_know() -> None:
    """A parameter has the name of its quantity, a seed that of its array."""
    assert inputs.parameter("mass", (2,)).label == "mass (params)"
    assert inputs.force("hand").label == "f_ext:hand"
    seed = inputs.seed(1, "params:mass", (2,))
    assert seed.label == 'the cotangent or tangent of "params:mass"'
