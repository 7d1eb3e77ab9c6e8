"""The ROS 2 node of warpdyn: joint_states in, torques and poses out.

`control` is free of ROS and needs NumPy and warpdyn only. Messages become rows of a `State`
(`states`, `references`), one kernel launch computes all robots (`torques`), commands are gated,
ramped and limited (`safety`, `commands`), and a `supervisor` answers requests. `ros` holds topics,
messages, parameters and diagnostics; `outputs` is the table of published results. `node` joins the
two. `demo` has a simulated arm. `joint_view` shows a robot in the browser.
"""

from __future__ import annotations

import sys

from .control import installed_command


def run_node() -> int:
    """`warpdyn_node`."""

    def main() -> int | None:
        from .node import main

        return main()

    return installed_command.run(main)


def run_lifecycle_node() -> int:
    """`warpdyn_lifecycle_node`."""

    def main() -> int | None:
        from .lifecycle_node import main

        return main()

    return installed_command.run(main)


def run_view() -> int:
    """`warpdyn_view`."""

    def main() -> int | None:
        try:
            from .joint_view import main
        except ImportError as error:
            if "warpdyn[viewer]" not in str(error):
                raise
            print(error, file=sys.stderr)
            return 2
        return main()

    return installed_command.run(main)
