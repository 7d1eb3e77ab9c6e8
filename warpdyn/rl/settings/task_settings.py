"""Settings of a task and of its recipe by text, such as `scales.turn=1.0` and
`vary.mass=0.8,1.2,how=scale`.

A setting acts like an attribute of a subclass: the task's constructor sees it. Therefore numbers
that the constructor computes from it follow it.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from inspect import isclass
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from ...model.names import spelling_hint
from ...model.old_members import OldMember
from ...model.regular_files import RefusedFileError, read_regular_file
from ..recipe import Recipe
from ..reward import Reward
from ..task import Task, TaskError
from ..tasks import construct, source
from ..variation import ORIGIN, HeldPush, Noise, Push, Vary
from ..varied_simulation import DRIVEN, OF_MODEL, OF_PAIRS, QUADRATIC, SENSORS, TOUCHED
from .setting_values import as_present, checked_name, literal, of_type, record

RECORDS: Mapping[str, type] = {"vary": Vary, "noise": Noise}
"""Dictionaries of a task whose entries are records, which may also be added and removed."""

FIXED = (
    "model",
    "points",
    "pairs",
    "terrain",
    "groups",
    "tables",
    "actions",
    "commanded",
    "passive_forces",
    "name",
    "step_seconds",
    "settings_of",
)
"""Attributes that text cannot change."""

VARIABLE = (
    "gravity",
    "latency",
    QUADRATIC,
    ORIGIN,
    *SENSORS,
    *DRIVEN,
    *TOUCHED,
    *OF_PAIRS,
    *OF_MODEL,
)
"""Names of the numbers of a simulation that may vary."""

LARGEST = 2**20
"""Largest size of a recipe's file in bytes."""


class Setting(NamedTuple):
    """One setting: its name and words after the dots, and its text."""

    path: str
    text: str

    @property
    def root(self) -> str:
        """The attribute of the task."""
        return self.path.partition(".")[0]

    @property
    def entry(self) -> str:
        """The words after the attribute."""
        return self.path.partition(".")[2]


def make_with_settings(
    name: str,
    words: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    *,
    recipe: Path | None = None,
) -> Task:
    """The task with this name, as `make` gives it, and with settings.

    words: texts NAME=VALUE. Settings that begin with `recipe.` change the task's recipe, after the
    numbers of the file `recipe`. options: of the constructor. TaskError: a setting does not exist
    or has another type.
    """
    settings, options = [_read(word) for word in words], options or {}
    found: Any = source(name)
    early = [x for x in settings if isclass(found) and _is_of_class(found, x)]
    kind = _subclass(found, early) if early else found
    task = construct(name, kind, options)
    # The constructor may set such an attribute itself: then the setting comes after it.
    lost = [x for x in early if x.root in vars(task)]
    if lost:
        plain = construct(name, _subclass(found, [x for x in early if x not in lost]), options)
        lost = [x for x in lost if repr(_value(task, x)) == repr(_value(plain, x))]
    if recipe is not None:
        task.recipe = recipe_from_file(recipe, task.recipe)
    for setting in settings:
        if setting not in early or setting in lost:
            setattr(task, setting.root, _new_value(task, setting))
    return task


def settings_of(task: Task) -> dict[str, Any]:
    """All settings of a task by name, with their current values."""
    return dict(_settings(task))


def recipe_from_file(path: Path, recipe: Recipe) -> Recipe:
    """A recipe with the numbers of a TOML or JSON file: the names of `Recipe`'s fields.

    TaskError: the file cannot be read, or it names a field that does not exist.
    """
    try:
        data = read_regular_file(path, LARGEST, "name a TOML or JSON file of a recipe").decode()
        found = _json(data) if path.suffix == ".json" else _toml(path, data)
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror}") from None
    except (RefusedFileError, ValueError) as error:
        raise TaskError(f"{path} is not a recipe: {error}") from None
    if not isinstance(found, dict):
        raise TaskError(f"{path} is not a recipe: it holds a {type(found).__name__}, not names")
    return recipe_with(recipe, found)


