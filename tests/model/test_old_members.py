"""Old names of members still work, say what the new ones are, and are overridden as before."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn import rl

OUT, IN = rl.Episode({"q": np.array([2.0, 0.0])}), rl.Episode({"q": np.zeros(2)})


class Railed(rl.CartpoleSwingUp):
    """Ends where the cart is far from the middle, by the new name."""

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return abs(s.q[0]) > 1.0


def test_an_old_name_gives_the_member_of_the_new_one() -> None:
    """An object of the class that defines the member has it, and so has one of a subclass."""
    for task in (Railed(), type("Same", (Railed,), {})()):
        with pytest.warns(
            DeprecationWarning, match=r"\.ended has moved; use \w+\.is_terminal$"
        ) as w:
            assert task.ended(None, OUT) and not task.ended(None, IN)
        assert {each.filename for each in w} == {__file__}


def test_a_task_of_before_ends_as_before() -> None:
    """It overrides `ended`, and may ask the class above by that name."""
    with pytest.warns(
        DeprecationWarning, match=r"^Older\.ended has moved; use Older\.is_terminal$"
    ) as w:

        class Older(Railed):
            def ended(self, robot: Any, s: rl.Episode) -> Any:
                return super().ended(robot, s) or s.q[1] > 1.0

    assert [each.filename for each in w] == [__file__]
    with pytest.warns(DeprecationWarning, match=r"^Older\.ended"):
        assert Older().is_terminal(None, OUT)
    with pytest.warns(DeprecationWarning, match=r"^Older\.ended"):
        assert not Older().is_terminal(None, IN)

    class Newer(Older):
        def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
            return False

    assert not Newer().is_terminal(None, OUT)


def test_old_names_of_draws_and_results() -> None:
    """Old names work on named tuples, and for a property."""
    vary: Any = rl.Vary(1.0, 1.0)
    noise: Any = rl.Noise(0.0)
    with pytest.warns(DeprecationWarning, match="Vary.drawn has moved; use Vary.draw$"):
        assert vary.drawn == vary.draw
    with pytest.warns(DeprecationWarning, match="Noise.added has moved; use Noise.add_to$"):
        assert noise.added == noise.add_to
    both: Any = rl.SideBySide(None, None, 0.005)  # type: ignore[arg-type]
    with (
        pytest.warns(DeprecationWarning, match="SideBySide.kept has moved"),
        pytest.raises(AttributeError, match="returned"),
    ):
        both.kept  # noqa: B018


def test_old_names_of_the_model() -> None:
    """Methods, a property and a class method."""
    model = wd.load_robot("panda")
    params: Any = model.params(mass={"panda_hand": [0.5, 1.5]})
    with pytest.warns(
        DeprecationWarning, match="^Params.named has moved; use Params.by_name$"
    ) as w:
        assert params.named("mass").keys() == {"panda_hand"}
    with pytest.warns(DeprecationWarning, match="^Params.replaced has moved; use Params.replace$"):
        assert np.array_equal(params.replaced(mass=np.ones((2, 1)))["mass"], np.ones((2, 1)))
    joint: Any = model.joints[0]
    with pytest.warns(DeprecationWarning, match="^Joint.bounded has moved; use Joint.is_bounded$"):
        assert joint.bounded is joint.is_bounded
    with pytest.warns(DeprecationWarning, match=r"JointKind.reordered has .* JointKind.reorder$"):
        assert wd.description.KINDS["ball"].reordered("xyzw", "wxyz") == tuple("wxyz")
    with pytest.warns(DeprecationWarning, match=r"HeightMap.generated .* HeightMap.generate$") as v:
        rough = wd.HeightMap.generated("rough", 0.2)
    assert np.array_equal(rough.heights, wd.HeightMap.generate("rough", 0.2).heights)
    assert {each.filename for each in (*w, *v)} == {__file__}


def test_listing_members_gives_no_warning() -> None:
    """Tools that list the members of a class read old names too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inspect.getmembers(wd.HeightMap)
        inspect.getmembers(wd.Params)


@pytest.mark.parametrize(
    ("old", "new"), [("Deployed", "DeployedPolicy"), ("shipped", "bundled_policy")]
)
def test_old_names_of_the_room(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^wd\.rl\.{old} has moved; use wd\.rl\.{new}$"):
        assert getattr(rl, old) is getattr(rl, new)
    assert old not in rl.__all__ and new in rl.__all__
