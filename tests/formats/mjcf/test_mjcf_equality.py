"""MJCF: equality constraints as mimic joints or closed loops."""

from __future__ import annotations

import numpy as np
import pytest
from mjcf_texts import GRIPPER, MUJOCO, equality, free, load
from mujoco_peer import Peer
from states import error

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.formats.mjcf.mjcf_equality import _name
from warpdyn.formats.robot_source import xml_root
from warpdyn.model.description import Mimic
from warpdyn.model.names import ModelError, ModelWarning


def test_coupled_joints_are_mimic_joints() -> None:
    """Their motion is that of MuJoCo's full robot on the constraint, q1 - ref1 = c0 + c1 (q2 -
    ref2)."""
    model, full = load(GRIPPER), load(free(GRIPPER))
    assert model.joint_names == ("turn", "lead") and full.nv == 5
    assert model.joint("follow").mimic == Mimic("lead", -1.5, -0.1 + 0.05 + 1.5 * 0.2)
    q, v = np.array([0.3, 0.7]), np.array([0.4, -0.9])
    follow = -0.1 + 0.05 - 1.5 * (0.7 - 0.2)
    by_name = {"turn": 0.3, "lead": 0.7, "follow": follow, "tip": follow + 0.1, "held": 0.03}
    rates = {"turn": [1, 0], "lead": [0, 1], "follow": [0, -1.5], "tip": [0, -1.5], "held": [0, 0]}
    all_q = np.array([by_name[name] for name in full.q_names])
    G = np.array([rates[name] for name in full.v_names], dtype=float)
    peer = Peer(free(GRIPPER), full)
    assert error(wd.oracle(wd.crba, model, q), G.T @ peer.mass_matrix(all_q, G @ v) @ G) < MUJOCO
    assert error(wd.oracle(wd.rnea, model, q, v, 0 * v), G.T @ peer.bias(all_q, G @ v)) < MUJOCO
    assert error(wd.oracle(wd.fk, model, q, frame="cap"), peer.pose(all_q, "cap")) < MUJOCO


LOOPS = (
    ('<connect body1="a" body2="b" anchor="0 0 0"/>', "closes a loop"),
    ('<weld name="w" body1="a" body2="b"/>', 'weld "w": this constraint closes a loop'),
    ('<tendon tendon1="t"/>', "couples tendons"),
    ('<joint joint1="p" joint2="q" polycoef="0 1 2 0 0"/>', 'joint "p" by more than a line'),
    ('<joint joint1="p" joint2="q"/><joint joint1="p"/>', 'is the second on joint "p"'),
)


@pytest.mark.parametrize(("inside", "said"), LOOPS)
def test_constraints_that_close_loops_are_kept_cut_or_refused(inside: str, said: str) -> None:
    """The refusal names the constraint and the two remedies. A tendon of many joints is never
    kept."""
    kept = "refuse" if "tendon" not in inside else "keep"
    with pytest.raises(ModelError, match=f'{said}.*loops="cut"'):
        load_mjcf(equality(inside), loops=kept)
    if "tendon" not in inside:
        with pytest.warns(ModelWarning, match="closed loops are kept"):
            assert len(load_mjcf(equality(inside)).loops) == 1
    with pytest.warns(ModelWarning, match="it is left out"):
        model = load_mjcf(equality(inside), loops="cut")
    assert model.nv == (1 if "second" in said else 2)


def test_only_hinge_and_slide_joints_can_be_coupled() -> None:
    """Both joints must be hinges or slides that exist."""
    text = equality('<joint joint1="p" joint2="q"/>')
    for key, name in (("joint1", "p"), ("joint2", "q")):
        ball = text.replace(f'<joint name="{name}"/>', f'<joint name="{name}" type="ball"/>')
        with pytest.raises(ModelError, match=f'its {key} "{name}" must be a hinge or a slide'):
            load(ball)
        with pytest.raises(ModelError, match=f'its {key} "x" does not exist'):
            load(text.replace(f'{key}="{name}"', f'{key}="x"'))
    with pytest.raises(ModelError, match="it has no joint1"):
        load(text.replace('joint1="p"', ""))


