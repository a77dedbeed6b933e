"""Progress: how well the targets are met, in training and in evaluation, beside what the best constant prediction would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from torch import Tensor

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.meters.host_meter import NAN
from netmend.adapters.torch.watch.arrivals import Gathering
from netmend.adapters.torch.watch.loss_calls import LossCall
from netmend.adapters.torch.watch.scores import Score, class_figures, score_of, show_targets
from netmend.observe.schedule import LINE
from netmend.observe.targets import Targets
from netmend.vocabulary import TargetFact

if TYPE_CHECKING:
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
        self.gathering = Gathering(session)
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
        self.gathering.close(self._write)

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


_KEPT = 1 << 20  # bytes of a tensor that may be kept for a step longer


class Progress:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.targets: dict[str, Targets] = {}  # by loss
        self._looked: dict[str, int] = {}
        self._last: dict[str, Kept] = {}  # by loss, since the last look

    def _minimised(self) -> set[str]:
        """Losses whose gradient is taken, alone or as terms of an objective."""
        facts = self.session.losses.facts
        minimised = {name for name, fact in facts.items() if fact.backward is not None}
        return minimised | {term for fact in facts.values() for term in fact.settings.get("terms", ())}

    @guarded("accuracy and the best constant prediction", inside=True)
    def step_over(self, step: int) -> None:
        minimised = self._minimised()
        aside = None
        for call in self.session.losses.calls:
            if call.prediction is None or call.target is None:
                continue
            if not minimised or call.name in minimised:
                self._last.pop(call.name, None)
                write_progress(self.session, call, step)
            else:  # computed with gradients but never minimised: an evaluation in training mode
                aside = aside or Pass(self.session, call.name, training=True, grad=True)
                aside.loss = aside.loss or call.name
                aside.add(call)
        if aside is not None:
            aside.close()

    def keep(self, calls: Sequence[LossCall]) -> None:
        """A step that is not looked at closely is over: it may turn out to be the last, whose figures people read."""
        if self.session.recorder.level == LINE:
            step = self.session.recorder.step
            self._last |= {call.name: Kept.of(step, call) for call in calls if _small(call)}

    def _look_at_last(self) -> None:
        minimised = self._minimised()
        for kept in self._last.values():
            if kept.unchanged() and (not minimised or kept.call.name in minimised):
                write_progress(self.session, kept.call, kept.step)

    def score(self, call: LossCall) -> tuple[Score, float]:
        """How one batch was met, and the loss of the best constant prediction for all targets seen so far."""
        fact = self.session.losses.facts[call.name]
        targets = self.targets.setdefault(call.name, Targets())
        assert call.prediction is not None and call.target is not None
        looked = self._looked[call.name] = self._looked.get(call.name, 0) + 1
        # Reading targets makes the host wait for a device: there, only at the 1st, 2nd, 4th, 8th … look.
        if call.target.device.type == "cpu" or looked & (looked - 1) == 0:
            show_targets(targets, fact, call.prediction, call.target)
        constant = targets.constant_loss(fact.criterion, fact.settings)
        score = score_of(fact, call.prediction, call.target, targets)
        return score, constant if constant is not None else NAN

    def finish(self) -> None:
        self._look_at_last()
        for name, targets in self.targets.items():
            fact = self.session.losses.facts[name]
            counts = targets.counts.tolist() if targets.counts is not None else []
            means, variances = targets.means, targets.variances
            self.session.recorder.fact(
                TargetFact(
                    name=name,
                    samples=targets.samples,
                    class_counts={str(k): int(n) for k, n in enumerate(counts) if n}
                    if len(counts) <= 1000
                    else {},
                    mean=float(means.mean()) if means is not None else None,
                    std=float(variances.mean() ** 0.5) if variances is not None else None,
                    constant_loss=targets.constant_loss(fact.criterion, fact.settings),
                )
            )


@dataclass(frozen=True)
class Kept:
    """A loss call of a step that is over, with the state of what it was given."""

    step: int
    call: LossCall
    versions: tuple[int, ...]

    @classmethod
    def of(cls, step: int, call: LossCall) -> Kept:
        return cls(step, call, _versions(call))

    def unchanged(self) -> bool:
        """Whether nobody has written into its tensors since."""
        return self.versions == _versions(self.call)


def _versions(call: LossCall) -> tuple[int, ...]:
    return tuple(value._version for value in (call.prediction, call.target) if value is not None)


def _small(call: LossCall) -> bool:
    """Whether keeping it until the next step costs no memory to speak of; what is cut from a larger tensor keeps all of that."""
    given = (call.prediction, call.target)
    return all(
        value is not None and not value.is_inference() and value.untyped_storage().nbytes() <= _KEPT
        for value in given
    )


def write_progress(session: TorchSession, call: LossCall, step: int) -> None:
    """A row of the table of progress, written when its numbers are known."""
    score, constant = session.progress.score(call)
    row = [NAN, constant, NAN, NAN, NAN, NAN]
    gathering = Gathering(session)
    figures = class_figures(score.classes) if score.classes is not None else ()
    for place, number in zip((0, 2, 3, 4, 5), (call.scalar, score.metric, *figures), strict=False):
        if number is not None:
            gathering.add(number, partial(row.__setitem__, place))
    gathering.close(lambda: session.recorder.row("progress", call.name, step, row))
