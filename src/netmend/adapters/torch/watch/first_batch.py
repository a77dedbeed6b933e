"""FirstBatch: small experiments with each model and its own batch, early in the run (probes/); some come again later.

They replay the forward pass. A model whose code cannot be run again unseen, or is too large or too slow, is left alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.guard import guarded
from netmend.adapters.torch.probes import first_step, forward_passes, gradient_check, looking_ahead
from netmend.adapters.torch.probes.bench import Bench, Found, spread
from netmend.adapters.torch.probes.copies import Workshop, batch_overfit, input_ignored, rate_probe
from netmend.adapters.torch.watch.eligible import unusual_execution
from netmend.adapters.torch.watch.undisturbed import Kept, undisturbed
from netmend.adapters.torch.watch.user_code import Quiet

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.models import Model
    from netmend.adapters.torch.watch.nonfinite import ForwardCall
    from netmend.adapters.torch.watch.session import TorchSession

AFFINE = "affine"
# By the name of what is found out; in the order in which they are made.
_FIRST: dict[str, Callable[[Bench], Found | Iterable[Found] | None]] = {
    "layout": forward_passes.layout,
    "eval determinism": forward_passes.eval_determinism,
    "batch independence": forward_passes.batch_independence,
    "input dependency": forward_passes.input_dependency,
    AFFINE: forward_passes.affine,
    "axis order": forward_passes.axis_order,
    gradient_check.WHAT: gradient_check.examine,
}
_TRAINING = {
    "batch overfit": batch_overfit,
    "input ignored": input_ignored,
    "rate probe": rate_probe,
}  # with --probe
_REPLAYS = 8  # that the first probes need, about
_SECONDS = 0.15  # of computing they may take together; at the first step, no budget is touched
_LARGEST = 64_000_000  # bytes of parameters: they are copied
_WHOLE = 64  # samples of a batch that is used as it is when its model takes no smaller one
_TRIES = 5
_FIRST_GAP, _GAPS = 16, 6  # train against eval mode, when running averages have settled, and ever more rarely
_GAP_SHARE = 0.5  # of the budget
_HARMLESS_THREADS = ("tqdm", "multiprocessing", "torch", "tensorboard", "tensorboardX", "netmend")
_FEW_SECONDS = 0.005  # that a look at both modes may take in the first minute even where the allowance is used up for now


@dataclass
class _Known:
    """How far the experiments with one model have come."""

    next_try: int = 0
    tries: int = 0
    done: bool = False
    next_gap: int = _FIRST_GAP
    gaps: int = 0
    trained: bool = False
    ahead: bool = False  # asked whether it sees later positions


class FirstBatch:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self._known: dict[str, _Known] = {}
        self._functions_checked = False

    @guarded("first-batch checks", inside=True)
    def step_over(self, step: int) -> None:
        """A closely observed step has ended; its batch, its random state and its losses are still there."""
        session = self.session
        # Of several passes in a step the last one, to which the last loss belongs.
        due = {id(call.module()): call for call in session.nonfinite.calls if self._due(call, step)}
        if due and not session.nonfinite.found and not session.compiled and self._safe_now():
            for call in due.values():
                self._examine(call, step)

    @guarded("first-batch checks", inside=True)
    def backward_begins(self, objective: Tensor) -> None:
        """Hand-written gradients between model and objective can be checked while the graph is there."""
        if self._functions_checked:
            return
        self._functions_checked = True
        kinds = gradient_check.written_by_user(self.session.sites)
        if not kinds or self.session.compiled or not self._safe_now():
            return
        calls = gradient_check.calls_behind(objective, kinds)
        quiet, kept = Quiet(self.session.sites), Kept()
        if not all(quiet.read_function(kind) for kind in calls):
            return
        with undisturbed(None, kept):
            quiet.keep(kept)
            for found in gradient_check.outcomes(calls):
                self._record(gradient_check.WHAT, found, found.component)

    def _due(self, call: ForwardCall, step: int) -> bool:
        module = call.module()
        model = self.session.models.find(module) if module is not None else None
        if model is None or not model.training_pass:
            return False
        known = self._known.setdefault(model.name, _Known())
        first = not (known.done and known.ahead) and step >= known.next_try
        return first or (known.gaps < _GAPS and step >= known.next_gap)

    def _safe_now(self) -> bool:
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        return not distributed and not unusual_execution() and all(map(_harmless, threading.enumerate()))

    def _examine(self, call: ForwardCall, step: int) -> None:
        module = call.module()
        model = self.session.models.find(module) if module is not None else None
        if module is None or model is None:
            return
        known = self._known[model.name]
        trainable = not _hidden_dice(module)
        gap = known.gaps < _GAPS and step >= known.next_gap and self._affordable(2 * model.forward_seconds)
        gap = gap and trainable
        if step >= known.next_gap:
            known.next_gap = 4 * step
        due = step >= known.next_try
        first, ahead = due and not known.done, due and not known.ahead
        if first or ahead:
            known.tries += 1
            known.next_try = max(1, 4 * step)
            known.done = known.done or known.tries >= _TRIES
        bench = Bench.of(self.session, module, model.name, call) if first or ahead or gap else None
        first = first and bench is not None and self._fast(model, known, bench)
        if bench is None or not (first or gap or ahead):
            return
        quiet = Quiet(self.session.sites)
        kept = Kept()
        if not quiet.read(module) or not self._small(model, module):
            known.done, known.gaps, known.ahead = True, _GAPS, True
            return
        with undisturbed(module, kept):
            quiet.keep(kept)
            if not kept.whole:
                known.done, known.gaps, known.ahead = True, _GAPS, True
                return
            if ahead:
                known.ahead = self._ahead(bench, model) or known.tries >= _TRIES
            if first and self._first(bench, model):
                known.done = True
            if gap:
                known.gaps += 1
                self._gap(bench, known)
        if self.session.probe and trainable and not known.trained:
            known.trained = True
            started = perf_counter()
            self._train_copies(bench, quiet)
            self.session.recorder.asked_for(perf_counter() - started)

    def _fast(self, model: Model, known: _Known, bench: Bench) -> bool:
        """The first forward pass of a program takes longer than all others: what is slow now is tried again."""
        few = bench.fewer() or bench
        fast = model.forward_seconds * few.rows / max(bench.rows, 1) * 4 <= _SECONDS
        if not fast and known.done:
            self._left_out(model.name, "a forward pass takes too long")
        return fast

    def _small(self, model: Model, module: nn.Module) -> bool:
        size = sum(p.numel() * p.element_size() for p in module.parameters())
        if size > _LARGEST:
            self._left_out(model.name, "it is too large")
        return size <= _LARGEST

    def _affordable(self, seconds: float) -> bool:
        budget = self.session.recorder.budget
        little = _FEW_SECONDS if budget.starting else _GAP_SHARE * budget.share * budget.wall_seconds
        return seconds < _SECONDS and (budget.allows(seconds) or seconds < little)

    def _left_out(self, name: str, why: str, what: str = "first-batch checks") -> None:
        self.session.recorder.missing(f"{what} of {name} left out: {why}")

    # -- experiments --------------------------------------------------------------------------------------------

    def _first(self, whole: Bench, model: Model) -> bool:
        """Whether everything was found out; a model that says the same about all samples is asked again later."""
        started = thread_time()
        few = whole.fewer()
        used = few if few is not None else whole
        if few is not None and few.refused and whole.rows <= _WHOLE:
            used = whole  # written for one size of batch
        if whole.rows == 1:
            found = forward_passes.affine_alone(whole)
            if found is not None:
                self._record(AFFINE, found, whole.name)
            return True
        sizes = {size for leaf in used.batched for size in leaf.shape[1:]}
        if not 2 <= used.rows <= _WHOLE or used.rows in sizes:
            return True  # the axis of the samples cannot be told from others
        if used.base is not None and (thread_time() - started) * _REPLAYS / 2 > 2 * _SECONDS:
            self._left_out(model.name, "a forward pass takes too long")
            return True
        for what, examine in _FIRST.items():
            for found in _all(examine(used)):
                self._record(what, found, used.name)
        return used.base is None or spread(used.base) > 0

    def _ahead(self, bench: Bench, model: Model) -> bool:
        """Whether it was found out. Short sequences cost little even where a forward pass of the whole batch takes long."""
        found = looking_ahead.examine(bench, model.forward_seconds)
        if found is not None:
            self._record(looking_ahead.WHAT, found, bench.name)
        return found is None or "ahead" in found.values  # keywords of the very first call are not known

    def _gap(self, bench: Bench, known: _Known) -> None:
        alone = first_step.examine(bench) if known.gaps == 1 else None
        if alone is not None:
            self._record(first_step.WHAT, alone, bench.name)
        found = forward_passes.mode_gap(bench)
        if found is None or not found.values["output"]:
            known.gaps = _GAPS  # modes make no difference here
        if found is not None:
            self._record("mode gap", found, bench.name, f":{bench.step}")

    def _train_copies(self, bench: Bench, quiet: Quiet) -> None:
        """The costlier experiments, when asked for."""
        workshop = Workshop.of(bench)
        if workshop is None:
            self._left_out(bench.name, "its loss cannot be computed again", "--probe")
            return
        kept = Kept()
        with undisturbed(None, kept):
            quiet.keep(kept)
            for what, examine in _TRAINING.items():
                bench.call.random.restore()
                try:
                    with torch.enable_grad():
                        found = examine(workshop)
                except Exception as problem:  # noqa: BLE001 - the user's code, in a situation it was not written for
                    self._left_out(bench.name, f"{type(problem).__name__}: {problem}", what)
                    continue
                if found is not None:
                    self._record(what, found, bench.name)

    def _record(self, what: str, found: Found, model: str, suffix: str = "") -> None:
        component = found.component or model
        self.session.recorder.probe(what, component, dict(found.values), found.site, f"{component}{suffix}")


def _all(found: Any) -> Iterator[Found]:
    if isinstance(found, Found):
        yield found
    elif found is not None:
        yield from found


def _hidden_dice(module: nn.Module) -> bool:
    """Whether training it draws from a state that cannot be put back: dropout inside cuDNN's recurrent layers."""
    layers = (child for child in module.modules() if isinstance(child, nn.RNNBase) and child.dropout)
    return any(p.is_cuda for layer in layers for p in layer.parameters())


def _harmless(thread: threading.Thread) -> bool:
    """A thread that neither draws random numbers nor runs the user's code."""
    if thread is threading.current_thread():
        return True
    target = getattr(thread, "_target", None) or getattr(thread, "function", None)  # the latter of a timer
    module = getattr(target, "__module__", None) or type(thread).__module__
    return module.split(".")[0] in _HARMLESS_THREADS
