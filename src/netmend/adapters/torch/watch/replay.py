"""Replay: a forward or backward pass of the present step, run again under a magnifying glass.

Nothing of it is left afterwards (undisturbed.py).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from netmend.adapters.torch.watch.eligible import first_tensor, plain, tensors_in
from netmend.adapters.torch.watch.graphs import nodes_below
from netmend.adapters.torch.watch.undisturbed import undisturbed
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.nonfinite import ForwardCall
    from netmend.adapters.torch.watch.session import TorchSession


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_TRIANGLES = ("triu", "tril")
_FILLING = {"masked_fill": 1, "where": 0}  # where they are given the mask
_COPIES = ("_to_copy", "to_copy", "clone")
_MOST = 256  # masks that are remembered
_HIDES = -50.0  # a score that low is nothing beside usual ones
P = TypeVar("P")


class Masks(Generic[P]):
    """Follows comparisons and triangles through what is computed of them, until they fill scores."""

    def __init__(self, place: Callable[[], P]) -> None:
        self._place = place
        self._made: dict[int, tuple[Tensor, tuple[tuple[str, P], ...]]] = {}  # by memory, which views share
        self._used: tuple[tuple[str, P], ...] = ()
        self.weak: P | None = None  # where the last mask filled scores with a number that hides nothing

    def saw(self, name: str, args: Any, result: Any) -> None:
        """One operation of the replay."""
        if not isinstance(result, Tensor) or not result.dim():
            return
        scores = result.is_floating_point()
        given = args[_FILLING[name]] if name in _FILLING and scores else args
        known = tuple(
            dict.fromkeys(
                origin
                for tensor in tensors_in(given)
                if tensor.data_ptr() in self._made
                for origin in self._made[tensor.data_ptr()][1]
            )
        )
        if name in _COMPARISONS and not known:
            known = ((name, self._place()),)
        elif name in _TRIANGLES:
            known = (*known, (name, self._place()))
        if not known:
            return
        if name in _FILLING or name in _TRIANGLES:
            self._used = known
            self.weak = None
            triangle = any(origin in _TRIANGLES for origin, _ in known)
            if name == "masked_fill" and triangle and scores and not isinstance(args[2], Tensor):
                self.weak = self._place() if float(args[2]) > _HIDES else None
        if (not scores or name in (*_TRIANGLES, *_COPIES)) and len(self._made) < _MOST:
            self._made[result.data_ptr()] = (result, known)

    @property
    def compared(self) -> P | None:
        """Where the last mask that was put on was compared with something, or else made."""
        compared = [place for name, place in self._used if name in _COMPARISONS]
        return compared[0] if compared else self.triangle

    @property
    def triangle(self) -> P | None:
        """Where the last mask that was put on was cut to a triangle."""
        return next((place for name, place in self._used if name in _TRIANGLES), None)


def hidden_rows(scores: Tensor, axis: int) -> tuple[float, bool]:
    """The share of rows of scores all of which are minus infinity, and whether these are the first queries of all others."""
    rows = torch.isneginf(scores).all(dim=axis)
    share = float(rows.float().mean())
    first = rows.dim() > 0 and rows.shape[-1] > 1 and bool(rows[..., 0].all() and not rows[..., 1:].any())
    return share, first


@dataclass(frozen=True)
class Origin:
    """The first operation that made a non-finite value out of finite ones."""

    operation: str
    phase: str  # forward | backward | data | update
    component: str
    site: Site | None
    inputs: tuple[str, ...] = ()  # what it was given
    hidden: float = 0.0  # share of a softmax's rows that a mask hides from end to end
    first_hidden: bool = False  # these are the first rows of all
    mask: Site | None = None  # where that mask was made


@dataclass(frozen=True)
class Place:
    """An operation of the forward pass: in which module, and at which line of the user's."""

    operation: str
    component: str = ""
    kind: str = ""  # class of the module
    site: Site | None = None
    module_input: tuple[int, ...] = ()
    batch_first: bool | None = None  # as the module has it, where that can be chosen


