"""Heights of the ground around a robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algorithms.simulation import height_scan as _height_scan
from ...arrays import A, Array, views
from ...arrays.libraries import NUMPY, library_of
from ...execution.batched import batched
from ...execution.request.call import Call
from ...execution.request.inputs import PLAIN, TABLE
from ...model import Model
from ...model.params import Params
from ..frame_options import of_link
from .terrain import TABLES, HeightMap, Plane, terrain_arrays


@batched
def height_scan(
    model: Model,
    q: Array[A],
    pattern: Any,
    *,
    terrain: HeightMap | Plane | None = None,
    frame: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Heights of a frame's origin above the ground under the points of a pattern.

    q: (B, nq) [m, rad].  pattern: (n, 2) or (B, n, 2), x and y [m] from the frame's origin, in
    level axes that turn about the vertical with the frame's x axis; lists, or an array of NumPy or
    of q's library.
    frame: a link; None: the root. terrain: as in `step`.
    Returns (B, n) [m], negative where the ground is above the frame.
    Bilinear between the nodes of a height map.
    """
    is_plain = not hasattr(pattern, "shape")
    points = np.asarray(pattern, dtype=float) if is_plain else pattern
    shape = tuple(points.shape)[-2:]
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(f"pattern must be (n, 2), x and y of each point, got {points.shape}")
    of_numpy = isinstance(points, np.ndarray) and views.is_array(q)
    if of_numpy and (is_plain or library_of(q) is not NUMPY):
        points = library_of(q).convert_like(points, q.dtype, q)
    more = terrain_arrays(model, terrain, (), q)
    link = model.link_names[0] if frame is None else frame
    return Call.of(
        _height_scan.height_scan,
        model,
        {"q": q, "pattern": points, **{name: array for name, (array, _) in more.items()}},
        out=out,
        options=(*of_link(model, link), ("arrays", tuple(more))),
        shapes={"pattern": shape, **{name: shape for name, (_, shape) in more.items()}},
        params=params,
        arguments={name: TABLE if name in TABLES else PLAIN for name in more},
    )
