"""Robots in the browser: models, trajectories, thousands of environments (extra `[viewer]`)."""

from ..model.optional_packages import install_extra

try:
    from .stage import ViewerError
    from .trajectory import Trajectory
    from .viewer import Viewer, show
except ModuleNotFoundError as error:
    raise ImportError(
        f"warpdyn.viewer needs {error.name}, which is not installed: {install_extra('viewer')}"
    ) from error

__all__ = ["Trajectory", "Viewer", "ViewerError", "show"]
