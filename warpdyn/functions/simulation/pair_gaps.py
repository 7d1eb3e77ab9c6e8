"""Contact positions of pairs of shapes, and the gaps between the shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...algorithms.simulation import pair_gaps as _gaps
from ...algorithms.simulation.contact_shapes import ContactPair
from ...arrays import A, Array
from ...execution.batched import Function
from ...execution.request.call import Call
from ...model import Model
from ...model.params import Params
from .pair_arrays import checked_pairs, refusing_still_pairs


class PairGaps(NamedTuple):
    """Contacts of pairs, in the order of the pairs: positions (B, contacts, 3) in the world [m], and
    gaps (B, contacts), which are negative where shapes overlap [m]."""

    positions: Any
    gaps: Any


@Function  # of the viewer, not among the public functions
def pair_gaps(
    model: Model,
    q: Array[A],
    *,
    pairs: Sequence[ContactPair],
    params: Params | None = None,
    out: PairGaps | None = None,
) -> Call[PairGaps]:
    """Positions and gaps of all contacts of pairs of shapes.

    q: (B, nq). Returns `PairGaps`: pair k has `pairs[k].contacts` contacts.
    """
    chosen = checked_pairs(model, pairs)
    count = sum(pair.contacts for pair in chosen)
    return Call.of(
        _gaps.pair_gaps,
        model,
        {"q": q},
        out=out,
        options=(("pairs", chosen),),
        results=PairGaps._fields,
        shapes={"positions": (count, 3), "gaps": (count,)},
        params=params,
        refuse=refusing_still_pairs(chosen),
        named=PairGaps,
    )
