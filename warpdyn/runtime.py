"""Threads, memory and switches of this process."""

from .arrays.reused_memory import empty_cache
from .execution.config import Config
from .execution.threads import get_num_threads, set_num_threads

__all__ = ["Config", "empty_cache", "get_num_threads", "set_num_threads"]
