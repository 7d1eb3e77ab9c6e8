"""Comparison of a peer library with the float64 oracle, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.cli.workload import furthest_link
from warpdyn.peers.peer import NotComparable, Peer

ROUNDING = 1e-11
"""Relative to the largest entry; libraries sum in another order."""

COUNT = 3


def check_answers(peer: Peer, model: wd.Model) -> None:
    """Check that fk, jacobian, crba, rnea and aba of the peer agree with the oracle. aba is refused
    with mimic joints."""
    s, frame = states(model, COUNT), furthest_link(model)
    wanted = {
        "fk": wd.oracle(wd.fk, model, s.q),
        "jacobian": wd.oracle(wd.jacobian, model, s.q, frame=frame),
        "crba": wd.oracle(wd.crba, model, s.q),
        "rnea": wd.oracle(wd.rnea, model, s.q, s.v, s.a),
    }
    answers = {
        "fk": [peer.fk(q) for q in s.q],
        "jacobian": [peer.jacobian(q, frame) for q in s.q],
        "crba": [peer.crba(q) for q in s.q],
        "rnea": [peer.rnea(*row) for row in zip(s.q, s.v, s.a, strict=True)],
    }
    rows = list(zip(s.q, s.v, s.tau, strict=True))
    if any(joint.mimic for joint in model.joints):
        with pytest.raises(NotComparable, match="mimic joint"):
            peer.aba(*rows[0])
    else:
        wanted["aba"] = wd.oracle(wd.aba, model, s.q, s.v, s.tau)
        answers["aba"] = [peer.aba(*row) for row in rows]
    for name, truth in wanted.items():
        near = ROUNDING * max(1.0, np.abs(truth).max())
        np.testing.assert_allclose(np.array(answers[name]), truth, rtol=0, atol=near, err_msg=name)
