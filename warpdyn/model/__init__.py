"""A robot as data: its links, joints and limits, changed copies, and the tree that algorithms loop over."""

from .model import BASE_JOINT, Model

__all__ = ["BASE_JOINT", "Model"]
