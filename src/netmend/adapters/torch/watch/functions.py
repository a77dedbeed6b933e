"""Functions: functional calls (F.relu, .softmax(), .detach(), hand-written losses), seen through a TorchFunctionMode.

A function mode costs time, and where gradients are off it makes fused inference paths of attention modules step aside, which
changes numbers. So it is on only during closely observed training passes, and only where no such path could be taken.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from netmend.adapters.patches import hide_from_warnings
from netmend.adapters.torch.guard import guarded, leave_modes
from netmend.adapters.torch.watch.eligible import plain, tensors_in
from netmend.adapters.torch.watch.kinds import (
    ACTIVATION_FUNCTIONS,
    CUT_FUNCTIONS,
    DROPOUT_FUNCTIONS,
    FUSED_ATTENTION,
)
from netmend.library.operations import NORM_FUNCTIONS
from netmend.observe.schedule import FULL
from netmend.vocabulary import FunctionFact, Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.session import TorchSession

_FUSED = (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerEncoderLayer)
_TAIL_LIMIT = 64
_MOST_ON_A_LINE = 16  # calls of one function on one line and in one pass that are told apart; a loop over time may make many
Saw = Callable[[str, Any, Any, Any], None]


class Spy(TorchFunctionMode):
    """Passes every function on unchanged and reports its name."""

    def __init__(self, saw: Saw) -> None:
        super().__init__()
        self.saw = saw
        self.over = False  # to be left as soon as possible

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.over:
            return result
        name = getattr(func, "__name__", "")
        if name == "__get__":  # an attribute such as .data
            name = getattr(getattr(func, "__self__", None), "__name__", "")
        try:
            self.saw(name, args, kwargs, result)
        except Exception:  # noqa: BLE001 - reported by the guard inside; what is left must not reach the user
            self.over = True
        return result


hide_from_warnings(Spy.__torch_function__)


@dataclass
class TailCall:
    """One operation between the model's output and backward()."""

    function: str
    site: Site | None
    tensors: list[Tensor] = field(default_factory=list)


