"""Distances of pairs of collision shapes."""

from __future__ import annotations

from collections.abc import Sequence

from ...algorithms.simulation import pair_distances as _distances
from ...algorithms.simulation.contact_shapes import ContactPair
from ...arrays import A, Array
from ...execution.batched import batched
from ...execution.request.call import Call
from ...model import Model
from ...model.params import Params
from .pair_arrays import checked_pairs, refusing_still_pairs


@batched
def pair_distances(
    model: Model,
    q: Array[A],
    *,
    pairs: Sequence[ContactPair],
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Distances of the surfaces of pairs of collision shapes, for planning.

    q: (B, nq).  pairs: of a `ContactPairs`. Returns (B, pairs): distances [m], negative where the
    shapes overlap, with an error of 1e-6 m at most in float64. Where meshes overlap deeply, the
    depth may be that along another normal. Cylinders are prisms and meshes convex hulls, as
    `ContactPairs` describes. A derivative is that of the present nearest points.

    ValueError: a pair is within one rigid body.  Source: Gilbert, Johnson, Keerthi, IEEE J. Robotics
    and Automation 4 (1988), for boxes and meshes; Ericson, Real-Time Collision Detection (2005),
    section 5.1.9, for capsules.
    """
    chosen = checked_pairs(model, pairs)
    return Call.of(
        _distances.pair_distances,
        model,
        {"q": q},
        out=out,
        options=(("pairs", chosen),),
        shapes={"out": (len(chosen),)},
        params=params,
        refuse=refusing_still_pairs(chosen),
    )
