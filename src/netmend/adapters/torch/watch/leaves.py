"""The leaves of an autograd graph: the tensors that gradients are accumulated into."""

from __future__ import annotations

from torch import Tensor

_MOST_NODES = 20_000


def leaves_of(objective: Tensor) -> list[Tensor]:
    """Leaf tensors below the objective, each once, in the order in which they are found."""
    found: list[Tensor] = []
    visited: set[object] = set()
    waiting = [objective.grad_fn]
    while waiting and len(visited) < _MOST_NODES:
        node = waiting.pop()
        if node is None or node in visited:
            continue
        visited.add(node)
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            found.append(leaf)
        waiting.extend(parent for parent, _ in node.next_functions)
    return found
