"""The robot in a user's kernel, with every public function of a model as a method for one robot."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..execution.public_functions import FIELD_WORDS, FUNCTIONS, PublicFunction
from ..execution.request.call import Call, gather, input_shapes
from ..execution.request.evaluate import evaluate, record_call
from ..model import Model
from ..model.lumping import build_tree
from ..model.names import suggestion
from ..model.params import Params
from ..model.quantities import SHAPES
from ..model.structure import Structure
from ..model.tree import Tree
from ..model.value_substitution import substitute_values
from ..recording.program import shape_of
from .arithmetic import ZERO
from .refusals import refuse
from .table_lookups import LookupTable
from .values import Values, nest_entries, objects, of, values_of_nested

if TYPE_CHECKING:
    from .robot_methods import RobotMethods
else:
    RobotMethods = object


SINGLE = 2.0**-25
"""Smaller constants are noise in float32."""


class OneRobot(RobotMethods):
    """One robot, while its kernel is recorded.

    Its methods are warpdyn's functions of a model, with the same arguments except the model,
    `params` and `out`. They return the result of one environment. Its attributes are those of the
    model: `nq`, `nv`, `joint_names`, `link_names`, `position_lower` ...
    """

    def __init__(self, model: Model, tree: Tree, env: Any, params: Params | None):
        if not (isinstance(model, Model) and isinstance(tree, Tree)):
            wrong = tree if isinstance(model, Model) else model
            raise TypeError(
                f"kernels.Robot needs a Model and its tree, got {wrong!r}. Only a kernel makes one: "
                "@wd.kernel passes it to your function. Load a robot with wd.load_robot(name)"
            )
        self._model, self._tree, self._env, self._params = model, tree, env, params
        self.asked_for_env = False

    @property
    def env(self) -> Values:
        """The index of the environment, from 0."""
        self.asked_for_env = True
        return of(self._env)

    def with_values(self, **quantities: Mapping[str, Any]) -> OneRobot:
        """The same robot with other numbers than the model's, by quantity and link or joint:
        `robot.with_values(mass={"hand": s.mass})`; quantities and shapes as in `model.params`."""
        names = {quantity: tuple(values) for quantity, values in quantities.items()}
        made = {
            q: [nest_entries(objects(x)) for x in each.values()] for q, each in quantities.items()
        }
        tree = build_tree(substitute_values(self._model, names, made)).regroup().snap(SINGLE)
        arrays = {q: np.zeros((len(k), *SHAPES[q])) for q, k in names.items()}
        return OneRobot(self._model, tree, self._env, Params(self._model, arrays, names))

    @property
    def total_mass(self) -> Any:
        """Mass of all links [kg]; a value if mass is among the `params`."""
        masses = [body.inertia.mass for body in self._tree.bodies]
        total: Any = self._tree.ground.mass
        for mass in masses:
            total = total + mass
        return total if isinstance(total, float) else of(total)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in FUNCTIONS:
            return _method(self, FUNCTIONS[name])
        known = getattr(self._model, name, None)
        if known is not None and not name.startswith("with_"):
            return known
        meant = FIELD_WORDS.get(name)
        near = [meant] if meant in FUNCTIONS else get_close_matches(name, self.__dir__(), n=3)
        refuse(f"a robot has no {name!r}{suggestion(near)}")

    def __dir__(self) -> list[str]:
        return sorted([*FUNCTIONS, *(n for n in dir(self._model) if not n.startswith("_")), "env"])

    def __repr__(self) -> str:
        return f"<robot {self._model.name}, nq = {self._model.nq}, nv = {self._model.nv}>"

    def carried_out(self, function: PublicFunction, *args: Any, **options: Any) -> Any:
        """A function's result for this robot."""
        for name in ("params", "out"):
            if options.get(name) is not None:
                refuse(
                    f"{name}= belongs to the call of the kernel, not to robot.{function.__name__}"
                )
        given = (self._model, *args) if function.of_a_model else args
        if self._params is not None and "params" in inspect.signature(function).parameters:
            options = {**options, "params": self._params}
        # Varied numbers are already in the tree; a function may only ask which ones they are.
        call = function.describe(*given, **options)
        call = call if call.params is None else replace(call, params=None)
        inputs, arrays = gather(call)
        values: dict[str, Any] = {}
        for name, x in inputs.items():
            if x.table:
                values[name] = _table(call.name, name, arrays[name])
                continue
            entries = objects(arrays[name])
            if entries.shape != x.shape:
                sizes = f"({x.sizes}) = " if x.sizes else ""
                refuse(
                    f"robot.{call.name}: {x.label} must be {sizes}{x.shape}, got {entries.shape}"
                )
            values[name] = nest_entries(entries)
        if call.refuse:
            call.refuse(self._model)
        results = evaluate(_shortest(call, self._params), values, tree=self._tree)
        made = [
            with_structural_zeros(
                values_of_nested(result, call.shapes.get(name) or shape_of(result))
            )
            for name, result in results.items()
        ]
        if len(made) > 1:
            return tuple(made) if call.named is None else call.named(*made)
        return made[0] if call.named is None else call.named(*made)


def with_structural_zeros(values: Values) -> Values:
    """The values of a robot's result, with zeros that sums and products leave out."""
    entries = values.entries
    for k, x in enumerate(entries.flat):
        if isinstance(x, float) and x == 0:
            entries.flat[k] = ZERO
    return values


def _table(function: str, name: str, array: Any) -> Any:
    if not isinstance(array, LookupTable):
        refuse(
            f"robot.{function}: {name} must be an argument of the kernel: "
            f"{name}: wd.kernels.table((rows, columns))"
        )
    return array.table


def _method(robot: OneRobot, function: PublicFunction) -> Callable[..., Any]:
    """A function as a method of a robot, with its signature and docstring for `help`."""

    def method(*args: Any, **options: Any) -> Any:
        return robot.carried_out(function, *args, **options)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    parameters = inspect.signature(function).parameters.values()
    rest = [each for each in parameters if each.name not in ("model", "params", "out")]
    method.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
    return method


_chosen: WeakKeyDictionary[Structure, dict[tuple, int]] = WeakKeyDictionary()


def _shortest(call: Call, params: Params | None) -> Call:
    """The call with only the algorithm that gives the shortest program for the robot."""
    if len(call.algorithms) == 1:
        return call
    known, whole = _chosen.setdefault(call.model, {}), replace(call, params=params)
    shapes = input_shapes(whole)
    key = (*whole.key, *shapes)
    if key not in known:
        lengths = [
            record_call(replace(whole, algorithms=(each,)), shapes, True).operations
            for each in call.algorithms
        ]
        known[key] = lengths.index(min(lengths))
    return replace(call, algorithms=(call.algorithms[known[key]],))
