"""Replay: a forward or backward pass of the present step, run again under a magnifying glass.

The model's buffers, attributes and all random states are put back afterwards; what the user's code prints is swallowed.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from netmend.adapters.torch.eligible import plain, tensors_in
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.nonfinite import ForwardCall
    from netmend.adapters.torch.session import TorchSession


@dataclass(frozen=True)
class Origin:
    """The first operation that made a non-finite value out of finite ones."""

    operation: str
    phase: str  # forward | backward | data | update
    component: str
    site: Site | None
    inputs: tuple[str, ...] = ()  # what it was given


@dataclass
class RandomState:
    host: Tensor
    devices: list[Tensor]

    @staticmethod
    def now() -> RandomState:
        devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        return RandomState(torch.get_rng_state(), devices)

    def restore(self) -> None:
        torch.set_rng_state(self.host)
        if self.devices:
            torch.cuda.set_rng_state_all(self.devices)


def replay_forward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which operation of the forward pass made the first non-finite value?"""
    with _undisturbed(module), _module_stack() as stack:
        call.random.restore()
        watch = _FiniteWatch(session, stack)
        with torch.no_grad(), watch, contextlib.suppress(_Found):
            args, kwargs = _copied(call)
            module.forward(*args, **kwargs)
        return watch.origin


def replay_backward(session: TorchSession, module: nn.Module, call: ForwardCall) -> Origin | None:
    """Which node of the backward pass turned finite gradients into non-finite ones?"""
    with _undisturbed(module), _module_stack() as stack:
        call.random.restore()
        places = _Places(session, stack)
        args, kwargs = _copied(call)
        with torch.enable_grad(), places:
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


class _Found(Exception):
    """Ends a replay as soon as the origin is known."""


class _FiniteWatch(TorchDispatchMode):
    """Looks at what every operation is given and gives."""

    def __init__(self, session: TorchSession, stack: list[nn.Module]) -> None:
        super().__init__()
        self.session = session
        self.stack = stack
        self.origin: Origin | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.origin is None and not _all_finite(result) and _all_finite((args, kwargs)):
            name = str(func.overloadpacket.__name__)
            if name not in (
                "empty",
                "empty_like",
                "empty_strided",
                "new_empty",
                "masked_fill",
                "full",
                "full_like",
                "where",
                "scalar_tensor",
                "lift_fresh",
            ):
                component = self.session.names.get(self.stack[-1]) or "" if self.stack else ""
                inputs = tuple(_described(t) for t in tensors_in((args, kwargs)))[:4]
                self.origin = Origin(name, "forward", component, self.session.sites.here(), inputs)
                raise _Found
        return result


class _Places(TorchFunctionMode):
    """Remembers for every node of the graph being built which line and module built it."""

    def __init__(self, session: TorchSession, stack: list[nn.Module]) -> None:
        super().__init__()
        self.session = session
        self.stack = stack
        self.found: dict[Any, tuple[Site | None, str]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        component = self.session.names.get(self.stack[-1]) or "" if self.stack else ""
        place = (self.session.sites.here(), component)
        waiting = [t.grad_fn for t in tensors_in(result)]
        while waiting:  # one function may build several nodes; older ones are known already
            node = waiting.pop()
            if node is not None and node not in self.found and not hasattr(node, "variable"):
                self.found[node] = place
                waiting.extend(parent for parent, _ in node.next_functions)
        return result


@contextlib.contextmanager
def _module_stack() -> Iterator[list[nn.Module]]:
    stack: list[nn.Module] = []

    def enter(module: nn.Module, args: Any) -> None:
        stack.append(module)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        if stack:
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


@contextlib.contextmanager
def _undisturbed(module: nn.Module) -> Iterator[None]:
    """Whatever the replayed code changes is put back: buffers, attributes, random states, standard output."""
    # Buffers are replaced, not overwritten and put back: the coming backward pass may need them untouched.
    buffers = [(child, dict(child._buffers)) for child in module.modules()]
    attributes = [(child, dict(vars(child))) for child in module.modules()]
    for child, originals in buffers:
        for name, buffer in originals.items():
            if buffer is not None:
                child._buffers[name] = buffer.detach().clone()
    torch_state, python_state = RandomState.now(), random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy is not None else None
    silence = io.StringIO()
    try:
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            yield
    finally:
        torch_state.restore()
        random.setstate(python_state)
        if numpy is not None:
            numpy.random.set_state(numpy_state)
        for child, originals in buffers:
            child._buffers.clear()
            child._buffers.update(originals)
        for child, before_attributes in attributes:
            vars(child).clear()
            vars(child).update(before_attributes)


def _all_finite(value: Any) -> bool:
    return all(
        bool(torch.isfinite(t.detach()).all())
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
