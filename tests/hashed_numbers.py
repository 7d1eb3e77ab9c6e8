"""SplitMix64 in Python integers: the random numbers that warpdyn draws, one at a time."""

from __future__ import annotations

WORD = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix_bits(x: int) -> int:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def uniform(seed: int, index: int) -> float:
    """The number for a seed and an index, in [0, 1)."""
    z = mix_bits((mix_bits((seed + GAMMA) & WORD) + (index + 1) * GAMMA) & WORD)
    return (z >> 11) * 2.0**-53
