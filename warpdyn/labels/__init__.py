"""Logs labelled with dynamics: quantities of a robot computed for every row of many files."""

from .labelling import LabelError, LabelReport, label

__all__ = ["LabelError", "LabelReport", "label"]
