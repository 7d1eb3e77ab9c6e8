"""Limits, defaults and tolerances of a module that users meet in calls, messages and documentation."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def check_numbers(module: str, **numbers: Any) -> None:
    """Compare constants of a module of warpdyn with numbers. A change of one of them is a change
    for users and belongs in the changelog."""
    found = vars(import_module(f"warpdyn.{module}"))
    assert {name: found[name] for name in numbers} == numbers
