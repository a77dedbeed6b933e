"""Losses: what the program minimises, what the loss is given, and how well the targets are met."""

from __future__ import annotations

import math
import threading
import weakref
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.adapters.torch.guard import RAISED, guarded
from netmend.adapters.torch.watch.eligible import first_tensor, plain, unusual_execution
from netmend.adapters.torch.watch.known import Known
from netmend.adapters.torch.watch.loss_calls import (
    CRITERIA,
    Layout,
    LossCall,
    autograd_path,
    classes_scrambled,
    detached,
    flattened,
    loss_settings,
    operands_of,
    same_for,
    split_arguments,
)
from netmend.adapters.torch.watch.objectives import grown_in_graph, pair_scores, path_facts, recognise
from netmend.library.losses import OF_CLASS_INDEX
from netmend.observe.schedule import FULL
from netmend.observe.targets import task_of
from netmend.vocabulary import LossFact, Site, TaskFact

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_GRAPHS_READ = 2  # closely observed steps whose whole graph is read
_SETTLED = 3  # closely observed steps after which the operations of an objective are known
_REMEMBERED = 8  # loss calls kept until the step ends


class Losses:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.facts: dict[str, LossFact] = {}
        self.tasks: dict[str, TaskFact] = {}
        self.calls: list[LossCall] = []
        self.unscaled: Known[Tensor] = Known()
        self.objectives_known = False
        self._depth = 0
        self._closely_seen = 0
        self._names: dict[tuple[str, int], str] = {}
        self._on_path: set[str] = set()  # operations between output and objective that were written down

    def install(self) -> None:
        watch = self.session.watch
        for criterion in CRITERIA:
            after = partial(self._returned, criterion, getattr(functional, criterion))
            watch("loss functions", functional, criterion, self._calling, after)
        watch("loss modules", nn.modules.loss._Loss, "__call__", self._module, self._module_done)

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
        if name not in self.facts or (grad and self._shows_more(name, prediction, target)):
            settings = loss_settings(original, args, kwargs)
            if flattened(session.models.last_output, prediction):
                settings["sequence"] = True
            module = self.running_module
            self._store(
                LossFact(
                    name,
                    criterion,
                    "function" if module is None else "module",
                    settings,
                    operands_of(criterion, prediction, target),
                    created=None if module is None else session.created.get(module),
                    called=site,
                )
            )
        if not grad and session.evaluation.current is None:
            return
        value = result.detach() if result.numel() == 1 else result.detach().float().mean()
        call = LossCall(name, criterion, weakref.ref(result), detached(prediction), detached(target), value)
        if session.recorder.level == FULL and call.target is not None and isinstance(prediction, Tensor):
            place = (prediction.data_ptr(), prediction.numel())
            places = [output.place for output in session.models.outputs]
            if place in places:
                call.output = places.index(place)
                call.compute = same_for(original, call.target, args, kwargs)
                self._look_at_classes(name, session.models.outputs[call.output], prediction, site)
        if grad:
            del self.calls[: -_REMEMBERED + 1]
            self.calls.append(call)
        session.data.saw_target(call.target)
        if grad:
            session.data.handed.compared(call, site)
        session.evaluation.loss_done(call)

    def _look_at_classes(self, loss: str, output: Layout, prediction: Tensor, site: Site | None) -> None:
        if loss.partition("@")[0] not in OF_CLASS_INDEX or not classes_scrambled(output, prediction):
            return
        values = {
            "before": output.shape,
            "after": tuple(prediction.shape),
            "operation": "view",
            "classes": True,
        }
        self.session.recorder.probe("axis order", loss, values, site)

    def _name(self, criterion: str, site: Site | None) -> str:
        key = (criterion, id(site))  # sites are interned
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"{criterion}@{site.short}" if site is not None else criterion
        return name

    def _shows_more(self, name: str, prediction: Any, target: Any) -> bool:
        """Whether the line was first reached by an evaluation, and now gradients are seen too."""
        if self.facts[name].backward is not None or any(o.requires_grad for o in self.facts[name].operands):
            return False
        return any(isinstance(value, Tensor) and value.requires_grad for value in (prediction, target))

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
        session.functions.leave()
        objective = first_tensor(tensors)
        site = session.sites.here()
        session.recorder.patterns.note("backward", "", "grad" if by_grad else "", site)
        if objective is None or not counts:
            return
        session.evaluation.backward_begins()
        if session.steps.by_hand and not session.models.all:
            session.steps.boundary()
            if session.recorder.level == FULL or not session.by_hand.parameters():
                session.by_hand.find_leaves(objective)
        original = self.unscaled.get(objective)
        shown = original if original is not None else objective
        value = session.steps.backward(shown.detach() if shown.numel() == 1 else None, site)
        if session.thread is None:
            session.thread = threading.get_ident()
        if session.recorder.level == FULL:
            name = self._identify(objective, shown, value, site)
            session.graphs.look(name, objective)
            session.loose.look(objective)
            session.passages.look(objective)
            session.first_batch.backward_begins(objective)
        if value is not None and not math.isfinite(value):
            session.nonfinite.check_loss(objective, value, site)

    def _identify(self, objective: Tensor, shown: Tensor, value: float | None, site: Site | None) -> str:
        """Which loss is this? A function that was called, or an expression, recognised by what it computes. Its name."""
        matching = next(
            (call for call in self.calls if call.result() is shown or call.result() is objective), None
        )
        path = autograd_path(objective)
        self._describe_path(objective, site)
        if matching is not None:
            fact = self.facts.get(matching.name)
            if fact is not None and (fact.backward != site or not fact.operations):
                self._store(replace(fact, backward=site, operations=path))
            return matching.name
        name = self._name("objective", site)
        settings: dict[str, Any] = {"terms": [call.name for call in self.calls]} if self.calls else {}
        if settings and value and name not in self.facts and self._negated(value):
            settings["negated"] = True
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
                        name, criterion, reference, detached(prediction), detached(target), shown.detach()
                    )
                )
                self.session.data.saw_target(target)
                return name
        if name not in self.facts:
            called = functions.tail[0].site if functions.tail else None
            self._store(
                LossFact(
                    name, "expression", "expression", settings, called=called, backward=site, operations=path
                )
            )
        return name

    def _describe_path(self, objective: Tensor, site: Site | None) -> None:
        """Activations and growing shapes between the model's output and the objective, each written down once."""
        steps = list(path_facts(self.session.functions.tail))
        if not self.objectives_known and not any("first" in step.settings for step in steps):
            # A forward pass in between (of a target network, say) ends the watch over calls; the graph holds them all.
            grown = grown_in_graph(objective, site)
            steps += [grown] if grown is not None else []
        if self._closely_seen < _GRAPHS_READ:
            steps += pair_scores(objective)
        for step in steps:
            if step.name not in self._on_path:
                self._on_path.add(step.name)
                self.session.recorder.fact(step)

    def _negated(self, value: float) -> bool:
        """Whether the objective is exactly the negative of the loss functions that were called."""
        total = sum(float(call.scalar) for call in self.calls)
        return math.isclose(value, -total, rel_tol=1e-5)

    # -- the end of a step ---------------------------------------------------------------------------------------

    def step_over(self, step: int) -> None:
        self.session.progress.step_over(step)
        if self.calls or self.facts:
            self._closely_seen += 1
            # What a hand-written objective is given can only be seen by watching its operations again.
            written = any(f.form == "expression" != f.criterion for f in self.facts.values())
            self.objectives_known = self._closely_seen >= _SETTLED and not written

    def repeatable(self) -> LossCall | None:
        """The last loss of this step, if there is one kind only and it could be computed for other outputs of the model."""
        last = self.calls[-1] if len({call.name for call in self.calls}) == 1 else None
        return last if last is not None and last.compute is not None else None

    def forget(self) -> None:
        self.session.progress.keep(self.calls)
        self.calls.clear()
        self.session.functions.forget_tail()
