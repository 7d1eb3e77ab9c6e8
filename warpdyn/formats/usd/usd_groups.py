"""USD: prims by their paths, as bodies that joints join and by names that are not long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def last_words(paths: Sequence[str]) -> dict[str, str]:
    """The last word of each path, where no other has it; else the whole path."""
    last = [path.rpartition("/")[2] for path in paths]
    times = Counter(last)
    return {p: word if times[word] == 1 else p for p, word in zip(paths, last, strict=True)}


def joined(bodies: Sequence[str], ends: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Bodies that joints join, in the order of the stage."""
    place = {body: k for k, body in enumerate(bodies)}
    group = list(range(len(bodies)))

    def first(k: int) -> int:
        while group[k] != k:
            group[k] = group[group[k]]  # half of the way, the next time
            k = group[k]
        return k

    for a, b in ends:
        if a and b:
            one, other = sorted((first(place[a]), first(place[b])))
            group[other] = one
    groups: dict[int, list[str]] = {}
    for k, body in enumerate(bodies):
        groups.setdefault(first(k), []).append(body)
    return list(groups.values())
