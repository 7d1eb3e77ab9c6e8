"""Outcome of one random case, and a loop that counts the outcomes of many."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tqdm import tqdm


class Outcome(NamedTuple):
    """Result of one random case in comparison with a peer."""

    kind: Literal["equal", "refused", "different"]
    reason: str = ""
    """Refused: the reason without names or numbers of this case. Different: the quantity that differs."""

    reproduction: str = ""
    """Source that reproduces a case that differs."""


def without_names(message: str) -> str:
    """A message without the name of its file, and with names and numbers replaced, so that messages of one
    kind count together."""
    message = message.partition(": ")[2] or message
    message = re.sub(r'"[^"]*"', '"…"', message)
    return re.sub(r"-?\d[\d.e+-]*", "N", message)


def count_outcomes(
    outcomes: Iterator[Outcome], count: int, *, seed: int, keep: Path | None, unit: str
) -> int:
    """Consume `count` outcomes with a progress bar, print a table, and return the exit status.

    The status is 1 if any case differs. Reproductions go to `keep`, at most three for each reason.
    """
    totals: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    with tqdm(total=count, file=sys.stderr, unit=unit) as bar:
        for number, outcome in zip(range(count), outcomes, strict=False):
            bar.update()
            totals[outcome.kind] += 1
            if outcome.kind == "equal":
                continue
            reasons[outcome.kind, outcome.reason] += 1
            if keep and outcome.reproduction and reasons[outcome.kind, outcome.reason] <= 3:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{number}.txt").write_text(outcome.reproduction)
    print(
        f"{totals.total():,} cases, seed {seed}: {totals['equal']:,} equal, "
        f"{totals['refused']:,} refused, {totals['different']:,} different"
    )
    for (kind, reason), times in reasons.most_common():
        print(f"- {times:,} {kind}: {reason}")
    return 1 if totals["different"] else 0
