"""A robot as data: its links, joints and limits, changed copies, and the tree that algorithms loop
over."""

from .model import Model
from .structure import BASE_JOINT

__all__ = ["BASE_JOINT", "Model"]
