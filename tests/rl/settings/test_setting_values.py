"""Values of settings: from text to numbers, words, arrays and records."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

from warpdyn.rl.settings.setting_values import as_present, literal, of_type, record


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("-2", -2),
        ("none", None),
        ("True", True),
        ("uniform", "uniform"),
        ("1,2", (1, 2)),
        ("0.5,2,how=scale", [0.5, 2, "how=scale"]),
    ],
)
def test_text_is_parsed_as_a_number_a_word_or_a_list(text: str, value: Any) -> None:
    assert literal(text) == value


def test_a_value_is_converted_to_the_type_of_the_present_value() -> None:
    assert as_present("x", 3, 1.0) == 3.0 and isinstance(as_present("x", 3, 1.0), float)
    assert as_present("x", (1, 2), (3, 4)) == (1, 2)
    np.testing.assert_array_equal(as_present("x", (1, 2), np.zeros(2)), [1.0, 2.0])
    assert as_present("x", 0.25, np.array(0.1)) == 0.25
    assert as_present("x", None, None) is None


@pytest.mark.parametrize(
    ("value", "present", "said"),
    [
        (1.5, 2, "x must be a whole number, got 1.5"),
        (True, 2, "x must be a whole number, got True"),
        ("fast", 2.0, "x must be a number, got 'fast'"),
        (1, False, "x must be true or false, got 1"),
        (1, "word", "x must be a word, got 1"),
        ((1, 2, 3), np.zeros(2), "x must be 2 numbers separated by commas"),
        (("a", 2), np.zeros(2), "x must be 2 numbers separated by commas"),
        ("a", None, "x must be a number or none"),
    ],
)
def test_a_value_of_another_type_is_refused(value: Any, present: Any, said: str) -> None:
    with pytest.raises(rl.TaskError, match=said):
        as_present("x", value, present)


def test_a_record_takes_its_fields_in_order_and_by_name() -> None:
    made = record("vary.mass", rl.Vary, [0.8, 1.2, "how=scale", "of=arm_*"])
    assert made == rl.Vary(0.8, 1.2, how="scale", of="arm_*")
    assert record("push", rl.Push, 0.5) == rl.Push(0.5)
    assert record("vary.mass", rl.Vary, {"low": 1, "high": 2}) == rl.Vary(1.0, 2.0)
    for words, said in (
        ([0.8], "vary.mass needs high"),
        ([0.8, 1.2, "hwo=scale"], r"has no 'hwo'; did you mean 'how'\?"),
        ([0.8, 1.2, "how=scal"], r"vary.mass.how has no 'scal'; did you mean 'scale'\?"),
        ([0.8, "b"], "vary.mass.high must be a number, got 'b'"),
        ([1, 2, "uniform", "abs", "reset", 5, "*", 8], "takes at most low, high"),
        ([1, 2, "low=0.5"], "vary.mass has two values of low; got"),
        (["high=2", 3], "vary.mass has two values of high; got"),
    ):
        with pytest.raises(rl.TaskError, match=said):
            record("vary.mass", rl.Vary, words)


def test_a_value_is_converted_to_the_annotated_type() -> None:
    assert of_type("layers", [64, 32], tuple[int, ...]) == (64, 32)
    assert of_type("layers", 64, tuple[int, ...]) == (64,)
    assert of_type("x", None, float | None) is None
    assert of_type("x", 2, float | None) == 2.0
    assert of_type("x", "a", Literal["a", "b"]) == "a"
    with pytest.raises(rl.TaskError, match="x must be a whole number"):
        of_type("x", [64, 0.5], tuple[int, ...])


def test_a_domain_randomisation_is_chosen_by_name() -> None:
    """`recipe.vary=sim_to_real` or none. A user's own object passes unchanged."""
    hint = rl.DomainRandomization | None
    assert of_type("recipe.vary", "SIM_TO_REAL", hint) is rl.SIM_TO_REAL
    assert of_type("recipe.vary", None, hint) is None
    assert of_type("recipe.vary", "None", hint) is None  # TOML has no value for nothing
    own = rl.DomainRandomization(push=rl.Push(1.0))
    assert of_type("recipe.vary", own, hint) is own
    with pytest.raises(
        rl.TaskError, match=r"recipe\.vary has no 'sim2real'; did you mean 'sim_to_"
    ):
        of_type("recipe.vary", "sim2real", hint)