def test_a_constraint_of_one_joint_locks_the_joint() -> None:
    """The joint is at its reference plus the constant. An inactive constraint only gives a
    remark."""
    model = load(equality('<joint joint1="p" polycoef="0.4"/>'))
    assert model.joint_names == ("q",) and not model.joint("p").kind.nv
    with pytest.warns(ModelWarning, match="of <equality>, not active"):
        off = load_mjcf(equality('<joint joint1="p" joint2="q" active="false"/>'))
    assert off.joint_names == ("p", "q")


def test_missing_coefficients_of_polycoef_are_zero_and_slope_one() -> None:
    """polycoef of one number is the constant."""
    model = load(equality('<joint joint1="p" joint2="q" polycoef="0.1"/>'))
    assert model.joint("p").mimic == Mimic("q", 1.0, 0.1)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (
            '<joint joint1="p" polycoef="0.3"/>',
            'it holds joint "p" at 0.3, and another constraint at 0.1; remove one of the two (line 3)',
        ),
        (
            '<joint joint1="p" joint2="q" polycoef="0 0 1"/>',
            'it couples joint "p", which another constraint holds, to "q"; remove one of the two',
        ),
    ],
)
def test_contradicting_constraints_are_refused(second: str, said: str) -> None:
    with pytest.raises(ModelError) as refused:
        load(equality(f'\n<joint joint1="p" polycoef="0.1"/>\n{second}'))
    assert said in str(refused.value)


def test_redundant_constraints_are_accepted() -> None:
    held = '<joint joint1="p" polycoef="0.1"/><joint joint1="q" polycoef="0.3"/>'
    model = load(equality(f'{held}<joint joint1="p" joint2="q" polycoef="0.01 0.3"/>'))
    assert model.nv == 0 and model.loops == ()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (0.3, ""),
        (0.3 + 1.2e-9, ""),
        (0.3 + 1.6e-9, 'it holds joint "q" at 0.3, and another constraint at 0.3; remove one'),
        (0.35, 'it holds joint "q" at 0.35, and another constraint at 0.3; remove one of the two'),
    ],
)
def test_a_joint_that_follows_a_held_one_is_held(place: float, said: str) -> None:
    """A constraint that holds it elsewhere is refused, beyond a billionth of 1 + 0.3."""
    text = equality(
        '<joint joint1="p" polycoef="0.1"/><joint joint1="q" joint2="p" polycoef="0.1 2"/>'
        f'<joint joint1="q" polycoef="{place!r}"/>'
    )
    if said:
        with pytest.raises(ModelError) as refused:
            load(text)
        assert said in str(refused.value)
    else:
        model = load(text)
        assert model.nv == 0 and model.loops == ()


def test_solref_and_solimp_of_constraints_are_remarked() -> None:
    said = "ignored solref and solimp of <joint>, which is rigid here (line 1)"
    assert said in load(equality('<joint joint1="p" joint2="q" solref="0.1 1"/>')).warnings
    assert load(equality('<joint joint1="p" joint2="q"/>')).warnings == ()


NAMED = {
    'name="n" joint1="p" joint2="q"': "n",
    'joint1="p" joint2="q"': "p",
    'name="n" body1="a" body2="b"': "n",
    'body1="a" body2="b"': "a",
    'site1="x" site2="y"': "x",
    "": "",
}


@pytest.mark.parametrize("written", NAMED)
def test_remarks_name_a_constraint_by_its_name_or_its_first_part(written: str) -> None:
    (element,) = xml_root("text", f"<a><weld {written}/></a>".encode(), None, "<a>")
    name = NAMED[written]
    assert _name(element) == f"<weld> of <equality>{name and f' ({name})'}"


@pytest.mark.parametrize("name", ["bend", ""])
def test_a_kept_coupling_has_the_name_of_its_constraint(name: str) -> None:
    written = f'name="{name}"' if name else ""
    text = equality(f'<joint {written} joint1="p" joint2="q" polycoef="0 1 2"/>')
    with pytest.warns(ModelWarning, match="closed loops are kept"):
        (loop,) = load_mjcf(text).loops
    assert loop.name == name and (loop.first, loop.second) == ("p", "q")