class Where:
    """Where a replay is: the user's line, and the modules being executed with the shapes that they were given."""

    def __init__(self, session: TorchSession, module: nn.Module, name: str, called: Site | None) -> None:
        self._session, self._module, self._name, self._called = session, module, name, called
        self._started = session.sites.here()
        self._stack: list[tuple[nn.Module, tuple[int, ...]]] = []

    @contextlib.contextmanager
    def followed(self) -> Iterator[Where]:
        def enter(module: nn.Module, args: Any) -> None:
            given = first_tensor(args)
            self._stack.append((module, () if given is None else tuple(given.shape)))

        def leave(module: nn.Module, args: Any, output: Any) -> None:
            if self._stack:
                self._stack.pop()

        handles = [register_module_forward_pre_hook(enter), register_module_forward_hook(leave)]
        try:
            yield self
        finally:
            for handle in handles:
                handle.remove()

    @property
    def site(self) -> Site | None:
        here = self._session.sites.here()
        # Without a frame of the user's inside the model, the line found is the one that led to the replay.
        return self._called if here == self._started else here

    def here(self) -> tuple[Site | None, str]:
        """The line, and the name of the innermost module."""
        return self.site, self._session.names.get(self._stack[-1][0]) or "" if self._stack else self._name

    @property
    def in_library(self) -> bool:
        """Whether the innermost module is one of the framework's own."""
        return bool(self._stack) and type(self._stack[-1][0]).__module__.startswith("torch.nn.modules")

    @property
    def batch_first(self) -> bool:
        return any(getattr(module, "batch_first", False) is True for module, _ in self._stack)

    def place(self, operation: str) -> Place:
        if not self._stack:
            return Place(operation, self._name, type(self._module).__name__, self.site)
        # Of layers inside layers, the one that lets the user choose the order of axes.
        choosing = [pair for pair in self._stack if isinstance(getattr(pair[0], "batch_first", None), bool)]
        module, shape = choosing[0] if choosing else self._stack[-1]
        name, batch_first = self._session.names.get(module) or "", getattr(module, "batch_first", None)
        kind = type(module).__name__
        return Place(operation, name, kind, self.site, shape, batch_first if choosing else None)


def replay_forward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which operation of the forward pass made the first non-finite value?"""
    with undisturbed(module), _where(session, module, call).followed() as where:
        call.random.restore()
        args, kwargs = _copied(call)
        watch = _FiniteWatch(where.here)
        with torch.no_grad(), watch:
            output = module.forward(*args, **kwargs)
        # A value that is infinite for a while and does no harm is not what broke the loss.
        return None if _all_finite(output) else watch.origin


def replay_backward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which node of the backward pass turned finite gradients into non-finite ones?"""
    with undisturbed(module), _where(session, module, call).followed() as where:
        call.random.restore()
        places = _Places(where.here)
        args, kwargs = _copied(call)
        # The guard switches function modes off while we compute; this one has to see the operations.
        with torch.enable_grad(), torch._C._EnableTorchFunction(), places:
            output = module.forward(*args, **kwargs)
        again = [t for t in tensors_in(output) if t.requires_grad and t.is_floating_point()]
        # A replay that takes another branch may return something else: only what fits is used.
        pairs = [
            (tensor, gradient)
            for tensor, gradient in zip(again, call.output_gradients, strict=False)
            if gradient is not None and gradient.shape == tensor.shape
        ]
        parameters = [p for p in module.parameters() if p.requires_grad]
        if not pairs or not parameters:
            return None
        return _first_bad_node(pairs, parameters, places.found)


def _where(session: TorchSession, module: nn.Module, call: ForwardCall) -> Where:
    return Where(session, module, session.names.get(module) or "", call.site)


def _copied(call: ForwardCall) -> tuple[Any, Any]:
    """Inputs of their own for the replay: forward passes may change theirs in place."""

    def copy(value: Any) -> Any:
        return value.detach().clone().requires_grad_(value.requires_grad) if plain(value) else value

    copies: tuple[Any, Any] = tree_map(copy, (call.args, call.kwargs))
    return copies


