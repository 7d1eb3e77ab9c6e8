"""Remarks on a description: one warning, at the line of the user's call."""

from __future__ import annotations

from dataclasses import replace

import pytest
from documented_numbers import check_numbers
from hand_models import hand
from sdf_texts import robot as sdf_robot
from urdf_texts import body, inertia, joint, robot

from warpdyn.formats.load import load as load_any
from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelWarning
from warpdyn.model.remarks import WARNED_LINES, warn


def test_a_load_warns_once_and_stores_every_remark() -> None:
    """The warning has at most a dozen lines. Model.warnings has them all."""
    many = [body('<mass value="0"/>' + inertia(1, 1, 1), f"b{i}") for i in range(40)]
    chain = [joint(f"j{i}", "fixed", f"b{i}", f"b{i + 1}", "") for i in range(39)]
    with pytest.warns(ModelWarning) as caught:
        model = load_urdf(robot(*many, *chain))
    assert len(model.warnings) == 40 and len(caught) == 1
    assert str(caught[0].message).count("\n") <= 13 and "and 28 more" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_warning_names_the_file_and_the_users_line() -> None:
    """Each load gives one ModelWarning, at the line of the call."""
    with pytest.warns(ModelWarning, match="SDF text is used as written, but:") as caught:
        load_sdf(sdf_robot('<link name="a"><kinematic>1</kinematic></link>'))
        load_any(sdf_robot('<link name="a"/>'))
    assert [warning.filename for warning in caught] == [__file__, __file__]


@pytest.mark.filterwarnings("error")
def test_a_model_without_remarks_gives_no_warning() -> None:
    """The same model is returned."""
    model = hand()
    assert warn("hand", model) is model


@pytest.mark.parametrize("count", [1, WARNED_LINES, WARNED_LINES + 1])
def test_long_lists_of_remarks_are_shortened(count: int) -> None:
    """The list shows at most a dozen remarks and counts the rest."""
    model = replace(hand(), warnings=tuple(f"odd {i}." for i in range(count)))
    with pytest.warns(ModelWarning) as caught:
        warn("hand", model)
    text = str(caught[0].message)
    assert text.count("odd") == min(count, WARNED_LINES)
    assert ("and 1 more, see model.warnings" in text) == (count > WARNED_LINES)


def test_documented_numbers() -> None:
    check_numbers("model.remarks", WARNED_LINES=12)
