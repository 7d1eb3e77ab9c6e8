"""Old names of members of classes, which still work, and the warning about any old name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
        if instance is None:  # a tool lists the members of a class, or a class method is called
            method = getattr(owner, self.new)
            return self._with_warning(method, owner) if inspect.ismethod(method) else self
        self._warn(owner)
        member = inspect.getattr_static(self.defined_in or owner, self.new)
        return member.__get__(instance, owner)

    def _with_warning(self, method: Callable[..., Any], owner: type) -> Callable[..., Any]:
        """The class method of the new name, which warns at each call."""

        # Without a docstring, so that the API pages do not list the old name.
        def call(*arguments: Any, **options: Any) -> Any:
            self._warn(owner)
            return method(*arguments, **options)

        return call

    def _warn(self, owner: type) -> None:
        name = owner.__name__
        warn_of_old_name(f"{name}.{self.old}", f"{name}.{self.new}", level=4)


def accept_old_override(cls: type, old: str, new: str) -> None:
    """Let a new class override a method by its old name, and give its method under both names."""
    if old in vars(cls):
        warn_of_old_name(f"{cls.__name__}.{old}", f"{cls.__name__}.{new}", level=4)
        setattr(cls, new, vars(cls)[old])
    elif new in vars(cls):
        setattr(cls, old, OldMember(old, new, cls))


def warn_of_old_name(old: str, new: str, level: int = 3) -> None:
    """Warn that a name has moved, `level` frames above: 3 is the caller of the function that calls this one."""
    warn(f"{old} has moved; use {new}", DeprecationWarning, stacklevel=level)
