"""Nonfinite: notices the first NaN or infinity and finds the operation that made it.

Every step costs only a look at the loss and at a few small gradients. The step that goes wrong is replayed: its inputs,
random state and weights are still there (replay.py).
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.guard import guarded, shielded
from netmend.adapters.torch.watch.eligible import tensors_in
from netmend.adapters.torch.watch.replay import (
    Origin,
    _described,
    _function_name,
    replay_backward,
    replay_forward,
)
from netmend.adapters.torch.watch.undisturbed import RandomState
from netmend.vocabulary import Event, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession


_MOST_CALLS = 4  # forward passes of one step that are kept for a replay
# Whose derivatives are infinite or undefined somewhere.
_STEEP = (
    "sqrt",
    "norm",
    "linalg_vector_norm",
    "pow",
    "log",
    "div",
    "truediv",
    "reciprocal",
    "acos",
    "asin",
    "atan2",
)
_LARGEST_GRADIENT = 16_000_000  # bytes of an output's gradient that may be held until the step ends


@dataclass
class ForwardCall:
    """What is needed to run a model's forward pass of this step again; dropped when the step ends."""

    module: weakref.ref[nn.Module]
    args: Any
    kwargs: Any
    random: RandomState
    site: Site | None = None  # the line that called the model
    output_gradients: list[Tensor | None] = field(default_factory=list)
    output_nodes: list[int] = field(default_factory=list)  # sequence numbers of the nodes that made them


