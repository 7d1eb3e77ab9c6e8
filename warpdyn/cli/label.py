"""`warpdyn label`: quantities of a robot for every row of many logs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..labels.dry_run import forecast, forecast_lines
from ..labels.labelling import LabelError, LabelReport, label, prepare_labelling
from ..model.names import printable
from .argument_types import count
from .command_line import UserError, read_model, refuse_immobile, start_warp, user_errors
from .shared_options import KERNEL, Commands, add_command, add_robot, add_topic

SHOWN = 10
"""Largest number of failed files that are printed; the manifest lists all."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn label`."""
    text = "compute torques, poses and more for every row of many logs (extra [labels])"
    sub = add_command(commands, "label", text)
    add_robot(sub)
    sub.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help=".parquet, .npz, .csv, .bag, .mcap, .db3, a folder, or @list.txt",
    )
    sub.add_argument(
        "--quantity",
        action="append",
        metavar="NAME,...",
        help="labels to compute: rnea,fk:LINK,kinetic_energy; torque=rnea names the label torque",
    )
    text = f"your own kernel, {KERNEL}; options follow colons: my.py:residual:gain=2"
    sub.add_argument("--kernel", action="append", metavar="FILE:NAME", help=text)
    text = "folder of the outputs, which keep the logs' names"
    sub.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help=text)
    text = "columns of the logs by quantity: q=observation.state[:7],time=stamp:ns,episode=run"
    sub.add_argument("--columns", action="append", metavar="NAME=COLUMN,...", help=text)
    text = (
        "filter that computes v and a if a log lacks them; default: savgol:15, 15 rows and degree 3"
    )
    sub.add_argument("--filter", default="savgol:15", metavar="savgol:N[:DEGREE]", help=text)
    text = "where to compute: threads of this machine, processes of Ray, or a Ray cluster; default: threads"
    sub.add_argument("--on", default="threads", metavar="threads|ray[:ADDRESS]", help=text)
    sub.add_argument(
        "--workers", type=count, metavar="N", help="number of files at a time; default: cores"
    )
    add_topic(sub)
    sub.add_argument("--dry-run", action="store_true", help="print what would be done, and exit")
    text = "replace files in FOLDER even if warpdyn has not written them"
    sub.add_argument("--force", action="store_true", help=text)
    sub.set_defaults(run=label_logs)


def label_logs(args: argparse.Namespace) -> int:
    """Label the logs; returns 1 if a file failed."""
    model = refuse_immobile(read_model(args))
    start_warp()
    quantities = [x for each in (args.quantity or []) for x in each.split(",") if x]
    quantities += args.kernel or []
    columns = dict(_pair(x) for each in (args.columns or []) for x in each.split(",") if x)
    with user_errors(ValueError, LabelError):
        # A dry run opens the logs but computes nothing from them.
        if args.dry_run:
            labelling, files, _ = prepare_labelling(
                model, args.logs, quantities, args.out, columns, args.filter, args.topic
            )
            for line in forecast_lines(forecast(labelling, files)):
                print(line)
            return 0
        report = label(
            model,
            args.logs,
            quantities,
            args.out,
            columns=columns,
            filter=args.filter,
            on=args.on,
            workers=args.workers,
            topic=args.topic,
            force=args.force,
        )
    print_report(report)
    return 1 if report.failed else 0


def print_report(report: LabelReport) -> None:
    """Print the number of files and rows, and the first remarks and failures."""
    kept = f", {report.skipped} finished before" if report.skipped else ""
    files = f"{report.done} file{'s' * (report.done != 1)}"
    print(f"{report.out}: {files} with {report.rows:,} rows labelled{kept}")
    remarks = [f"remark: {name}: {text}" for name, texts in report.notes.items() for text in texts]
    failures = [f"failed: {name}: {why}" for name, why in report.failed.items()]
    for lines, counted in ((remarks, "remarks"), (failures, "failed")):
        for line in lines[:SHOWN]:
            print(printable(line), file=sys.stderr)
        if len(lines) > SHOWN:
            print(f"{len(lines)} {counted}; {report.out}/manifest.json has all", file=sys.stderr)


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not column:
        raise UserError(f"--columns are NAME=COLUMN, such as q=observation.state, got {text!r}")
    return name, column
