"""A user's kernel as control law: its arrays and its checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import prod
from typing import Any

import numpy as np

from warpdyn.model import Model
from warpdyn.user_kernels.loading import load_kernel, missing_options, read_options
from warpdyn.user_kernels.own_kernel import OwnKernel
from warpdyn.user_kernels.signature import Shape

from ..settings.law_settings import LAWS
from ..settings.node_settings import DEFAULTS, Settings
from ..states.state import State
from .device_launch import bound_on
from .payload import Payload, remark_on_mass

ROWS = {
    "q": ("nq",),
    "v": ("nv",),
    "q_desired": ("nq",),
    "v_desired": ("nv",),
    "a_desired": ("nv",),
    "q_posture": ("nq",),
    "pose_desired": (7,),
    "pose_compliant": (7,),
    "twist_compliant": (6,),
    "acceleration_compliant": (6,),
    "contact_wrench": (6,),
    "f_ext": ("nlinks", 6),
    "gravity": (3,),
}
"""Arrays that the node fills itself, by the names that a law gives them, and their shapes."""


class Law:
    """The kernel of `law` for some robots of one model, with the arrays that it reads.

    `inputs` are its inputs by name. Those that the node does not fill are parameters
    `law_inputs.<name>`, with the defaults of the kernel.
    """

    def __init__(
        self, model: Model, settings: Settings, state: State, gravity: np.ndarray, payload: Payload
    ) -> None:
        self.kernel = kernel_of_law(settings.law)
        self._model, self._state, self._device = model, state, settings.device
        try:
            self.options = read_options(self.kernel, settings.law_options)
        except ValueError as error:
            raise ValueError(f"law_options: {error}") from None
        if missing := missing_options(self.kernel, self.options):
            raise ValueError(f"law {settings.law} needs law_options: {missing[0]}=...")
        # Views of the state, not copies: the kernel's inputs follow each new state.
        rows = {
            "q": state.q,
            "v": state.v,
            "q_desired": state.q_desired,
            "v_desired": state.v_desired,
            "a_desired": state.a_desired,
            "q_posture": state.q_desired,
            "pose_desired": state.pose_desired,
            "pose_compliant": state.pose_compliant,
            "twist_compliant": state.twist_compliant,
            "acceleration_compliant": state.acceleration_compliant,
            "contact_wrench": state.contact_wrench,
            "f_ext": state.wrench,
            "gravity": gravity,
        }
        self.inputs: dict[str, np.ndarray] = {}
        for name, each in self.kernel.signature.arrays.items():
            if name in ROWS and each.shape != ROWS[name]:
                raise ValueError(
                    f"law {settings.law}: {name} comes from the node with shape {ROWS[name]}, not "
                    f"{each.shape}; give it another name to have it as a parameter"
                )
            lead = () if each.serves_all else (len(state.q),)
            new = np.zeros((*lead, *each.sizes(model)))
            self.inputs[name] = rows[name] if name in ROWS else new
        compliant = {
            "pose_compliant",
            "twist_compliant",
            "acceleration_compliant",
            "contact_wrench",
        }
        virtual = {"virtual_mass", "virtual_damping", "virtual_stiffness", "pose_desired"}
        if compliant & self.inputs.keys() and not virtual <= self.inputs.keys():
            raise ValueError(
                f"law {settings.law} reads {', '.join(sorted(compliant & self.inputs.keys()))}: it needs the "
                f"arguments {', '.join(sorted(virtual))} too"
            )
        self.frame = self._frame(settings)
        """The link whose target pose it reads, if any."""
        self.values = self._values(settings)
        """The inputs that are parameters, for one robot; another array for another value."""
        self._write(self.values)
        self._check_result(settings, payload)

    @property
    def tracks(self) -> bool:
        """True if it reads a wanted position, from which the robot must not be too far."""
        return "q_desired" in self.inputs

    @property
    def follows(self) -> bool:
        """True if it reads the positions of ~/reference, which it tracks or takes as a posture."""
        return bool({"q_desired", "q_posture"} & self.inputs.keys())

    @property
    def is_compliant(self) -> bool:
        """True if its frame follows a virtual body under a measured force."""
        return "pose_compliant" in self.inputs

    def _frame(self, settings: Settings) -> str | None:
        """The link of `pose_desired`: the law's option `frame`."""
        if "pose_desired" not in self.inputs:
            return None
        frame = self.options.get("frame")
        if not isinstance(frame, str):
            raise ValueError(
                f"law {settings.law} reads pose_desired: it needs an option frame, the link that the "
                "pose is of"
            )
        if frame not in self._model.link_names:
            links = ", ".join(self._model.link_names[:40])
            raise ValueError(
                f"law_options frame={frame}: {self._model.name} has no such link; it has {links}"
            )
        return frame

    def bind(self, payload: Payload) -> Callable[[], object]:
        """A function that computes the torques of the state with a payload."""
        return bound_on(
            self._device,
            self.kernel,
            self._model,
            self.inputs,
            self._state.torque,
            tuple(self.inputs),
            payload.params,
            self.options,
            single=len(self._state.q) == 1,
        )

    def check(self, settings: Settings) -> None:
        """Raise ValueError if these settings do not fit the law."""
        self._values(settings)

    def change(self, settings: Settings) -> None:
        """Use these inputs from the next launch on. An input whose parameter has not changed is kept."""
        news = {
            name: value
            for name, value in self._values(settings).items()
            if not np.array_equal(value, self.values[name])
        }
        self.values = {**self.values, **news}
        self._write(news)

    def _values(self, settings: Settings) -> dict[str, np.ndarray]:
        """The inputs that are parameters, for one robot."""
        if settings.gravity != DEFAULTS.gravity and "gravity" not in self.inputs:
            raise ValueError(
                f"gravity is {list(settings.gravity)}, but law {settings.law} has no argument "
                "gravity: (3,) to hand on to the robot's functions"
            )
        # What the node does not fill itself is a parameter.
        others = inputs_of(self.kernel)
        for name in settings.law_inputs:
            if name not in others:
                raise ValueError(
                    f"law {settings.law} has no input {name!r} for law_inputs.{name}; it has "
                    f"{', '.join(others) or 'none'}"
                )
        values = {}
        for name in others:
            each = self.kernel.signature.arrays[name]
            shape = each.sizes(self._model)
            given = settings.law_inputs.get(name)
            if given is not None:
                values[name] = _in_shape(name, given, shape, each.shape)
            elif each.default is not None:
                values[name] = np.broadcast_to(np.asarray(each.default[0], dtype=float), shape)
            else:
                raise ValueError(
                    f"law {settings.law} needs the parameter law_inputs.{name}: "
                    f"{_count_in_words(shape, each.shape)}"
                )
        try:
            self.check_values(values)
        except ValueError as error:
            raise ValueError(f"law {settings.law}: {error}") from None
        return values

    def check_values(self, values: Mapping[str, np.ndarray]) -> None:
        """Raise ValueError for inputs that the law's module does not allow."""
        # Only the author knows which numbers are sensible: the module may define check_<law> and largest_<law>.
        if check := from_module_of(self.kernel, "check"):
            _run_check(check, values)
        check_largest(values, from_module_of(self.kernel, "largest") or {})

    def _write(self, values: dict[str, np.ndarray]) -> None:
        for name, value in values.items():
            self.inputs[name][...] = value

    def _check_result(self, settings: Settings, payload: Payload) -> None:
        """Raise ValueError unless the law returns one torque for each velocity. Nothing is compiled."""
        try:
            call = self.kernel.describe(
                self._model, **self.inputs, params=payload.params, **self.options
            )
        except Exception as error:  # a user's text: whatever it raises is to be told
            remark = remark_on_mass(self._model, payload)
            raise ValueError(f"law {settings.law}: {error}{remark}") from error
        shapes = [call.shapes[name] for name in call.results]
        if shapes != [(self._model.nv,)]:
            shown = ", ".join(map(str, shapes))
            raise ValueError(
                f"law {settings.law} must return one array of shape (nv,) = ({self._model.nv},), "
                f"the torques; got {shown}"
            )


