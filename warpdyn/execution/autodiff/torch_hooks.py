"""Undocumented parts of Torch that warpdyn uses, each with its reason and its fallback.

Tested with Torch 2.11 to 2.14. `native/torch_native` uses more of them: its C functions read
tensors, and are not used with other versions (`native/versions`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def apply_directly(operation: Any) -> Callable[..., Any]:
    """`operation.apply` without the search for functional transforms, which takes as long as the call.

    For an `autograd.Function` that is used only while no transform is active. It is the `apply` of
    the class above `torch.autograd.Function`, in C. Fallback: the documented `apply`.
    """
    import torch

    plain = getattr(super(torch.autograd.Function, operation), "apply", None)
    return plain if callable(plain) else operation.apply  # type: ignore[no-any-return]


def replace_backward(operation: Any, backward: Any) -> bool:
    """Let Torch call a C function for the backward pass; False if this version of Torch does not
    support it."""
    kind = getattr(operation, "_backward_cls", None)
    if kind is None:
        return False
    kind.apply = backward
    return True


def replace_when_compiled(function: Any, replacement: Callable[..., Any]) -> None:
    """Let Torch's compiler trace `replacement` instead of a function. Other versions ignore this, and
    trace the function itself."""
    function._torchdynamo_inline = replacement


def run_without_compiler(function: Any) -> None:
    """Let Torch's compiler run a function, and all that it calls, as plain Python. Without this it
    compiles the launch where a call breaks its graph. Other versions ignore this, and compile it."""
    try:
        from torch._C._dynamo import eval_frame

        skip = eval_frame._FrameAction.SKIP
        strategy = eval_frame._FrameExecStrategy(skip, skip)
        eval_frame.set_code_exec_strategy(function.__code__, strategy)
    except (ImportError, AttributeError, TypeError):
        return
