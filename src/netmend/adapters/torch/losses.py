"""Losses: what the program minimises, what the loss is given, and how well the targets are met."""

from __future__ import annotations

import math
import threading
import weakref
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.adapters.torch.arrivals import Gathering
from netmend.adapters.torch.eligible import first_tensor, plain, unusual_execution
from netmend.adapters.torch.evaluation import Pass
from netmend.adapters.torch.expressions import autograd_path, recognise
from netmend.adapters.torch.guard import RAISED, around, guarded
from netmend.adapters.torch.known import Known
from netmend.adapters.torch.operands import loss_settings, operands_of, split_arguments
from netmend.adapters.torch.scores import metric_of, show_targets
from netmend.observe.schedule import FULL
from netmend.observe.targets import Targets
from netmend.observe.task import task_of
from netmend.vocabulary import LossFact, Site, TargetFact, TaskFact

if TYPE_CHECKING:
    from netmend.adapters.torch.session import TorchSession

CRITERIA = [
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "cosine_embedding_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "ctc_loss",
]
_SETTLED = 3  # closely observed steps after which the operations of an objective are known
_REMEMBERED = 8  # loss calls kept until the step ends


@dataclass
class LossCall:
    """One call of a loss function; holds no graph."""

    name: str
    criterion: str
    result: weakref.ref[Tensor]
    prediction: Tensor | None
    target: Tensor | None
    scalar: Tensor  # detached