def _first_bad_node(
    pairs: list[tuple[Tensor, Tensor]],
    parameters: list[nn.Parameter],
    places: dict[Any, tuple[Site | None, str]],
) -> Origin | None:
    found: list[Origin] = []

    def checker(node: Any) -> Callable[[Any, Any], None]:
        def check(given_on: Any, received: Any) -> None:
            if not found and _all_finite(received) and not _all_finite(given_on):
                site, component = places.get(node, (None, ""))
                sizes = (f"gradient up to {_largest(received):.3g}",)
                found.append(Origin(_function_name(node.name()), "backward", component, site, sizes))

        return check

    reached = nodes_below(*(tensor.grad_fn for tensor, _ in pairs), most=math.inf)
    handles = [node.register_hook(checker(node)) for node in reached if not hasattr(node, "variable")]
    outputs, gradients = [t for t, _ in pairs], [g for _, g in pairs]
    try:
        torch.autograd.grad(outputs, parameters, gradients, allow_unused=True)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None


# Operations that hand infinities out on request: masks and constants.
_ON_REQUEST = (
    "constant_pad_nd",
    "empty",
    "empty_like",
    "empty_strided",
    "fill",
    "full",
    "full_like",
    "lift_fresh",
    "masked_fill",
    "new_empty",
    "new_full",
    "scalar_tensor",
    "where",
)


_SOFTMAX = ("_softmax", "_log_softmax", "softmax", "log_softmax")  # scores, and the axis


class _FiniteWatch(TorchDispatchMode):
    """Looks at what every operation is given and gives."""

    def __init__(self, place: Callable[[], tuple[Site | None, str]]) -> None:
        super().__init__()
        self.place = place
        self.origin: Origin | None = None
        self.masks = Masks(place)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func.overloadpacket.__name__).rstrip("_")
        if self.origin is not None or name in _ON_REQUEST:
            result = func(*args, **(kwargs or {}))
            self.masks.saw(name, args, result)
            return result
        # Looked at beforehand: operations in place change what they are given.
        clean, numbers = _all_finite((args, kwargs)), not _any_nan((args, kwargs))
        inputs = tuple(_described(t) for t in tensors_in((args, kwargs)))[:4] if numbers else ()
        hidden = hidden_rows(args[0], args[1]) if name in _SOFTMAX else (0.0, False)
        result = func(*args, **(kwargs or {}))
        self.masks.saw(name, args, result)
        # Infinite inputs can be meant (masks); NaN made of them is not.
        if (clean and not _all_finite(result)) or (numbers and _any_nan(result)):
            site, component = self.place()
            mask = self.masks.compared if hidden[0] else None
            made = mask[0] if mask is not None else None
            self.origin = Origin(name, "forward", component, site, inputs, *hidden, made)
        return result


class _Places(TorchFunctionMode):
    """Remembers for every node of the graph being built which line and module built it."""

    def __init__(self, place: Callable[[], tuple[Site | None, str]]) -> None:
        super().__init__()
        self.place = place
        self.found: dict[Any, tuple[Site | None, str]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        place = self.place()
        waiting = [t.grad_fn for t in tensors_in(result)]
        while waiting:  # one function may build several nodes; older ones are known already
            node = waiting.pop()
            if node is not None and node not in self.found and not hasattr(node, "variable"):
                self.found[node] = place
                waiting.extend(parent for parent, _ in node.next_functions)
        return result


def _all_finite(value: Any) -> bool:
    return all(
        bool(torch.isfinite(t.detach()).all())
        for t in tensors_in(value)
        if t.is_floating_point() or t.is_complex()
    )


def _any_nan(value: Any) -> bool:
    return any(
        bool(torch.isnan(t.detach()).any())
        for t in tensors_in(value)
        if t.is_floating_point() or t.is_complex()
    )


def _largest(value: Any) -> float:
    sizes = [float(t.detach().abs().max()) for t in tensors_in(value) if t.numel()]
    return max(sizes, default=0.0)


def _described(tensor: Tensor) -> str:
    shape = "×".join(map(str, tensor.shape)) or "scalar"
    if not tensor.is_floating_point() or not tensor.numel():
        return f"{shape} {tensor.dtype}".replace("torch.", "")
    low, high = torch.aminmax(tensor.detach())
    return f"{shape} in [{float(low):.4g}, {float(high):.4g}]"


def _function_name(node: str) -> str:
    """SqrtBackward0 → sqrt"""
    return node.split("Backward")[0].lower()
