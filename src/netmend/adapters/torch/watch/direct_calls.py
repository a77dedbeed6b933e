"""Models whose `forward` a program calls by its name: module hooks see their layers only, each as a model of its own."""

from __future__ import annotations

from types import FrameType

from torch import nn

_MOST_FRAMES = 12
_CALLING = ("_call_impl", "_wrapped_call_impl", "__call__")


def owner_called_directly(module: nn.Module, frame: FrameType | None) -> nn.Module | None:
    """The outermost module around this one whose forward() runs without having been called as a module."""
    found: nn.Module | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if frame.f_code.co_name == "forward" and frame.f_code.co_varnames:
            owner = frame.f_locals.get(frame.f_code.co_varnames[0])
            calling = frame.f_back.f_code.co_name if frame.f_back is not None else ""
            if (
                isinstance(owner, nn.Module)
                and owner is not module
                and calling not in _CALLING
                and any(child is module for child in owner.modules())
            ):
                found = owner
        frame = frame.f_back
    return found
