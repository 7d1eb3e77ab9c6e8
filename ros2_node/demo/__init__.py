"""Demos: a simulated arm, or a walking robot, together with the node."""

from __future__ import annotations

from ..control import command


def run_state_source() -> int:
    """Run `warpdyn_state_source`."""

    def main() -> int | None:
        from .state_source import main

        return main()

    return command.run(main)


def run_plant() -> int:
    """Run `warpdyn_plant`."""

    def main() -> int | None:
        from .plant import main

        return main()

    return command.run(main)


def run_teleoperation() -> int:
    """Run `warpdyn_teleoperation`."""

    def main() -> int | None:
        from .teleoperation import main

        return main()

    return command.run(main)


def run_hand() -> int:
    """Run `warpdyn_hand`."""

    def main() -> int | None:
        from .leading_hand import main

        return main()

    return command.run(main)


def run_walker() -> int:
    """Run `warpdyn_walker`."""

    def main() -> int | None:
        from .walker import main

        return main()

    return command.run(main)
