"""Functions bound to arrays on the host that run on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from warpdyn.execution.batched import bind, bind_single
from warpdyn.model import Model
from warpdyn.model.params import Params


class DeviceLaunch:
    """Each call copies the inputs named in `fresh`, and the arrays of `params`, to the device,
    launches, and copies the result to `out`.

    inputs: float64 arrays on the host, by argument of `function`. The copies on the device are
    `arrays`.
    """

    def __init__(
        self,
        function: Any,
        model: Model,
        device: str,
        inputs: Mapping[str, np.ndarray],
        out: np.ndarray,
        fresh: Sequence[str],
        params: Params | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.arrays: dict[str, Any] = {
            name: wp.array(x, dtype=wp.float64, device=device) for name, x in inputs.items()
        }
        self._fresh = [(self.arrays[name], inputs[name]) for name in fresh]
        self._out = out
        self._result = wp.zeros(out.shape, dtype=wp.float64, device=device)
        if params is not None:
            loads: dict[str, Any] = {
                name: wp.array(params[name], dtype=wp.float64, device=device)
                for name in params.arrays
            }
            self._fresh += [(loads[name], params[name]) for name in loads]
            params = params.replace(**loads)
        self._launch = bind(
            function, model, **self.arrays, **(options or {}), params=params, out=self._result
        )

    def __call__(self) -> None:
        for copy, host in self._fresh:
            copy.assign(host)
        self._launch()
        self._out[:] = self._result.numpy()


def bound_on(
    device: str,
    function: Any,
    model: Model,
    inputs: Mapping[str, np.ndarray],
    out: np.ndarray,
    fresh: Sequence[str],
    params: Params | None = None,
    options: Mapping[str, Any] | None = None,
    single: bool = False,
) -> Callable[[], object]:
    """`function` bound to arrays on the host: in place on the CPU, else a `DeviceLaunch`.

    single: there will never be more than one robot; on the CPU its kernel is then a scalar one, after
    which the rest of a cycle runs no slower.
    """
    if device == "cpu":
        bound = bind_single if single else bind
        return bound(function, model, **inputs, **(options or {}), params=params, out=out)
    return DeviceLaunch(function, model, device, inputs, out, fresh, params, options)
