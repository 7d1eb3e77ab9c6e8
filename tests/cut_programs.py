"""Recorded programs that are cut into several warps (codegen/warp_cut)."""

from __future__ import annotations

import numpy as np
from robots import by_name

import warpdyn as wd
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program

CASES = (("panda", "rnea"), ("quadruped_floating", "aba"), ("quadruped_floating", "crba"))


def program_of(robot: str, function: str) -> Program:
    model = by_name(robot).model
    sizes = (model.nq,) if function in ("fk", "crba") else (model.nq, model.nv, model.nv)
    call = getattr(wd, function).describe(model, *(np.zeros((1, n)) for n in sizes))
    return record_call(call, input_shapes(call), True)
