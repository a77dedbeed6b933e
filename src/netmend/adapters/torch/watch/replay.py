"""Replay: a forward or backward pass of the present step, run again under a magnifying glass.

Nothing of it is left afterwards (undisturbed.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from netmend.adapters.torch.watch.eligible import plain, tensors_in
from netmend.adapters.torch.watch.masks import Masks, hidden_rows
from netmend.adapters.torch.watch.undisturbed import undisturbed
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.nonfinite import ForwardCall
    from netmend.adapters.torch.watch.session import TorchSession


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


def replay_forward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which operation of the forward pass made the first non-finite value?"""
    with undisturbed(module), _module_stack(module) as stack:
        call.random.restore()
        args, kwargs = _copied(call)
        watch = _FiniteWatch(_Place(session, stack, call.site))
        with torch.no_grad(), watch:
            output = module.forward(*args, **kwargs)
        # A value that is infinite for a while and does no harm is not what broke the loss.
        return None if _all_finite(output) else watch.origin


def replay_backward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which node of the backward pass turned finite gradients into non-finite ones?"""
    with undisturbed(module), _module_stack(module) as stack:
        call.random.restore()
        places = _Places(_Place(session, stack, call.site))
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
                sizes = tuple(f"gradient up to {_largest(received):.3g}" for _ in range(1))
                found.append(Origin(_function_name(node.name()), "backward", component, site, sizes))

        return check

    visited: set[Any] = set()
    waiting = [tensor.grad_fn for tensor, _ in pairs]
    handles = []
    while waiting:
        node = waiting.pop()
        if node is None or node in visited:
            continue
        visited.add(node)
        if not hasattr(node, "variable"):
            handles.append(node.register_hook(checker(node)))
        waiting.extend(parent for parent, _ in node.next_functions)
    outputs, gradients = [t for t, _ in pairs], [g for _, g in pairs]
    try:
        torch.autograd.grad(outputs, parameters, gradients, allow_unused=True)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None


class _Place:
    """_Place a replay is: the user's line and the module being executed."""

    def __init__(self, session: TorchSession, stack: list[nn.Module], called: Site | None) -> None:
        self._session, self._stack, self._called = session, stack, called
        self._started = session.sites.here()

    def __call__(self) -> tuple[Site | None, str]:
        here = self._session.sites.here()
        # Without a frame of the user's inside the model, the line found is the one that led to the replay.
        site = self._called if here == self._started else here
        return site, self._session.names.get(self._stack[-1]) or "" if self._stack else ""


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

    def __init__(self, place: _Place) -> None:
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

    def __init__(self, place: _Place) -> None:
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


@contextlib.contextmanager
def _module_stack(root: nn.Module) -> Iterator[list[nn.Module]]:
    stack = [root]

    def enter(module: nn.Module, args: Any) -> None:
        stack.append(module)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        if len(stack) > 1:
            stack.pop()

    handles = [
        nn.modules.module.register_module_forward_pre_hook(enter),
        nn.modules.module.register_module_forward_hook(leave),
    ]
    try:
        yield stack
    finally:
        for handle in handles:
            handle.remove()


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
