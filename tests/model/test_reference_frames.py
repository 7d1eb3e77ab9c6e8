"""The three references of a spatial vector: names and aliases."""

from __future__ import annotations

import pytest

from warpdyn.model.reference_frames import ALIASES, REFERENCES, one_of, reference_of


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_and_its_aliases_give_its_name(name: str) -> None:
    """And so is what an alias of it leads to."""
    assert reference_of(name) == name
    assert {reference_of(alias) for alias, meant in ALIASES.items() if meant == name} == {name}


def test_an_alias_is_accepted_only_where_its_name_is() -> None:
    """If a choice is not offered, its alias is refused."""
    assert reference_of("mixed", choices=("local_world_aligned",)) == "local_world_aligned"
    with pytest.raises(ValueError, match="reference must be one of local, body; got 'mixed'"):
        reference_of("mixed", choices=("local",))


@pytest.mark.parametrize("wrong", ["LOCAL", "", None, 3])
def test_unknown_references_are_refused(wrong: object) -> None:
    """The message lists the choices."""
    with pytest.raises(ValueError, match="form must be one of a, b; got "):
        one_of("form", wrong, ("a", "b"))  # type: ignore[arg-type]
    assert one_of("form", "a", {"a": 1}) == "a"
