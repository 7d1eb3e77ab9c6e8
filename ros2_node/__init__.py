"""The ROS 2 node of warpdyn, which turns joint_states into torques and poses.

`control` does not use ROS and needs only NumPy and warpdyn. Messages become rows of a `State`
(`joint_states`, `setpoint`, `external_wrench`), one kernel launch computes all robots
(`fleet_dynamics`), outgoing torques are gated, ramped and limited (`robot`, `torque_output`), and a
`supervisor` answers requests. `ros` has topics, messages, parameters and diagnostics; its `outputs`
is the table of published outputs. `node` joins `control` and `ros`. `demo` has a simulated arm.
`joint_view` shows a robot in the browser.
"""

from __future__ import annotations

import sys

from .control import installed_command


def run_node() -> int:
    """Run `warpdyn_node`."""

    def main() -> int | None:
        from .node import main

        return main()

    return installed_command.run(main)


def run_lifecycle_node() -> int:
    """Run `warpdyn_lifecycle_node`."""

    def main() -> int | None:
        from .lifecycle_node import main

        return main()

    return installed_command.run(main)


def run_view() -> int:
    """Run `warpdyn_view`."""

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
