"""Old names of members still work, report the new names, and can be overridden as before."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn import rl

OUT, IN = rl.Episode({"q": np.array([2.0, 0.0])}), rl.Episode({"q": np.zeros(2)})


class CartOnRail(rl.CartpoleSwingUp):
    """Its episodes end where the cart is far from the middle; the method has the new name."""

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return abs(s.q[0]) > 1.0


def test_an_old_name_calls_the_renamed_member() -> None:
    """This holds for an object of the class that defines the member, and of a subclass."""
    for task in (CartOnRail(), type("Same", (CartOnRail,), {})()):
        with pytest.warns(
            DeprecationWarning, match=r"\.ended has moved; use \w+\.is_terminal$"
        ) as w:
            assert task.ended(None, OUT) and not task.ended(None, IN)
        assert {each.filename for each in w} == {__file__}


def test_a_task_that_overrides_an_old_name_still_works() -> None:
    """It overrides `ended`, and may call the base class by that name."""
    with pytest.warns(
        DeprecationWarning, match=r"^Older\.ended has moved; use Older\.is_terminal$"
    ) as w:

        class Older(CartOnRail):
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


def test_old_names_of_draws_and_results_work() -> None:
    """They are members of named tuples, and a property."""
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


def test_old_names_of_the_model_work() -> None:
    """They are methods, a property and a class method."""
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
    """Tools that list the members of a class also read old names."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inspect.getmembers(wd.HeightMap)
        inspect.getmembers(wd.Params)


@pytest.mark.parametrize(
    ("old", "new"), [("Deployed", "DeployedPolicy"), ("shipped", "bundled_policy")]
)
def test_old_names_of_wd_rl_work(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^wd\.rl\.{old} has moved; use wd\.rl\.{new}$"):
        assert getattr(rl, old) is getattr(rl, new)
    assert old not in rl.__all__ and new in rl.__all__