class Functions:
    def __init__(self, session: TorchSession) -> None:
        self.session = session
        self.tail: list[TailCall] = []
        self.tail_sites: dict[str, Site] = {}  # by function: for naming the origin of non-finite values
        self.model_output: Tensor | None = None
        self._mode: Spy | None = None
        self._known: dict[tuple[str, Site | None], FunctionFact] = {}
        self._recorded: set[str] = set()
        self._measured: set[str] = set()
        self._numbers: dict[str, int] = {}  # calls in the forward pass in progress, by component
        self._derived: list[Tensor] = []
        self._has_activations: set[str] = set()  # models whose forward uses functional activations

    def enter_forward(self, module: nn.Module) -> None:
        model = self.session.models.active
        wanted = model is not None and (not model.structure_known or model.name in self._has_activations)
        if wanted and not self.session.compiled and _safe(module):
            self._measured.clear()
            self._numbers.clear()
            self._enter(Spy(self._saw_in_forward))

    def enter_tail(self, output: Any) -> None:
        """From the model's output to backward(): which operations make the objective?"""
        first = next(tensors_in(output), None)
        if first is None or not first.requires_grad or self.session.losses.objectives_known:
            return
        self.model_output = first
        self._derived = list(tensors_in(output))
        self._enter(Spy(self._saw_in_tail))

    def leave_tail(self) -> bool:
        """Stop watching the operations of the objective; says whether they were being watched."""
        watched = self._mode is not None and not self._mode.over and self.model_output is not None
        self.leave()
        return watched

    def resume_tail(self, made: Any) -> None:
        """Go on, with what a loss function has made meanwhile."""
        self._derived.extend(tensors_in(made))
        self._enter(Spy(self._saw_in_tail))

    def forget_tail(self) -> None:
        self.tail.clear()
        self._derived.clear()
        self.model_output = None

    def _enter(self, mode: Spy) -> None:
        # Modes must be left in reverse order; with another one active, the user's code might leave ours instead.
        if self._mode is None and not _get_current_function_mode_stack():
            mode.__enter__()
            self._mode = mode

    def leave(self) -> None:
        mode = self._mode
        if mode is None:
            return
        mode.over = True
        stack = _get_current_function_mode_stack()
        if mode not in stack:
            return  # called from within a function that the mode is handling (backward): it is left at the next call
        self._mode = None
        leave_modes(Spy)

    @guarded("functional operations")
    def _saw_in_forward(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        session = self.session
        kind = _kind(name)
        if kind is None and name == FUSED_ATTENTION:
            rate = _dropout_inside(args, kwargs)
            kind, kwargs = ("dropout", {**(kwargs or {}), "p": rate}) if rate else (None, kwargs)
        if kind is None or not isinstance(result, (Tensor, float, int)):
            return
        inside = session.layers.innermost
        if inside is not None and type(inside).__module__.startswith("torch.nn.modules"):
            return  # a module's own implementation, seen as that module
        site = session.sites.here()
        model = session.models.active
        if site is None or model is None:
            return
        component = f"{model.name}.{ACTIVATION_FUNCTIONS.get(name, name)}@{site.short}"
        # Several on one line, or one in a loop over blocks: each has a number, up to a limit.
        number = self._numbers[component] = self._numbers.get(component, 0) + 1
        if number > _MOST_ON_A_LINE:
            return
        component = component if number == 1 else f"{component}#{number}"
        if component not in self._recorded:
            self._recorded.add(component)
            self._record(component, name, kind, site, kwargs, result, inside)
        if kind == "activation":
            self._has_activations.add(model.name)
            if (
                session.recorder.level == FULL
                and component not in self._measured
                and isinstance(result, Tensor)
                and plain(result)
            ):
                self._measured.add(component)
                session.layers.measure(component, result, ACTIVATION_FUNCTIONS[name], None)

    def _record(
        self, component: str, name: str, kind: str, site: Site, kwargs: Any, result: Any, inside: Any
    ) -> None:
        session = self.session
        model = session.models.active
        assert model is not None
        fact = FunctionFact(
            name=component,
            function=ACTIVATION_FUNCTIONS.get(name, name),
            kind=kind,
            model=model.name,
            inside=session.names.get(inside) or "" if inside is not None else "",
            after=session.layers.last_named,
            settings={k: v for k, v in (kwargs or {}).items() if isinstance(v, bool | int | float | str)},
            order=len(model.calls),
            output_shape=tuple(result.shape) if isinstance(result, Tensor) else (),
            site=site,
        )
        self._known[(name, site)] = fact
        session.recorder.fact(fact)

    @guarded("operations of the loss")
    def _saw_in_tail(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        if len(self.tail) >= _TAIL_LIMIT or not isinstance(result, Tensor):
            return
        tensors = list(tensors_in((args, kwargs)))
        if not any(tensor is known for tensor in tensors for known in self._derived):
            return
        site = self.session.sites.here()
        self.tail.append(TailCall(name, site, tensors))
        if site is not None:
            self.tail_sites.setdefault(name.strip("_"), site)
        if plain(result):
            self._derived.append(result)
        if name in CUT_FUNCTIONS and site is not None and not self.session.steps.backwards:
            self._note_cut(name, site, result)

    def _note_cut(self, name: str, site: Site, result: Tensor) -> None:
        if (name, site) in self._known:
            return
        fact = FunctionFact(
            f"{name}@{site.short}", name, "graph cut", output_shape=tuple(result.shape), site=site
        )
        self._known[(name, site)] = fact
        self.session.recorder.fact(fact)


def _kind(name: str) -> str | None:
    if name in ACTIVATION_FUNCTIONS:
        return "activation"
    if name in DROPOUT_FUNCTIONS:
        return "dropout"
    if name in NORM_FUNCTIONS:
        return "norm"
    return "graph cut" if name in CUT_FUNCTIONS else None


def _dropout_inside(args: Any, kwargs: Any) -> float:
    """The rate at which fused attention drops by itself."""
    rate = (kwargs or {}).get("dropout_p", args[4] if len(args) > 4 else 0.0)
    return float(rate) if isinstance(rate, int | float) else 0.0


def _safe(module: nn.Module) -> bool:
    """No attention module inside could take its fused inference path, which a function mode would switch off."""
    with contextlib.suppress(Exception):
        return all(child.training for child in module.modules() if isinstance(child, _FUSED))
    return False
