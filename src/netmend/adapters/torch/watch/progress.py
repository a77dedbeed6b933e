"""Progress: how well the targets are met, and how well the best constant prediction would meet them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.watch.arrivals import Gathering
from netmend.adapters.torch.watch.evaluation import Pass
from netmend.adapters.torch.watch.loss_calls import LossCall
from netmend.adapters.torch.watch.scores import Score, class_figures, score_of, show_targets
from netmend.observe.schedule import LINE
from netmend.observe.targets import Targets
from netmend.vocabulary import TargetFact

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

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

    @guarded("accuracy and the best constant prediction")
    def step_over(self, step: int) -> None:
        minimised = self._minimised()
        aside = None
        for call in self.session.losses.calls:
            if call.prediction is None or call.target is None:
                continue
            if not minimised or call.name in minimised:
                self._last.pop(call.name, None)
                ProgressRow(self.session, call, step)
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
                ProgressRow(self.session, kept.call, kept.step)

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
        return score, constant if constant is not None else float("nan")

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


class ProgressRow:
    """A row of the table of progress, written when its numbers are known."""

    def __init__(self, session: TorchSession, call: LossCall, step: int) -> None:
        self._recorder = session.recorder
        self._name, self._step = call.name, step
        self._loss = self._metric = float("nan")
        self._figures = [float("nan")] * 3
        score, self._constant = session.progress.score(call)
        gathering = Gathering(session, self._write)
        gathering.add(call.scalar, self._take_loss)
        if score.metric is not None:
            gathering.add(score.metric, self._take_metric)
        if score.classes is not None:
            for index, figure in enumerate(class_figures(score.classes)):
                gathering.add(figure, partial(self._figures.__setitem__, index))
        gathering.close()

    def _take_loss(self, value: float) -> None:
        self._loss = value

    def _take_metric(self, value: float) -> None:
        self._metric = value

    def _write(self) -> None:
        self._recorder.row(
            "progress", self._name, self._step, (self._loss, self._constant, self._metric, *self._figures)
        )
