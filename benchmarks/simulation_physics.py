"""The same scenes on the ground in warpdyn, MuJoCo, Drake and JaxSim, compared with exact values.

    python -m benchmarks.simulation_physics [--only in_mujoco in_drake] [--into FOLDER]

Simulators that are not installed are named and left out. The table has positions after 1 s, forces and
slip speeds, with the time step and the contact model. --into writes simulation_physics.json and .md.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path

from tqdm import tqdm

from .__main__ import describe_run
from .peers import CannotDo, InstalledPeer
from .simulation_scenes import Row, rows, scenes
from .simulators import Motion, OnGround, Setting

STEPS = (0.0005, 0.005)
"""[s]"""

SETTINGS = (
    *(Setting("in_warpdyn", f"warpdyn, {1e3 * h:g} ms", h) for h in STEPS),
    *(Setting("in_mujoco", f"MuJoCo C, {1e3 * h:g} ms", h) for h in STEPS),
    *(
        Setting("in_drake", f"Drake `{name}`, {1e3 * h:g} ms", h, {"approximation": name})
        for name in ("sap", "tamsi", "lagged")
        for h in STEPS
    ),
    *(
        Setting("in_jaxsim", f"JaxSim {kind}, 0.5 ms", 0.0005, {"kind": kind})
        for kind in ("soft", "rigid")
    ),
)
"""Columns of the table."""

PEERS = ("in_mujoco", "in_drake", "in_jaxsim")
PIP = "pip install mujoco drake jaxsim"

Columns = dict[str, list[float | str]]
"""For each setting's label a number for each row, or why there is none."""


def results(chosen: Sequence[Setting], table: Sequence[Row]) -> Columns:
    """Results of the simulators for the scenes of these rows."""
    all_scenes, columns = scenes(), {}
    needed = list(dict.fromkeys(row.scene for row in table))
    for setting in tqdm(chosen, desc="simulators"):
        motions: dict[str, Motion | str] = {}
        for name in tqdm(needed, desc=setting.label, leave=False):
            motions[name] = _rolled_out(all_scenes[name], setting)
        columns[setting.label] = [_read(row, motions[row.scene]) for row in table]
    return columns


def _rolled_out(scene: OnGround, setting: Setting) -> Motion | str:
    simulator = import_module(f".simulators.{setting.simulator}", __package__)
    try:
        return simulator.roll_out(scene, setting.dt, **setting.options)
    except CannotDo as reason:
        return str(reason)


def _read(row: Row, motion: Motion | str) -> float | str:
    return motion if isinstance(motion, str) else row.read(motion)


def markdown(columns: Columns, table: Sequence[Row], dt: float) -> list[str]:
    """Lines of the table of all settings with one time step."""
    labels = {s.label: s.label.rsplit(",", 1)[0] for s in SETTINGS if s.dt == dt}
    shown = [label for label in labels if label in columns]
    lines = [f"| {1e3 * dt:g} ms | exact | " + " | ".join(labels[x] for x in shown) + " |"]
    lines.append("|---" * (2 + len(shown)) + "|")
    for k, row in enumerate(table):
        unit = f" [{row.unit}]" if row.unit else ""
        cells = [_cell(columns[label][k], row) for label in shown]
        what = f"{row.scene}: {row.what}{unit}"
        lines.append(f"| {what} | " + " | ".join((_cell(row.exact, row), *cells)) + " |")
    return lines


def _cell(value: float | str, row: Row) -> str:
    if isinstance(value, str) or math.isnan(value):
        return "-"
    if row.exact == 0.0 and abs(value) < 1e-3:
        return f"{value:.1e}" if value else "0"
    return f"{value:.{row.digits}f}"


def find_simulators(modules: Sequence[str]) -> tuple[list[InstalledPeer], list[str]]:
    """Simulators that can be imported, and names of the others."""
    there, missing = [], []
    for key in modules:
        try:
            module = import_module(f".simulators.{key}", __package__)
            versions = {package: metadata.version(package) for package in module.PACKAGES}
            there.append(InstalledPeer(key, module, versions))
        except ImportError:  # missing packages raise this error, too
            missing.append(key)
    return there, missing


def main() -> None:
    """Print the tables and write them if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=PEERS, default=PEERS, metavar="PEER")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="of benchmarks/results")
    arguments = parser.parse_args()
    peers, missing = find_simulators(arguments.only)
    if missing:
        print(f"not installed: {', '.join(missing)}; {PIP}")
    keys = ("in_warpdyn", *(peer.key for peer in peers))
    chosen = [setting for setting in SETTINGS if setting.simulator in keys]
    table = rows()
    columns = results(chosen, table)
    about = describe_run("cpu", peers)
    text = [
        "# The same scenes on the ground in warpdyn and in others",
        "",
        f"{about['hardware']}, {about['date']}; "
        + ", ".join(f"{name} {x}" for name, x in about["versions"].items())
        + ".",
        "Repeat: `python -m benchmarks.simulation_physics`.",
    ]
    for dt in STEPS:
        text += ["", *markdown(columns, table, dt)]
    text += ["", *(f"- {label}: {why}" for label, why in blanks(columns, table))]
    text += ["", "Settings:", ""]
    for key in keys:
        module = import_module(f".simulators.{key}", __package__)
        text.append(f"- {module.NAME}: {module.SAYS}.")
    print("\n".join(text))
    if arguments.into:
        _write(
            arguments.into,
            text,
            {"about": about, "rows": [_record(r) for r in table], "columns": columns},
        )


def blanks(columns: Columns, table: Sequence[Row]) -> list[tuple[str, str]]:
    """Yield each reason for a missing number once."""
    blanks = {
        (f"{label}, {row.scene}", value): None
        for label, column in columns.items()
        for row, value in zip(table, column, strict=True)
        if isinstance(value, str)
    }
    return list(blanks)


def _record(row: Row) -> dict[str, float | str | None]:
    exact = None if math.isnan(row.exact) else row.exact
    return {"scene": row.scene, "what": row.what, "unit": row.unit, "exact": exact}


def _write(folder: Path, text: Sequence[str], record: dict[str, object]) -> None:
    (folder / "simulation_physics.md").write_text("\n".join(text) + "\n")
    (folder / "simulation_physics.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
