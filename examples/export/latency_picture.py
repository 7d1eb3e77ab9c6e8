"""Draw the lateness and the computation times of the loop's cycles: latency.csv latency.png."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np


def main(table: str = "latency.csv", picture: str = "latency.png") -> None:
    late, took = np.loadtxt(table, delimiter=",", skiprows=1, unpack=True)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for axis, values, title in (
        (axes[0], late, "starts late by [µs]"),
        (axes[1], took, "computation of gravity torques [µs]"),
    ):
        bins = np.logspace(np.log10(max(values.min(), 1e-2)), np.log10(values.max() + 1e-2), 30)
        axis.hist(values, bins=bins, color="tab:blue")
        axis.set(xscale="log", yscale="log", xlabel=title, ylabel="cycles")
        median, most = np.median(values), np.percentile(values, 99.9)
        axis.set_title(f"median {median:.2f}, 99.9 % {most:.2f}, worst {values.max():.1f}")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
