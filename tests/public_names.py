"""The public API: the names of `wd`, and those of its namespaces."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import warpdyn as wd


def public_names() -> dict[str, Any]:
    """Each public object by its name after `wd.`: `rnea`, `convert`, `convert.twist`."""
    public: dict[str, Any] = {name: getattr(wd, name) for name in wd.__all__}
    for space in [name for name, each in public.items() if isinstance(each, ModuleType)]:
        names = getattr(public[space], "__all__", ())
        public |= {f"{space}.{name}": getattr(public[space], name) for name in names}
    return public