class Losses:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.facts: dict[str, LossFact] = {}
        self.targets: dict[str, Targets] = {}
        self.tasks: dict[str, TaskFact] = {}
        self.calls: list[LossCall] = []
        self.unscaled: Known[Tensor] = Known()
        self.objectives_known = False
        self._depth = 0
        self._closely_seen = 0
        self._names: dict[tuple[str, int], str] = {}
        self._looked: dict[str, int] = {}

    def install(self) -> None:
        session, wrap = self.session, self.session.patches.wrap
        for criterion in CRITERIA:
            original = getattr(functional, criterion)
            after = partial(self._returned, criterion, original)
            wrap(functional, criterion, around(session, "loss functions", self._calling, after))
        wrap(
            nn.modules.loss._Loss,
            "__call__",
            around(session, "loss modules", self._module, self._module_done),
        )

    def _calling(self, args: Any, kwargs: Any) -> bool | None:
        """Whether the operations around the loss are being watched; None when the call is of no interest."""
        # Losses call each other, and under a function mode themselves: the outermost call counts.
        if self._depth or not self.session.watching() or self.session.in_backward:
            return None
        # A mode around the loss would put frames between it and the user's line: it is left for a moment.
        spied = self.session.functions.leave_tail()
        self._depth += 1
        return spied

    def _returned(
        self, criterion: str, original: Any, token: Any, args: Any, kwargs: Any, result: Any
    ) -> None:
        self._depth -= 1
        if token:
            self.session.functions.resume_tail(result)
        if result is not RAISED and not unusual_execution():
            self.called(criterion, original, result, args, kwargs)

    def _module(self, args: Any, kwargs: Any) -> bool:
        """Remember which loss module is running, so that its creation line is known."""
        self.running_module = args[0]
        return True

    def _module_done(self, token: Any, args: Any, kwargs: Any, result: Any) -> None:
        self.running_module = None

    running_module: nn.Module | None = None

    # -- loss functions -----------------------------------------------------------------------------------------

    @guarded("loss functions")
    def called(self, criterion: str, original: Any, result: Any, args: Any, kwargs: Any) -> None:
        session = self.session
        if not isinstance(result, Tensor) or not plain(result):
            return
        site = session.sites.here()
        name = self._name(criterion, site)
        prediction, target = split_arguments(args, kwargs)
        grad = torch.is_grad_enabled() and result.requires_grad
        session.recorder.patterns.note("loss", name, "" if grad else "no_grad", site)
        if name not in self.facts:
            settings = loss_settings(original, args, kwargs)
            if _flattened(session.models.last_output, prediction):
                settings["sequence"] = True
            self._learn(name, criterion, settings, site, prediction, target)
        if not grad and session.evaluation.current is None:
            return
        value = result.detach() if result.numel() == 1 else result.detach().float().mean()
        call = LossCall(name, criterion, weakref.ref(result), _detached(prediction), _detached(target), value)
        if grad:
            del self.calls[: -_REMEMBERED + 1]
            self.calls.append(call)
        session.data.saw_target(call.target)
        session.evaluation.loss_done(call)

    def _name(self, criterion: str, site: Site | None) -> str:
        key = (criterion, id(site))  # sites are interned
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"{criterion}@{site.short}" if site is not None else criterion
        return name

    def _learn(
        self,
        name: str,
        criterion: str,
        settings: dict[str, Any],
        site: Site | None,
        prediction: Any,
        target: Any,
    ) -> None:
        module = self.running_module
        operands = operands_of(criterion, prediction, target)
        fact = LossFact(
            name=name,
            criterion=criterion,
            form="module" if module is not None else "function",
            settings=settings,
            operands=operands,
            created=self.session.created.get(module) if module is not None else None,
            called=site,
        )
        self._store(fact)

    def _store(self, fact: LossFact) -> None:
        self.facts[fact.name] = fact
        self.session.recorder.fact(fact)
        task = task_of(fact)
        self.tasks[fact.name] = task
        self.session.recorder.fact(task)

    # -- backward -----------------------------------------------------------------------------------------------

    @guarded("the objective")
    def before_backward(self, tensors: Any, by_grad: bool = False, counts: bool = True) -> None:
        session = self.session
        session.functions.leave_all()
        objective = first_tensor(tensors)
        site = session.sites.here()
        session.recorder.patterns.note("backward", "", "grad" if by_grad else "", site)
        if objective is None or not counts:
            return
        session.evaluation.backward_begins()
        if session.steps.by_hand and not session.models.all:
            session.busy = False
            session.steps.boundary()
            session.busy = True
            if session.recorder.level == FULL or not session.optimizers.parameters_by_hand():
                session.optimizers.find_leaves(objective)
        original = self.unscaled.get(objective)
        shown = original if original is not None else objective
        value = session.steps.backward(shown.detach() if shown.numel() == 1 else None, site)
        if session.thread is None:
            session.thread = threading.get_ident()
        if session.recorder.level == FULL:
            self._identify(objective, shown, value, site)
        if value is not None and not math.isfinite(value):
            session.nonfinite.check_loss(objective, value, site)

    def _identify(self, objective: Tensor, shown: Tensor, value: float | None, site: Site | None) -> None:
        """Which loss is this? A function that was called, or an expression, recognised by what it computes."""
        matching = next(
            (call for call in self.calls if call.result() is shown or call.result() is objective), None
        )
        path = autograd_path(objective)
        if matching is not None:
            fact = self.facts.get(matching.name)
            if fact is not None and (fact.backward != site or not fact.operations):
                self._store(replace(fact, backward=site, operations=path))
            return
        name = self._name("objective", site)
        settings: dict[str, Any] = {"terms": [call.name for call in self.calls]} if self.calls else {}
        functions = self.session.functions
        if not self.calls and functions.model_output is not None and value is not None:
            found = recognise(functions.tail, functions.model_output, value)
            if found is not None:
                criterion, prediction, target, settings = found
                known = self.facts.get(name)
                if known is None:
                    fact = LossFact(
                        name, criterion, "expression", settings, operands_of(criterion, prediction, target)
                    )
                    self._store(replace(fact, called=functions.tail[0].site, backward=site, operations=path))
                reference = weakref.ref(shown)
                self.calls.append(
                    LossCall(
                        name, criterion, reference, _detached(prediction), _detached(target), shown.detach()
                    )
                )
                self.session.data.saw_target(target)
                return
        if name not in self.facts:
            called = functions.tail[0].site if functions.tail else None
            self._store(
                LossFact(
                    name, "expression", "expression", settings, called=called, backward=site, operations=path
                )
            )

    # -- the end of a step ---------------------------------------------------------------------------------------

    @guarded("accuracy and the best constant predictor")
    def _score(self, step: int) -> None:
        minimised = {name for name, fact in self.facts.items() if fact.backward is not None}
        terms = {term for fact in self.facts.values() for term in fact.settings.get("terms", ())}
        aside = None
        for call in self.calls:
            if call.prediction is None or call.target is None:
                continue
            if not minimised or call.name in minimised or call.name in terms:
                Progress(self.session, call, step)
            else:  # computed with gradients but never minimised: an evaluation in training mode
                aside = aside or Pass(self.session, call.name, training=True, grad=True)
                aside.loss = aside.loss or call.name
                aside.add(call)
        if aside is not None:
            aside.gathering.close()

    def score(self, call: LossCall) -> tuple[Tensor | None, float]:
        """Metric of one batch, and the loss of the best constant predictor for all targets seen so far."""
        fact = self.facts[call.name]
        targets = self.targets.setdefault(call.name, Targets())
        assert call.prediction is not None and call.target is not None
        looked = self._looked[call.name] = self._looked.get(call.name, 0) + 1
        # Reading targets makes the host wait for a device: there, only at the 1st, 2nd, 4th, 8th … look.
        if call.target.device.type == "cpu" or looked & (looked - 1) == 0:
            show_targets(targets, fact, call.prediction, call.target)
        constant = targets.constant_loss(fact.criterion, fact.settings)
        metric = metric_of(fact, call.prediction, call.target, targets)
        return metric, constant if constant is not None else float("nan")

    def step_over(self, step: int) -> None:
        self.session.busy = False
        self._score(step)
        self.session.busy = True
        if self.calls or self.facts:
            self._closely_seen += 1
            self.objectives_known = self._closely_seen >= _SETTLED

    def forget(self) -> None:
        self.calls.clear()
        self.session.functions.forget_tail()

    def finish(self) -> None:
        for name, targets in self.targets.items():
            fact = self.facts[name]
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


class Progress:
    """A row of the table of progress, written when its numbers are known."""

    def __init__(self, session: TorchSession, call: LossCall, step: int) -> None:
        self._recorder = session.recorder
        self._name, self._step = call.name, step
        self._loss = self._metric = float("nan")
        metric, self._constant = session.losses.score(call)
        gathering = Gathering(session, self._write)
        gathering.add(call.scalar, self._take_loss)
        if metric is not None:
            gathering.add(metric, self._take_metric)
        gathering.close()

    def _take_loss(self, value: float) -> None:
        self._loss = value

    def _take_metric(self, value: float) -> None:
        self._metric = value

    def _write(self) -> None:
        self._recorder.row("progress", self._name, self._step, (self._loss, self._constant, self._metric))


def _flattened(output: tuple[int, ...] | None, prediction: Any) -> bool:
    """Whether the model gave classes for every position of a sequence, and the positions were then laid in a row."""
    if output is None or len(output) < 3 or not isinstance(prediction, Tensor) or prediction.dim() != 2:
        return False
    return output[-1] == prediction.shape[1] and math.prod(output[:-1]) == prediction.shape[0]


def _detached(value: Any) -> Tensor | None:
    return value.detach() if isinstance(value, Tensor) and plain(value) else None
