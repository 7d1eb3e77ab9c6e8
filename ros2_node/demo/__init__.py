"""Demos: a simulated arm, or a walking robot, together with the node."""

from __future__ import annotations

from ..control import installed_command


def run_state_source() -> int:
    """Run `warpdyn_state_source`."""

    def main() -> int | None:
        from .state_source import main

        return main()

    return installed_command.run(main)


def run_plant() -> int:
    """Run `warpdyn_plant`."""

    def main() -> int | None:
        from .plant import main

        return main()

    return installed_command.run(main)


def run_teleoperation() -> int:
    """Run `warpdyn_teleoperation`."""

    def main() -> int | None:
        from .teleoperation import main

        return main()

    return installed_command.run(main)


def run_hand() -> int:
    """Run `warpdyn_hand`."""

    def main() -> int | None:
        from .teleoperation_leader import main

        return main()

    return installed_command.run(main)


def run_walker() -> int:
    """Run `warpdyn_walker`."""

    def main() -> int | None:
        from .walker import main

        return main()

    return installed_command.run(main)
