"""Loop: what the training loop calls, in order: zero_grad, backward, clipping, schedulers, train/eval, GradScaler."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.amp import grad_scaler
from torch.nn.utils import clip_grad
from torch.optim import lr_scheduler

from netmend.adapters.torch.guard import RAISED, guarded
from netmend.adapters.torch.watch.arrivals import Gathering
from netmend.adapters.torch.watch.eligible import plain
from netmend.adapters.torch.watch.structure import record_scheduler
from netmend.observe.schedule import FULL

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


_SMALL = 4096  # elements of a gradient that is looked at for being zero
_LOOKED_AT = 3


class Loop:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.scheduler_depth = 0  # schedulers call each other, and themselves while being built
        self._train_depth = 0

    def install(self) -> None:
        watch, optimizer, module = self.session.watch, torch.optim.Optimizer, torch.nn.Module
        order, scaling, scaler = "the order of calls in the loop", "loss scaling", grad_scaler.GradScaler
        passes = "backward passes"
        watch(passes, torch.autograd, "backward", self._backward, self._backward_done, always=True)
        watch(passes, torch.autograd, "grad", self._grad, self._grad_done)
        for owner in (optimizer, module):
            watch(order, owner, "zero_grad", self._zero_grad)
        for place in (clip_grad, torch.nn.utils):
            watch(order, place, "clip_grad_norm_", self._interested, self._clipped)
            watch(order, place, "clip_grad_value_", self._clip_value)
        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and "step" in vars(kind) and issubclass(kind, lr_scheduler.LRScheduler):
                watch("schedulers", kind, "step", self._scheduler, self._scheduler_done, always=True)
        watch(order, module, "train", self._train, self._train_done, always=True)
        watch(scaling, scaler, "scale", None, self._scaled)
        watch(order, scaler, "unscale_", self._unscale)
        watch(scaling, scaler, "step", self._scaler_step, self._scaler_step_done)
        watch(scaling, scaler, "update", self._interested, self._scale_known)

    def finish(self) -> None:
        """What was called after the last step (a final evaluation) is a pattern of its own, without a step."""
        patterns = self.session.recorder.patterns
        if patterns.pending:
            patterns.note("end")
            patterns.close(self.session.recorder.step)

    def _interested(self, args: Any, kwargs: Any) -> bool | None:
        return True if self.session.watching() else None

    def _zero_grad(self, args: Any, kwargs: Any) -> None:
        if self.session.watching() and not self.session.in_backward:
            self.session.often.put_back()
            self._note("zero_grad", args[0])

    def _unscale(self, args: Any, kwargs: Any) -> None:
        if self.session.watching():
            self._note("unscale", args[1] if len(args) > 1 else None)

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
        known = self.session.names.get(thing) or self.session.sites.name_here(thing)
        return known if known is not None else type(thing).__name__

    # -- backward ---------------------------------------------------------------------------------------------

    def _backward(self, args: Any, kwargs: Any) -> bool | None:
        session = self.session
        if session.quiet and not session.in_backward and not session.busy:
            if session.steps.by_hand:
                session.steps.end_light()  # no optimiser tells where a step ends that is passed over
            elif session.recorder.glance:
                session.steps.glance(args[0] if args else kwargs.get("tensors"))
            return None
        if session.in_backward or not session.watching():
            return None
        session.often.put_back()
        if session.recorder.level == FULL:
            self._gradients_found_clear()
        session.losses.before_backward(args[0] if args else kwargs.get("tensors"))
        session.in_backward = True
        return True

    @guarded("the order of calls in the loop")
    def _gradients_found_clear(self) -> None:
        """Gradients may be cleared without zero_grad(): by `p.grad = None`, by `p.grad.zero_()`. Look, after the first step."""
        session = self.session
        patterns = session.recorder.patterns
        if session.recorder.step < 1 or patterns.seen("zero_grad", "backward"):
            return
        trained = [p for _, p in session.by_hand.parameters() if p.requires_grad] or session.optimizers.held()
        few = [p for p in trained if p.grad is None or (p.device.type == "cpu" and p.numel() <= _SMALL)][
            :_LOOKED_AT
        ]
        if few and all(p.grad is None or not bool(p.grad.any()) for p in few):
            patterns.note("zero_grad", "", "found clear")

    def _backward_done(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.session.in_backward = False
        self.session.by_hand.after_backward()

    def _grad(self, args: Any, kwargs: Any) -> bool | None:
        session = self.session
        if session.in_backward or not session.watching():
            return None
        create_graph = kwargs.get("create_graph", len(args) > 4 and args[4])
        session.losses.before_backward(
            args[0] if args else kwargs.get("outputs"), by_grad=True, counts=not create_graph
        )
        session.in_backward = True
        return True

    def _grad_done(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.session.in_backward = False

    # -- clipping ---------------------------------------------------------------------------------------------

    @guarded("gradient clipping")
    def _clipped(self, token: Any, args: Any, kwargs: Any, total: Any) -> None:
        if total is RAISED:
            return
        limit = kwargs.get("max_norm", args[1] if len(args) > 1 else math.nan)
        session = self.session
        session.recorder.patterns.note("clip", "", "norm", session.sites.here())
        if isinstance(total, Tensor) and total.numel() == 1 and plain(total):
            value = self._write_later("clip", "", total, float(limit))
            if value is not None:
                session.nonfinite.clip_norm(value)

    def _write_later(self, kind: str, component: str, number: Tensor, *more: float) -> float | None:
        """A row of a number that may still be on a device; the number, if it is known now."""
        recorder, step = self.session.recorder, self.session.recorder.step
        return Gathering(self.session).add(
            number.detach(), lambda value: recorder.row(kind, component, step, (value, *more))
        )

    def _clip_value(self, args: Any, kwargs: Any) -> None:
        if self.session.watching():
            self._note("clip", None, "value")

    # -- schedulers, modes ------------------------------------------------------------------------------------

    def _scheduler(self, args: Any, kwargs: Any) -> bool:
        if self.scheduler_depth == 0 and self.session.watching():
            self._scheduler_stepped(args[0])
        self.scheduler_depth += 1
        return True

    def _scheduler_done(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.scheduler_depth -= 1

    @guarded("schedulers")
    def _scheduler_stepped(self, scheduler: Any) -> None:
        site = self.session.sites.here()
        name = record_scheduler(self.session, scheduler, site)
        self.session.recorder.patterns.note("scheduler", name, "", site)

    def _train(self, args: Any, kwargs: Any) -> bool:
        session = self.session
        if self._train_depth == 0:
            session.promote()
            if session.watching():
                mode = args[1] if len(args) > 1 else kwargs.get("mode", True)
                self._note("train" if mode else "eval", args[0])
        session.readiness.switched(args[0])
        self._train_depth += 1
        return True

    def _train_done(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self._train_depth -= 1

    # -- automatic mixed precision ------------------------------------------------------------------------------

    @guarded("loss scaling")
    def _scaled(self, token: Any, args: Any, kwargs: Any, scaled: Any) -> None:
        loss = args[1] if len(args) > 1 else kwargs.get("outputs")
        if isinstance(loss, Tensor) and isinstance(scaled, Tensor) and scaled is not loss:
            self.session.losses.unscaled.put(scaled, loss.detach())

    def _scaler_step(self, args: Any, kwargs: Any) -> tuple[int] | None:
        return (self.session.steps.optimizer_steps,) if self.session.watching() else None

    def _scaler_step_done(self, token: tuple[int], args: Any, kwargs: Any, result: Any) -> None:
        if result is not RAISED and self.session.steps.optimizer_steps == token[0] and args[0].is_enabled():
            self._skipped(args[1] if len(args) > 1 else kwargs.get("optimizer"))

    @guarded("loss scaling")
    def _skipped(self, optimizer: Any) -> None:
        session = self.session
        name = session.optimizers.name(optimizer)
        session.recorder.patterns.note("step", name, "skipped by GradScaler", session.sites.here())
        session.steps.end(name)

    @guarded("loss scaling")
    def _scale_known(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        if result is RAISED or not args[0].is_enabled():
            return
        self.session.environment_changed(grad_scaler=True)
        tensor = getattr(args[0], "_scale", None)
        if isinstance(tensor, Tensor):
            self._write_later("scale", "GradScaler", tensor)
