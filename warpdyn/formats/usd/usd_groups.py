"""USD: groups of bodies that joints connect, and short unique names for prim paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def last_words(paths: Sequence[str]) -> dict[str, str]:
    """The last word of each path if it is unique, otherwise the whole path."""
    last = [path.rpartition("/")[2] for path in paths]
    times = Counter(last)
    return {p: word if times[word] == 1 else p for p, word in zip(paths, last, strict=True)}


def group_bodies(bodies: Sequence[str], ends: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Groups of bodies that joints connect, in the order of the stage."""
    place = {body: k for k, body in enumerate(bodies)}
    group = list(range(len(bodies)))

    def find_group(k: int) -> int:
        while group[k] != k:
            group[k] = group[group[k]]  # path halving, so that the next search is shorter
            k = group[k]
        return k

    for a, b in ends:
        if a and b:
            one, other = sorted((find_group(place[a]), find_group(place[b])))
            group[other] = one
    groups: dict[int, list[str]] = {}
    for k, body in enumerate(bodies):
        groups.setdefault(find_group(k), []).append(body)
    return list(groups.values())
