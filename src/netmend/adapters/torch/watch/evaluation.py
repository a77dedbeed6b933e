"""Evaluation: passes that compute no gradients, told from training passes and summed up in one row each."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from torch import Tensor

from netmend.adapters.torch.meters.host_meter import NAN
from netmend.adapters.torch.watch.arrivals import Gathering
from netmend.adapters.torch.watch.scores import class_figures

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.loss_calls import LossCall
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.session import TorchSession

_SHARE = 2.0  # of the budget: scoring evaluation batches may cost this multiple of it, within evaluation
_FREE_SECONDS = 0.01
_MOST_BESIDE = 8


class Pass:
    """One evaluation pass: a run of forward passes without gradients between two training steps."""

    def __init__(self, session: TorchSession, model: str, training: bool, grad: bool) -> None:
        self.session = session
        self.model, self.training, self.grad = model, training, grad
        self.gathering = Gathering(session, self._write)
        self.started = perf_counter()
        self.own = 0.0
        self.loss = ""
        self.batches = self.forwards = self.samples = self.scored = self.weight = 0
        self.total = self.metric = 0.0
        self.constant = NAN
        self.classes: Tensor | None = None
        self.figures = [NAN] * 3
        self.step = session.recorder.step

    def add(self, call: LossCall) -> None:
        """One batch: its loss, and its metric while scoring stays cheap."""
        if call.name != self.loss:
            return
        size = len(call.target) if call.target is not None and call.target.dim() else 1
        self.batches += 1
        self.samples += size
        # A sum is as large as its batch already, and compared with the best constant's over a batch of usual size.
        weight = 1 if self.session.losses.facts[call.name].settings.get("reduction") == "sum" else size
        self.weight += weight
        self.gathering.add(call.scalar, lambda value: self._take_loss(value * weight))
        started = perf_counter()
        allowed = _FREE_SECONDS + (started - self.started) * self.session.recorder.budget.share * _SHARE
        unlimited = self.session.recorder.schedule.every is not None
        if call.prediction is None or call.target is None or (self.own > allowed and not unlimited):
            return
        score, self.constant = self.session.progress.score(call)
        if score.metric is not None:
            self.gathering.add(score.metric, lambda value: self._take_metric(value, size))
        if score.classes is not None:
            known = self.classes
            if known is not None and known.shape == score.classes.shape:
                self.classes = known + score.classes
            else:
                self.classes = score.classes
        self.own += perf_counter() - started

    def _take_loss(self, weighted: float) -> None:
        self.total += weighted

    def _take_metric(self, value: float, size: int) -> None:
        self.metric += value * size
        self.scored += size

    def close(self) -> None:
        """No more batches will come."""
        if self.classes is not None:
            for index, figure in enumerate(class_figures(self.classes)):
                self.gathering.add(figure, partial(self.figures.__setitem__, index))
        self.gathering.close()

    def _write(self) -> None:
        row = (
            self.total / self.weight if self.weight else NAN,
            self.constant,
            self.metric / self.scored if self.scored else NAN,
            float(self.samples),
            float(max(self.batches, self.forwards)),
            float(self.training),
            float(self.grad),
            *self.figures,
        )
        self.session.recorder.row("evaluation", self.loss or self.model, self.step, row)


class Evaluation:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.current: Pass | None = None
        self.beside: dict[str, Pass] = {}  # further losses of the current pass, by their names

    def begin(self, model: Model, training: bool, grad: bool) -> None:
        if self.current is None:
            self.session.recorder.break_clock()
            self.current = Pass(self.session, model.name, training, grad)

    def forward_done(self) -> None:
        if self.current is not None:
            self.current.forwards += 1

    def loss_done(self, call: LossCall) -> None:
        """A loss was computed."""
        current = self.current
        if current is None:
            return
        if current.loss and call.name != current.loss:
            # Training and validation loss computed one after the other, from two lines: each is a pass of its own.
            beside = self.beside.get(call.name)
            if beside is None and len(self.beside) < _MOST_BESIDE:
                beside = self.beside[call.name] = Pass(
                    self.session, current.model, current.training, current.grad
                )
            if beside is not None:
                beside.loss = call.name
                beside.add(call)
            return
        current.loss = call.name
        current.add(call)

    def data_begins(self) -> None:
        """A loader is iterated anew: what it yields is evaluated apart from what was evaluated before."""
        if self.current is not None and not self.current.grad and self.current.batches:
            self.close()

    def backward_begins(self) -> None:
        """Gradients are computed: what was seen since, in eval mode but with gradients, was training after all."""
        if self.current is not None and self.current.grad:
            for model in self.session.models.all:
                model.trains_in_eval_mode = model.trains_in_eval_mode or model.name == self.current.model
            self.current = None
            self.beside = {}
        self.close()

    def close(self) -> None:
        """Training goes on, or the program ends: write the pass down."""
        current, self.current = self.current, None
        beside, self.beside = self.beside, {}
        for other in beside.values():
            other.close()
        if current is not None:
            if current.grad:  # its losses were kept in case backward() would follow
                self.session.losses.calls.clear()
            current.close()
            self.session.recorder.break_clock()
