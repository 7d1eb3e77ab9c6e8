"""Labels for logs: quantities of a robot's dynamics, computed for every row of many files."""

from .labelling import LabelError, LabelReport, label

__all__ = ["LabelError", "LabelReport", "label"]
