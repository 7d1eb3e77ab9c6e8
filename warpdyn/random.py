"""Random numbers: the changes that `wd.randomise` draws (`add`, `scale`), and the counter-based
random numbers of a kernel (`key`, `uniform`, `normal`)."""

from .functions.randomise import add, scale
from .user_kernels.random_numbers import Key, key, normal, uniform

__all__ = ["Key", "add", "key", "normal", "scale", "uniform"]