class Nonfinite:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.calls: list[ForwardCall] = []
        self.found = False
        self._gradient_trouble = False

    def entering(self, module: nn.Module, args: Any, kwargs: Any, site: Site | None = None) -> None:
        """A training forward pass begins."""
        if not self.found:
            del self.calls[: -_MOST_CALLS + 1]
            self.calls.append(ForwardCall(weakref.ref(module), args, kwargs, RandomState.now(), site))

    def leaving(self, output: Any) -> None:
        """It has ended: listen for the gradients of its outputs."""
        if self.found or not self.calls or self.calls[-1].output_gradients:
            return
        kept = self.calls[-1].output_gradients
        outputs = (output,) if isinstance(output, Tensor) else tensors_in(output)
        for tensor in outputs:
            if tensor.requires_grad and tensor.is_floating_point():
                kept.append(None)
                if tensor.grad_fn is not None:
                    self.calls[-1].output_nodes.append(tensor.grad_fn._sequence_nr())
                if tensor.is_cpu and tensor.numel() * tensor.element_size() <= _LARGEST_GRADIENT:
                    tensor.register_hook(
                        shielded(self.session, "gradients of outputs", _keeper(kept, len(kept) - 1))
                    )

    def forget(self) -> None:
        self.calls.clear()

    # -- noticing -----------------------------------------------------------------------------------------------

    def check_loss(self, objective: Tensor, value: float, site: Site | None) -> None:
        """The loss is not finite, and backward() is about to be called: nothing is lost yet."""
        if self.found:
            return
        self.found = True
        session = self.session
        session.recorder.schedule.anomaly()
        bad = [name for name, p in session.models.parameters() if not _finite(p)]
        if bad:
            self._report(self._weights(bad), "loss", value)
            return
        origin = (
            self._origin_forward()
            or self._bad_target()
            or origin_in_tail(objective, self.calls, session.functions.tail_sites)
        )
        self._report(origin or self._loss_itself("forward", site), "loss", value)

    def clip_norm(self, value: float) -> None:
        self._gradient_trouble = self._gradient_trouble or not math.isfinite(value)

    def check_gradients(self, named: list[tuple[str, Tensor]]) -> None:
        """Gradients are not finite although the loss was; the optimiser is about to use them."""
        if self.found:
            return
        self.found = True
        session = self.session
        session.recorder.schedule.anomaly()
        bad = [name for name, p in named if p.grad is not None and not _finite(p.grad)]
        origin = self._origin_backward()
        detail = origin or Origin(
            f"the gradient of {bad[0] if bad else 'a parameter'}", "backward", "unknown", None
        )
        self._report(detail, "gradient", float("nan"), bad)

    def late_loss(self, value: float, step: int) -> None:
        """A device reported a non-finite loss after its step was over: the state that made it is gone."""
        if self.found:
            return
        self.found = True
        session = self.session
        session.recorder.schedule.anomaly()
        session.recorder.event(
            Event(
                step,
                "nonfinite",
                f"the loss became {_word(value)} at step {step}; it was seen on the host only after that step. "
                "Run again with --trap to catch the operation that makes it",
                detail={"value": str(value), "what": "loss", "exact": False},
            )
        )

    # -- finding ------------------------------------------------------------------------------------------------

    @guarded("the origin of non-finite values", inside=True)
    def _origin_forward(self) -> Origin | None:
        for call in self.calls:
            module = call.module()
            if module is None:
                continue
            if any(not _finite(t) for t in tensors_in((call.args, call.kwargs)) if t.is_floating_point()):
                return Origin("the input of the model", "data", "input", call.site)
            origin = replay_forward(self.session, module, call)
            if origin is not None:
                return origin
        return None

    def _bad_target(self) -> Origin | None:
        for call in self.session.losses.calls:
            if call.target is not None and not _finite(call.target):
                fact = self.session.losses.facts.get(call.name)
                return Origin("the target of the loss", "data", "target", fact.called if fact else None)
        return None

    @guarded("the origin of non-finite values", inside=True)
    def _origin_backward(self) -> Origin | None:
        for call in self.calls:
            module = call.module()
            known = [g for g in call.output_gradients if g is not None]
            if module is None or not known:
                continue
            if any(not _finite(g) for g in known):
                return self._loss_backward()
            origin = replay_backward(self.session, module, call)
            if origin is not None:
                return origin
        return None

    def _loss_backward(self) -> Origin:
        """The gradient that reaches the model is already bad: the loss itself makes it."""
        sites = self.session.functions.tail_sites
        for name in _STEEP:
            if name in sites:
                return Origin(name, "backward", "loss", sites[name])
        return self._loss_itself("backward", None)

    def _loss_itself(self, phase: str, site: Site | None) -> Origin:
        """Everything that reached the loss was finite."""
        losses = self.session.losses
        call = losses.calls[-1] if losses.calls else None
        fact = losses.facts.get(call.name) if call is not None else None
        if call is None or fact is None:
            return Origin("the loss", phase, "loss", site)
        return Origin(call.criterion, phase, "loss", fact.called or site)

    def _weights(self, bad: list[str]) -> Origin:
        cause = (
            "gradients were not finite"
            if self._gradient_trouble
            else "the optimiser's update was too large or not finite"
        )
        site = next((f.stepped for f in self.session.optimizers.facts.values()), None)
        return Origin(f"the optimiser step before ({cause})", "update", bad[0], site)

    def _report(self, origin: Origin, what: str, value: float, bad: list[str] | None = None) -> None:
        session = self.session
        step = session.recorder.step
        inside = (
            f" in {origin.component}" if origin.component and origin.component not in origin.operation else ""
        )
        where = f" at {origin.site.short}" if origin.site is not None else ""
        direction = {"forward": "", "backward": " during backward", "data": "", "update": ""}[origin.phase]
        message = f"the {what} became {_word(value)} at step {step}: first made by {origin.operation}{inside}{direction}{where}"
        session.recorder.event(
            Event(
                step,
                "nonfinite",
                message,
                origin.component,
                origin.site,
                {
                    "what": what,
                    "value": str(value),
                    "operation": origin.operation,
                    "phase": origin.phase,
                    "inputs": list(origin.inputs),
                    "affected": (bad or [])[:50],
                    "exact": True,
                    **_mask(origin),
                },
            )
        )
        session.recorder.flush()