def recipe_with(recipe: Recipe, numbers: Mapping[str, Any]) -> Recipe:
    """A recipe with other numbers, checked by their types."""
    hints = get_type_hints(Recipe)
    names = [field.name for field in fields(Recipe)]
    changed: dict[str, Any] = {}
    for name, x in numbers.items():
        checked_name("recipe", name, names)
        if name == "practice":
            if x is not None and not isinstance(x, Mapping):
                raise TaskError(
                    f"recipe.practice must be attributes of the task by name, got {x!r}"
                )
            changed[name] = dict(x or {})
        else:
            changed[name] = of_type(f"recipe.{name}", x, hints[name])
    return replace(recipe, **changed)


def _read(word: str) -> Setting:
    path, equals, text = word.partition("=")
    if not equals or not path.strip():
        raise TaskError(f"settings are NAME=VALUE, such as scales.turn=1.0; got {word!r}")
    return Setting(path.strip(), text.strip())


def _is_of_class(kind: type, setting: Setting) -> bool:
    """True if the class itself has the attribute and the entry."""
    if not hasattr(kind, setting.root) or setting.root == "recipe":
        return False
    present, (entry, _, field) = getattr(kind, setting.root), setting.entry.partition(".")
    if isinstance(present, Mapping):
        is_new = setting.root in RECORDS and not field and literal(setting.text) is not None
        return not entry or entry in present or is_new
    return present is not None or setting.path == "push"


def _value(task: Task, setting: Setting) -> Any:
    """The part of an attribute that a setting changes."""
    present, entry = getattr(task, setting.root), setting.entry.partition(".")[0]
    return present.get(entry) if isinstance(present, Mapping) and entry else present


def _subclass(kind: type, settings: Sequence[Setting]) -> type:
    """The class with other attributes, under the same name."""
    there = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made = type(kind.__name__, (kind,), {**there, "settings_of": kind})
    for setting in settings:
        setattr(made, setting.root, _new_value(made, setting))
    return made


def _new_value(owner: Any, setting: Setting) -> Any:
    """The attribute of a task or of its class after a setting."""
    root, entry, path = setting.root, setting.entry, setting.path
    if root in FIXED:
        raise TaskError(f"{path} cannot be changed as text: write a subclass of the task")
    if not hasattr(owner if isclass(owner) else type(owner), root) or root.startswith("_"):
        raise _unknown(owner, path)
    present, value = getattr(owner, root), literal(setting.text)
    if root == "recipe":
        return _recipe_after(owner, present, setting)
    if not entry:
        return _whole(owner, path, present, value)
    if root in RECORDS:
        return _records_after(owner, present, setting)
    if isinstance(present, Mapping):
        if entry not in present:
            raise _unknown(owner, path)
        return {**present, entry: _entry(path, value, present[entry])}
    if hasattr(present, "_fields"):
        hints = get_type_hints(type(present))
        field = checked_name(root, entry, present._fields)
        return present._replace(**{field: of_type(path, value, hints[field])})
    raise _unknown(owner, path)


def _whole(owner: Any, path: str, present: Any, value: Any) -> Any:
    """A whole attribute: a number, a word, or a record; `none` empties a dictionary."""
    if isinstance(present, Mapping):
        if value is None and path != "scales":
            return {}
        raise TaskError(
            f"{path} has entries: {', '.join(_entries(path, present))}; name one of them"
        )
    if path == "push":
        kind = HeldPush if isinstance(present, HeldPush) else Push
        return None if value is None else record(path, kind, value)
    if hasattr(present, "_fields"):
        return record(path, type(present), value)
    if callable(present) or not _is_plain(present):
        raise _unknown(owner, path)
    return as_present(path, value, present)


def _recipe_after(owner: Any, recipe: Recipe, setting: Setting) -> Recipe:
    """The recipe after `recipe.envs=512` or `recipe.practice.seconds=4`."""
    name, _, inner = setting.entry.partition(".")
    if name == "practice" and inner:
        if "." in inner or inner not in dict(_settings(owner)):
            raise _unknown(owner, setting.path)
        value = as_present(setting.path, literal(setting.text), getattr(owner, inner))
        return replace(recipe, practice={**recipe.practice, inner: value})
    if not name:
        raise _unknown(owner, setting.path)
    return recipe_with(recipe, {setting.entry: literal(setting.text)})


