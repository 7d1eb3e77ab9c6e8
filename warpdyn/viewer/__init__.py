"""Robots in the browser: models, trajectories, thousands of environments (extra `[viewer]`)."""

try:
    from .stage import ViewerError
    from .trajectory import Trajectory
    from .viewer import Viewer, show
except ModuleNotFoundError as error:
    raise ImportError(
        f"warpdyn.viewer needs {error.name}, which is not installed: pip install 'warpdyn[viewer]'"
    ) from error

__all__ = ["Trajectory", "Viewer", "ViewerError", "show"]
