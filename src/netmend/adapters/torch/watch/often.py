"""Often: forward passes that come by the thousand within one step, as those of an agent that acts one observation at a time.

Each kind of call is looked at some times in every step, then only as far as time allows. What cannot be afforded is not merely looked
at less: hooks of layers and the spy on functions are taken off until a call of another kind comes, which may be the update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, is_grad_enabled

from netmend.adapters.torch.guard import guarded, is_compiling
from netmend.observe.schedule import FULL

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_ENOUGH = 32  # calls of one kind in a step that are looked at whatever they cost
_MOST_KINDS = 1000
_ASK_AGAIN = 64  # calls that are passed over before it is asked anew what can be afforded

_function_modes = torch._C._len_torch_function_stack


class Often:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.off = False  # what costs something at every call is taken off
        self._counts: dict[Any, int] = {}
        self._passed_over = 0
        self._last: tuple[Any, bool, Any] = (None, False, None)  # network, mode of gradients, shape of input

    def passing(self, watched: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
        """Makes a wrapper before the one that looks: the call that was too many, made again, goes straight to the original."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            watching, session = watched(original), self.session

            def call(*args: Any, **kwargs: Any) -> Any:
                # is_compiling comes first: the compiler folds it, and sees nothing else of this function.
                if is_compiling() or not self.off or kwargs or len(args) != 2 or _function_modes():
                    return watching(*args, **kwargs)
                self._passed_over += 1
                module, grad, shape = self._last
                first = args[1]
                if (
                    args[0] is module
                    and type(first) is Tensor
                    and first.shape == shape
                    and is_grad_enabled() is grad
                    and self._passed_over % _ASK_AGAIN
                ):
                    session.passes += 1
                    return original(*args)
                return watching(*args, **kwargs)

            return call

        return make

    def too_often(self, args: Any) -> bool:
        """Whether a call of a model is one of too many of its kind: the same model, mode of gradients and shape of input."""
        first = args[1] if len(args) > 1 else None
        grad = torch.is_grad_enabled()
        with torch._C.DisableTorchFunction():  # a mode of the user must not see that the shape is asked for
            kind = (id(args[0]), grad, first.shape if type(first) is Tensor else None)
        counts = self._counts
        count = counts[kind] = counts.get(kind, 0) + 1
        session = self.session
        if count <= _ENOUGH or session.recorder.affordable():
            if self.off:
                self.put_back()
            return False
        if grad:
            # Where no optimiser steps, a forward pass after a backward pass begins the next step.
            if session.steps.backwards and session.steps.by_hand:
                return False
        elif session.evaluation.current is None:  # the first of an evaluation pass
            return False
        if not self.off:
            self._take_off()
        self._last = (args[0], grad, kind[2])
        return True

    @guarded("forward passes")
    def _take_off(self) -> None:
        self.off = True
        self.session.layers.disarm()
        self.session.functions.leave()
        if len(self._counts) > _MOST_KINDS:
            self._counts.clear()

    def put_back(self) -> None:
        """A call of another kind, or something that comes with an update: look again."""
        if self.off:
            self.off = False
            if self.session.recorder.level == FULL:
                self.session.layers.arm()

    def step_over(self) -> None:
        self.off = False
        self._counts.clear()
