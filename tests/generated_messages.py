"""Messages and actions of ROS 2 that no wheel has, and the command that generates them."""

from __future__ import annotations

GENERATED = ("tf2_msgs", "control_msgs")


def remedy(error: BaseException | None) -> str:
    """The command to run if a test failed for want of such a message, or "" for any other error."""
    if not isinstance(error, ImportError):
        return ""
    package = (error.name or "").partition(".")[0]
    if package not in GENERATED:
        return ""
    return f"{package} is not installed, or an older one: run bash scripts/ros_messages.sh .venv ({error})"
