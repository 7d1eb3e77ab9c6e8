"""MJCF: only the first number of an attribute acts, and numbers of higher powers are remarked, for
every owner."""

from __future__ import annotations

import warnings

import pytest

import warpdyn as wd

TEXT = """<mujoco><worldbody><body><joint name="j" {}/><geom size="0.1" mass="1"/></body></worldbody>
<tendon><fixed name="t" {}><joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor joint="j" gear="2" {}/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("owner", "subject"),
    [(0, '"damping" of <joint>'), (1, "damping of a tendon"), (2, "damping of an actuator")],
)
def test_only_the_first_number_acts(owner: int, subject: str) -> None:
    """An actuator's damping acts at its joint times gear squared."""
    models = []
    for damping in ("0.5", "0.5 0", "0.5 0.3"):
        places = ["", "", ""]
        places[owner] = f'damping="{damping}"'
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models.append(wd.load(TEXT.format(*places)))
    whole, zero, power = models
    assert whole.key == zero.key
    remark = f"numbers of {subject} for higher powers"
    assert [remark in " ".join(each.warnings) for each in models] == [False, False, True]
    assert power.joints[0].damping == whole.joints[0].damping == (0.5, 0.0, 2.0)[owner]