def _records_after(owner: Any, present: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    """`vary` or `noise` after an entry is changed, added, or removed."""
    name, _, field = setting.entry.partition(".")
    kind, value = RECORDS[setting.root], literal(setting.text)
    if field:
        if name not in present:
            raise _unknown(owner, setting.path)
        hints = get_type_hints(kind)
        field = checked_name(f"{setting.root}.{name}", field, list(kind._fields))  # type: ignore[attr-defined]
        changed = of_type(setting.path, value, hints[field])
        return {**present, name: present[name]._replace(**{field: changed})}
    if value is None:
        if name not in present:
            raise _unknown(owner, setting.path)
        return {n: x for n, x in present.items() if n != name}
    if setting.root == "vary" and name not in VARIABLE:
        raise _unknown(owner, setting.path)
    return {**present, name: record(setting.path, kind, value)}


def _entry(path: str, value: Any, present: Any) -> Any:
    if isinstance(present, Vary) and isinstance(value, list | tuple):
        return record(path, Vary, value)
    if isinstance(present, Reward):
        return present.with_weight(as_present(path, value, present.weight))
    return as_present(path, value, 0.0 if isinstance(present, Vary) else present)


def _settings(owner: Any) -> Iterator[tuple[str, Any]]:
    """Settings of a task or of its class, and their values."""
    for name in _attributes(owner if isclass(owner) else type(owner)):
        present: Any = getattr(owner, name, None)
        if isinstance(present, Recipe):
            yield from ((f"recipe.{x.name}", getattr(present, x.name)) for x in fields(present))
        elif isinstance(present, Mapping):
            entries = {n: x.weight if isinstance(x, Reward) else x for n, x in present.items()}
            yield from ((f"{name}.{entry}", x) for entry, x in entries.items())
        elif name == "push":
            yield name, present
        elif hasattr(present, "_fields"):
            yield from ((f"{name}.{field}", x) for field, x in present._asdict().items())
        elif present is not None and not callable(present) and _is_plain(present):
            yield name, present


def _attributes(kind: type) -> list[str]:
    """Attributes of a task's class that may be settings: without private, fixed and old ones."""
    members = [item for each in reversed(kind.__mro__) for item in vars(each).items()]
    names = dict.fromkeys(n for n, x in members if not isinstance(x, OldMember))
    return [n for n in names if not n.startswith("_") and n not in FIXED]


def _is_plain(present: Any) -> bool:
    """True for numbers, words, and tuples and arrays of numbers."""
    if isinstance(present, bool | int | float | str):
        return True
    try:
        return np.asarray(present).dtype.kind in "fiu" and np.ndim(present) <= 1
    except ValueError:
        return False


def _entries(path: str, present: Mapping[str, Any]) -> list[str]:
    return [f"{path}.{n}" for n in present] or [f"{path}.NAME"]


def _unknown(owner: Any, path: str) -> TaskError:
    there = [n for n, _ in _settings(owner)] + [f"vary.{n}" for n in VARIABLE]
    name = owner.__name__ if isclass(owner) else owner.name
    hint = spelling_hint(path, there) or f"; there are {', '.join(there)}"
    return TaskError(f"{name} has no setting {path!r}{hint}")


def _json(text: str) -> Any:
    """The values of a JSON text. ValueError: it has a name twice, of which `json` takes the last."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"it has {', '.join(twice)} twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


def _toml(path: Path, text: str) -> Any:
    if sys.version_info < (3, 11):
        raise ValueError("TOML needs Python 3.11; write it as JSON, recipe.json")
    if path.suffix != ".toml":
        raise ValueError(f"its ending must be .toml or .json, got {path.suffix!r}")
    return importlib.import_module("tomllib").loads(text)
