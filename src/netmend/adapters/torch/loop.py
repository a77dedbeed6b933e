"""Loop: what the training loop calls, in order: zero_grad, backward, clipping, schedulers, train/eval, GradScaler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.amp import grad_scaler
from torch.nn.utils import clip_grad
from torch.optim import lr_scheduler

from netmend.adapters.torch.arrivals import Gathering
from netmend.adapters.torch.eligible import plain
from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.schedulers import record_scheduler

if TYPE_CHECKING:
    from netmend.adapters.torch.session import TorchSession

Function = Callable[..., Any]


class Loop:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.scheduler_depth = 0  # schedulers call each other, and themselves while being built
        self._train_depth = 0
        self._scaler_steps = 0

    def install(self) -> None:
        wrap = self.session.patches.wrap
        wrap(torch.autograd, "backward", self._backward)
        wrap(torch.autograd, "grad", self._grad)
        wrap(torch.optim.Optimizer, "zero_grad", lambda original: self._noting(original, "zero_grad"))
        wrap(torch.nn.Module, "zero_grad", lambda original: self._noting(original, "zero_grad"))
        for place in (clip_grad, torch.nn.utils):
            wrap(place, "clip_grad_norm_", self._clip_norm)
            wrap(place, "clip_grad_value_", self._clip_value)
        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and "step" in vars(kind) and issubclass(kind, lr_scheduler.LRScheduler):
                wrap(kind, "step", self._scheduler)
        wrap(torch.nn.Module, "train", self._train)
        wrap(grad_scaler.GradScaler, "scale", self._scale)
        wrap(grad_scaler.GradScaler, "unscale_", lambda original: self._noting(original, "unscale"))
        wrap(grad_scaler.GradScaler, "step", self._scaler_step)
        wrap(grad_scaler.GradScaler, "update", self._scaler_update)

    def _noting(self, original: Function, what: str) -> Function:
        """A wrapper that notes the call and nothing else."""

        def noted(thing: Any, *args: Any, **kwargs: Any) -> Any:
            if not torch.compiler.is_compiling() and self.session.watching() and not self.session.in_backward:
                self._note(what, thing)
            return original(thing, *args, **kwargs)

        return noted

    @guarded("the order of calls in the loop")
    def _note(self, what: str, thing: Any, detail: str = "") -> None:
        session = self.session
        if what == "train":
            session.evaluation.close()
        component = (
            session.optimizers.name(thing) if isinstance(thing, torch.optim.Optimizer) else self._name(thing)
        )
        session.recorder.patterns.note(what, component, detail, session.sites.here())

    def _name(self, thing: Any) -> str:
        if thing is None:
            return ""
        known = self.session.names.get(thing)
        return known if known is not None else type(thing).__name__

    # -- backward ---------------------------------------------------------------------------------------------

    def _backward(self, original: Function) -> Function:
        session = self.session

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or session.in_backward or not session.watching():
                return original(tensors, *args, **kwargs)
            session.losses.before_backward(tensors)
            session.in_backward = True
            try:
                return original(tensors, *args, **kwargs)
            finally:
                session.in_backward = False
                session.optimizers.after_backward()

        return backward

    def _grad(self, original: Function) -> Function:
        session = self.session

        def grad(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or session.in_backward or not session.watching():
                return original(outputs, *args, **kwargs)
            create_graph = kwargs.get("create_graph", len(args) > 3 and args[3])
            session.losses.before_backward(outputs, by_grad=True, counts=not create_graph)
            session.in_backward = True
            try:
                return original(outputs, *args, **kwargs)
            finally:
                session.in_backward = False

        return grad

    # -- clipping ---------------------------------------------------------------------------------------------

    def _clip_norm(self, original: Function) -> Function:
        def clip_grad_norm_(parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
            total = original(parameters, max_norm, *args, **kwargs)
            if not torch.compiler.is_compiling() and self.session.watching():
                self._clipped(total, max_norm)
            return total

        return clip_grad_norm_

    @guarded("gradient clipping")
    def _clipped(self, total: Any, limit: float) -> None:
        session = self.session
        session.recorder.patterns.note("clip", "", "norm", session.sites.here())
        recorder, step = session.recorder, session.recorder.step
        if isinstance(total, Tensor) and total.numel() == 1 and plain(total):
            gathering = Gathering(session, lambda: None)
            value = gathering.add(
                total.detach(), lambda norm: recorder.row("clip", "", step, (norm, float(limit)))
            )
            if value is not None:
                session.nonfinite.clip_norm(value)

    def _clip_value(self, original: Function) -> Function:
        def clip_grad_value_(*args: Any, **kwargs: Any) -> Any:
            if not torch.compiler.is_compiling() and self.session.watching():
                self._note("clip", None, "value")
            return original(*args, **kwargs)

        return clip_grad_value_

    # -- schedulers, modes ------------------------------------------------------------------------------------

    def _scheduler(self, original: Function) -> Function:
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            if self.scheduler_depth == 0 and self.session.watching():
                self._scheduler_stepped(scheduler)
            self.scheduler_depth += 1
            try:
                return original(scheduler, *args, **kwargs)
            finally:
                self.scheduler_depth -= 1

        return step

    @guarded("schedulers")
    def _scheduler_stepped(self, scheduler: Any) -> None:
        site = self.session.sites.here()
        name = record_scheduler(self.session, scheduler, site)
        self.session.recorder.patterns.note("scheduler", name, "", site)

    def _train(self, original: Function) -> Function:
        session = self.session

        def train(module: Any, mode: bool = True) -> Any:
            if torch.compiler.is_compiling():
                return original(module, mode)
            if self._train_depth == 0 and session.alive and not session.busy:
                session.promote()
                if session.watching():
                    self._note("train" if mode else "eval", module)
            self._train_depth += 1
            try:
                return original(module, mode)
            finally:
                self._train_depth -= 1

        return train

    # -- automatic mixed precision ------------------------------------------------------------------------------

    def _scale(self, original: Function) -> Function:
        def scale(scaler: Any, outputs: Any) -> Any:
            scaled = original(scaler, outputs)
            if isinstance(outputs, Tensor) and isinstance(scaled, Tensor) and scaled is not outputs:
                self._scaled(outputs, scaled)
            return scaled

        return scale

    @guarded("loss scaling")
    def _scaled(self, loss: Tensor, scaled: Tensor) -> None:
        self.session.losses.unscaled.put(scaled, loss.detach())

    def _scaler_step(self, original: Function) -> Function:
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            before = self.session.steps.optimizer_steps
            result = original(scaler, optimizer, *args, **kwargs)
            if (
                self.session.watching()
                and self.session.steps.optimizer_steps == before
                and scaler.is_enabled()
            ):
                self._skipped(optimizer)
            return result

        return step

    @guarded("loss scaling")
    def _skipped(self, optimizer: Any) -> None:
        session = self.session
        name = session.optimizers.name(optimizer)
        session.recorder.patterns.note("step", name, "skipped by GradScaler", session.sites.here())
        session.steps.end(name)

    def _scaler_update(self, original: Function) -> Function:
        def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scaler, *args, **kwargs)
            if self.session.watching() and scaler.is_enabled():
                self._scale_known(scaler)
            return result

        return update

    @guarded("loss scaling")
    def _scale_known(self, scaler: Any) -> None:
        session = self.session
        session.environment_changed(grad_scaler=True)
        tensor = getattr(scaler, "_scale", None)
        if isinstance(tensor, Tensor):
            recorder, step = session.recorder, session.recorder.step
            gathering = Gathering(session, lambda: None)
            gathering.add(tensor.detach(), lambda scale: recorder.row("scale", "GradScaler", step, (scale,)))