def _run_check(check: Callable[..., object], values: Mapping[str, np.ndarray]) -> None:
    """Call `check_<law>`, whose every exception refuses the inputs."""
    try:
        answer = check(values)
    except ValueError:
        raise
    except Exception as error:  # it is a user's text, and must not stop a robot
        raise ValueError(f"{check.__name__} raises {type(error).__name__}: {error}") from error
    if answer is not None:
        raise ValueError(
            f"{check.__name__} must raise a ValueError for inputs that it does not allow, and return "
            f"nothing; it returned {answer!r}"
        )


def check_largest(inputs: Mapping[str, np.ndarray], largest: Mapping[str, float]) -> None:
    """Raise ValueError for an input with a number that is too large, of either sign, or for a name
    that is not among the inputs."""
    for name, most in largest.items():
        if name not in inputs:
            raise ValueError(
                f"{name} has a largest number and is not an input, which are {', '.join(inputs) or 'none'}"
            )
        size = np.abs(inputs[name]).max()
        if not size <= most:
            raise ValueError(f"{name} must be at most {most:g}, got {size:g}: is its unit right?")


def _in_shape(
    name: str, given: tuple[float, ...], shape: tuple[int, ...], declared: Shape
) -> np.ndarray:
    """The numbers of a parameter in an input's shape: row by row; one for all joints; or the diagonal
    of a square matrix."""
    if len(given) == prod(shape):
        return np.reshape(given, shape)
    if len(given) == 1 and declared in (("nq",), ("nv",)):
        return np.full(shape, given[0])
    if len(shape) == 2 and shape[0] == shape[1] == len(given):
        return np.diag(given)
    raise ValueError(
        f"law_inputs.{name} must be {_count_in_words(shape, declared)}, shape {shape} row by row; got "
        f"{len(given)}"
    )