def _mask(origin: Origin) -> dict[str, Any]:
    """What hid whole rows from a softmax."""
    if not origin.hidden:
        return {}
    place = origin.mask
    made = {} if place is None else {"mask_file": place.file, "mask_line": place.line}
    return {"hidden": origin.hidden, "first_hidden": origin.first_hidden, **made}


def _keeper(kept: list[Tensor | None], index: int) -> Any:
    def keep(gradient: Tensor) -> None:
        kept[index] = gradient.detach()

    return keep


def _finite(tensor: Tensor) -> bool:
    with torch.no_grad():
        total = float(tensor.detach().sum(dtype=torch.float64)) if tensor.is_floating_point() else 0.0
        return math.isfinite(total) or bool(torch.isfinite(tensor).all())


def _word(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "infinite" if math.isinf(value) else f"{value:g}"


# Where a loss goes wrong between the model's output and backward(): read from the autograd graph, which still holds values.

_MOST_NODES = 2_000

# Operations that can make non-finite values, computed again from what the graph saved.
_AGAIN: dict[str, Callable[[Any], Tensor]] = {
    "log": lambda node: torch.log(node._saved_self),
    "log2": lambda node: torch.log2(node._saved_self),
    "log10": lambda node: torch.log10(node._saved_self),
    "log1p": lambda node: torch.log1p(node._saved_self),
    "exp": lambda node: node._saved_result,
    "sqrt": lambda node: node._saved_result,
    "rsqrt": lambda node: node._saved_result,
    "reciprocal": lambda node: node._saved_result,
    "div": lambda node: 1.0 / node._saved_other,
    "pow": lambda node: torch.pow(node._saved_self, node._saved_exponent),
    "mul": lambda node: node._saved_self * node._saved_other,
    "acos": lambda node: torch.acos(node._saved_self),
    "asin": lambda node: torch.asin(node._saved_self),
    "mean": lambda node: torch.tensor(
        1.0 / node._saved_self_sym_numel if node._saved_self_sym_numel else torch.nan
    ),
    "logsoftmax": lambda node: node._saved_result,
    "softmax": lambda node: node._saved_result,
    "binarycrossentropy": lambda node: torch.nn.functional.binary_cross_entropy(
        node._saved_self, node._saved_target
    ),
}


@torch.no_grad()
def origin_in_tail(objective: Tensor, calls: list[ForwardCall], sites: dict[str, Site]) -> Origin | None:
    """The deepest operation above the models' outputs whose result is not finite although its inputs are."""
    nodes = _from_bottom(objective, {number for call in calls for number in call.output_nodes})
    for node in nodes:
        name = _function_name(node.name()).replace("_", "")
        again = _AGAIN.get(name)
        if again is None:
            continue
        try:
            result = again(node)
        except (RuntimeError, AttributeError, TypeError):
            continue  # not saved by this version, or already freed
        inputs = [
            t
            for t in (getattr(node, key, None) for key in ("_saved_self", "_saved_other"))
            if isinstance(t, Tensor)
        ]
        broken = isinstance(result, Tensor) and not bool(torch.isfinite(result).all())
        if broken and all(bool(torch.isfinite(t).all()) for t in inputs if t.is_floating_point()):
            site = sites.get(name) or sites.get("truediv" if name == "div" else name)
            return Origin(name, "forward", "loss", site, tuple(_described(t) for t in inputs))
    return None


def _from_bottom(objective: Tensor, outputs: set[int]) -> list[Any]:
    """Nodes of the graph above the models' outputs, inputs before what is made of them."""
    ordered: list[Any] = []
    visited: set[Any] = set()
    waiting: list[tuple[Any, bool]] = [(objective.grad_fn, False)]
    while waiting and len(visited) < _MOST_NODES:
        node, expanded = waiting.pop()
        if node is None:
            continue
        if expanded:
            ordered.append(node)
            continue
        if node in visited or node._sequence_nr() in outputs:
            continue
        visited.add(node)
        waiting.append((node, True))
        waiting.extend((parent, False) for parent, _ in node.next_functions)
    return ordered
