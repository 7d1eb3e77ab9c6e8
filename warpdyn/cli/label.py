"""`warpdyn label`: quantities of a robot for every row of many logs."""

from __future__ import annotations

import argparse
import sys

from ..labels.dry_run import forecast, told
from ..labels.labelling import LabelError, label, prepared
from ..model.printable import printable
from .command_line import UserError, read_model, refuse_immobile, start_warp

SHOWN = 10
"""Files that failed, of which the terminal tells; the manifest has all."""


def label_logs(args: argparse.Namespace) -> int:
    """Label them; 1 if a file failed."""
    model = refuse_immobile(read_model(args))
    start_warp()
    asked = [x for each in (args.quantity or []) for x in each.split(",") if x]
    asked += args.kernel or []
    columns = dict(_pair(x) for each in (args.columns or []) for x in each.split(",") if x)
    try:
        if args.dry_run:
            labelling, files, _ = prepared(
                model, args.logs, asked, args.out, columns, args.filter, args.topic
            )
            for line in told(forecast(labelling, files)):
                print(line)
            return 0
        report = label(
            model,
            args.logs,
            asked,
            args.out,
            columns=columns,
            filter=args.filter,
            on=args.on,
            workers=args.workers,
            topic=args.topic,
            force=args.force,
        )
    except (ValueError, LabelError) as error:
        raise UserError(str(error)) from None
    kept = f", {report.skipped} finished before" if report.skipped else ""
    print(f"{report.out}: {report.done} files with {report.rows:,} rows labelled{kept}")
    for name, why in list(report.failed.items())[:SHOWN]:
        print(printable(f"failed: {name}: {why}"), file=sys.stderr)
    if len(report.failed) > SHOWN:
        print(f"{len(report.failed)} failed; {report.out}/manifest.json has all", file=sys.stderr)
    return 1 if report.failed else 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not column:
        raise UserError(f"--columns are NAME=COLUMN, such as q=observation.state, got {text!r}")
    return name, column
