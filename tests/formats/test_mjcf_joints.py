"""MJCF: joints by their elements; what acts on them."""

from __future__ import annotations

import pytest
from mjcf_texts import INERTIAL, body, load

from warpdyn.model.description import ModelError


@pytest.mark.parametrize("others", ["", 'ref="1"', 'type="slide" ref="1"'])
def test_an_axis_has_a_direction(others: str) -> None:
    """An error with the line, whether or not the joint is drawn away from its zero."""
    with pytest.raises(ModelError, match=r'joint "j": axis is zero; a .* joint needs .*\(line 1\)'):
        load(body(INERTIAL + f'<joint name="j" axis="0 0 0" {others}/>'))
    assert load(body(INERTIAL + '<joint type="ball" axis="0 0 0"/>')).nv == 3
