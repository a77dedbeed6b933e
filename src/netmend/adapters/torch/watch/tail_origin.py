"""Where a loss goes wrong between the model's output and backward(): read from the autograd graph, which still holds values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from netmend.adapters.torch.watch.replay import Origin, _described, _function_name
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.nonfinite import ForwardCall

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