def input_in_shape(name: str, numbers: tuple[float, ...], law: Law) -> np.ndarray:
    """The numbers of an input in its shape; ValueError if there are too many or too few."""
    declared = law.kernel.signature.arrays[name]
    value = law.values[name]
    return _in_shape(name, numbers, value.shape, declared.shape)


def _count_in_words(shape: tuple[int, ...], declared: Shape) -> str:
    """The count of numbers that give an input of this shape, in words."""
    if declared in (("nq",), ("nv",)):
        return f"{prod(shape)} numbers, or one for all joints"
    if len(shape) == 2 and shape[0] == shape[1]:
        return f"{prod(shape)} numbers, or {shape[0]} for its diagonal"
    return f"{prod(shape)} numbers"


def from_module_of(kernel: OwnKernel, prefix: str) -> Any:
    """`check_<law>` or `largest_<law>` of the module that defines the law; None if it has none."""
    return kernel.text.__globals__.get(f"{prefix}_{kernel.__name__}")


@cache
def kernel_of_law(law: str) -> OwnKernel:
    """The kernel of that name, read once; ValueError if there is none."""
    if law not in LAWS and ":" not in law:
        raise ValueError(
            f"law must be one of {', '.join(LAWS)}, or your own kernel, such as "
            f"package.module:name or /path/file.py:name; got {law!r}"
        )
    try:
        return load_kernel(LAWS.get(law, law))
    except (ValueError, ImportError) as error:
        raise ValueError(f"law: {error}") from error


def inputs_of(kernel: OwnKernel) -> list[str]:
    """The arrays of a kernel that are parameters of the node."""
    return [name for name in kernel.signature.arrays if name not in ROWS]
