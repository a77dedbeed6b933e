"""What may be looked at: ordinary tensors in ordinary execution, nothing symbolic, traced, vectorised or captured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

_PLAIN = (Tensor, Parameter)
_peek_functorch = torch._C._functorch.peek_interpreter_stack
_tracing = torch._C._get_tracing_state


def unusual_execution() -> bool:
    """True while the framework traces, compiles, vectorises or captures: looking at values would become part of it."""
    if torch.compiler.is_compiling() or _tracing() is not None or _peek_functorch() is not None:
        return True
    return (
        torch.cuda.is_available() and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
    )


def plain(value: Any) -> bool:
    """An ordinary strided tensor with real storage (no FakeTensor, DTensor, batched or sparse tensor)."""
    return type(value) in _PLAIN and value.layout is torch.strided and value.device.type != "meta"


def tensors_in(value: Any, depth: int = 3) -> Iterator[Tensor]:
    """The ordinary tensors inside arguments or outputs: tensors, sequences, mappings, simple objects of both."""
    if isinstance(value, Tensor):
        if plain(value):
            yield value
    elif depth and isinstance(value, (list, tuple)):
        for item in value[:64]:
            yield from tensors_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in list(value.values())[:64]:
            yield from tensors_in(item, depth - 1)


def first_tensor(value: Any) -> Tensor | None:
    return next(tensors_in(value), None)


def shapes_in(value: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(tensor.shape) for tensor in tensors_in(value))
