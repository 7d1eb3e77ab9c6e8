"""Old names of members of classes, which still work with a DeprecationWarning."""

from __future__ import annotations

import inspect
from typing import Any
from warnings import warn


class OldMember:
    """The old name of a method or property, which gives that member of an object with a warning.

    defined_in: the class whose own member it is; by default the class of the object. It makes
    `super().old()` the method of the class above.
    """

    def __init__(self, old: str, new: str, defined_in: type | None = None):
        self.old, self.new, self.defined_in = old, new, defined_in

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self  # a tool lists the members of a class
        warn_of_old_name(owner, self.old, self.new)
        member = inspect.getattr_static(self.defined_in or owner, self.new)
        return member.__get__(instance, owner)


def accept_old_override(cls: type, old: str, new: str) -> None:
    """Let a new class override a method by its old name, and give its method under both names."""
    if old in vars(cls):
        warn_of_old_name(cls, old, new, level=4)
        setattr(cls, new, vars(cls)[old])
    elif new in vars(cls):
        setattr(cls, old, OldMember(old, new, cls))


def warn_of_old_name(owner: type, old: str, new: str, level: int = 3) -> None:
    """Warn, at the line that uses the old name, that the member has a new one."""
    name = owner.__name__
    warn(f"{name}.{old} has moved; use {name}.{new}", DeprecationWarning, stacklevel=level)
