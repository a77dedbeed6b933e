"""Bench: a model and some samples of its batch, on which the forward pass can be run again in many ways."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from netmend.adapters.torch.watch.eligible import plain, tensors_in
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.torch.watch.nonfinite import ForwardCall
    from netmend.adapters.torch.watch.session import TorchSession

_SIZES = (7, 5, 6, 4, 3)  # samples: few, and if possible a number that is no other size of the input
Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Found:
    """What came out of an experiment."""

    values: Mapping[str, Any]
    site: Site | None = None
    component: str = ""  # the model, unless said otherwise


@dataclass
class Bench:
    """Replays of one forward pass. Entered and left within `undisturbed`; nothing of it outlives that."""

    session: TorchSession
    module: nn.Module
    name: str
    call: ForwardCall
    leaves: list[Any]
    structure: Any
    batch: int  # samples in the program's batch
    rows: int  # samples used here
    step: int
    modes: dict[nn.Module, bool] = field(default_factory=dict)  # train or eval, as the program has it
    memory: dict[str, Any] = field(default_factory=dict)  # what one probe has computed and another needs
    dice: tuple[Any, Any] = field(default_factory=lambda: (random.getstate(), np.random.get_state()))

    @staticmethod
    def of(session: TorchSession, module: nn.Module, name: str, call: ForwardCall) -> Bench | None:
        """A bench with the whole batch; None where the arguments are nothing that could be cut into samples."""
        leaves, structure = tree_flatten((call.args, call.kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        sized = [tensor for tensor in tensors if tensor.dim()]
        if not sized or not all(plain(tensor) for tensor in tensors):
            return None
        batch = len(sized[0])
        modes = {child: child.training for child in module.modules()}
        return Bench(
            session, module, name, call, leaves, structure, batch, batch, session.recorder.step, modes
        )

    def fewer(self) -> Bench | None:
        """The same with a few samples; None where the batch is too small, or its axis cannot be told from others."""
        sizes = {size for leaf in self.batched for size in leaf.shape[1:]}
        allowed = [size for size in _SIZES if size < self.batch]
        rows = next((size for size in allowed if size not in sizes), None)
        if rows is None:
            return None
        leaves = [leaf[:rows] if self.is_batched(leaf) else leaf for leaf in self.leaves]
        return replace(self, leaves=leaves, rows=rows, memory={})

    def is_batched(self, leaf: Any) -> bool:
        return isinstance(leaf, Tensor) and leaf.dim() > 0 and len(leaf) == self.rows

    @property
    def batched(self) -> list[Tensor]:
        """The arguments that hold something for each sample."""
        return [leaf for leaf in self.leaves if self.is_batched(leaf)]

    @property
    def input_shape(self) -> list[int]:
        """Of the first argument with something for each sample, as the program gives it."""
        return self.of_whole_batch(self.batched[0].shape)

    def of_whole_batch(self, shape: Sequence[int]) -> list[int]:
        """A shape that was seen here, with the number of samples that the program's batch has."""
        return [self.batch if size == self.rows else size for size in shape]

    @property
    def names(self) -> list[str]:
        """What the arguments with something for each sample are called, in the order of `batched`."""
        names = [f"argument {index}" for index, leaf in enumerate(self.leaves) if self.is_batched(leaf)]
        keywords = list(self.call.kwargs)
        if len(self.leaves) == len(self.call.args) + len(keywords):
            code = getattr(type(self.module).forward, "__code__", None)
            given = code.co_varnames[1 : code.co_argcount] if code is not None else ()
            if len(given) >= len(self.call.args):
                all_names = [*given[: len(self.call.args)], *keywords]
                names = [n for n, leaf in zip(all_names, self.leaves, strict=True) if self.is_batched(leaf)]
        return names

    def run(
        self,
        change: Change | None = None,
        *,
        only: int | None = None,
        training: bool = False,
        go_on: bool = False,
        under: contextlib.AbstractContextManager[Any] | None = None,
    ) -> list[Tensor] | None:
        """Outputs of a replay, in eval mode unless `training`; None when the model refuses what it is given.

        `change` is made to every argument that holds something for each sample, or only to one of them. Random numbers are
        those of the program's own pass, unless the replay is to `go_on` with further ones. It runs `under` a mode, if one is given.
        """
        batched, given = 0, []
        for leaf in self.leaves:
            if not isinstance(leaf, Tensor):
                given.append(leaf)
                continue
            copy = leaf.detach().clone()
            if self.is_batched(leaf):
                if change is not None and only in (None, batched):
                    copy = change(copy)
                batched += 1
            given.append(copy)
        args, kwargs = tree_unflatten(given, self.structure)
        for child, mode in self.modes.items():
            child.training = mode and training
        if not go_on:
            self.call.random.restore()
            random.setstate(self.dice[0])
            np.random.set_state(self.dice[1])
        try:
            with torch.no_grad(), under or contextlib.nullcontext():
                output = self.module.forward(*args, **kwargs)
        except Exception:  # noqa: BLE001 - the user's code may refuse a batch that is not quite like its own
            return None
        return [tensor.detach() for tensor in tensors_in(output)]

    def output(self, change: Change | None = None, **how: Any) -> Tensor | None:
        """The first real-valued output of a replay, if it holds one row per sample and only finite numbers."""
        first = first_real(self.run(change, **how))
        if first is None or len(first) != self.rows or not bool(torch.isfinite(first).all()):
            return None
        return first.double() if first.device.type != "mps" else first.float()

    @property
    def refused(self) -> bool:
        """Whether the model cannot be run with these samples at all."""
        return self.base is None and self.run() is None

    @property
    def base(self) -> Tensor | None:
        """The output for the samples as they are, in eval mode; None also where a replay does not give the same again."""
        if "base" not in self.memory:
            first, second = self.output(), self.output()
            self.memory["base"] = first if _alike(first, second) else None
        base: Tensor | None = self.memory["base"]
        return base

    @property
    def rolled(self) -> Tensor | None:
        """The output when each sample is given the place of its neighbour."""
        if "rolled" not in self.memory:
            self.memory["rolled"] = self.output(lambda tensor: tensor.roll(1, 0))
        rolled: Tensor | None = self.memory["rolled"]
        return rolled


def first_real(outputs: list[Tensor] | None) -> Tensor | None:
    """The first output that holds real numbers."""
    return next((t for t in outputs or () if t.is_floating_point() and t.dim()), None)


def _alike(first: Tensor | None, second: Tensor | None) -> bool:
    if first is None or second is None or first.shape != second.shape:
        return False
    return largest(first - second) <= 1e-6 * largest(first)


def largest(tensor: Tensor) -> float:
    return float(tensor.abs().max()) if tensor.numel() else 0.0


def spread(output: Tensor) -> float:
    """How far the outputs of samples lie apart; 0 when all are alike (to what rounding leaves)."""
    apart = largest(output - output.mean(dim=0, keepdim=True))
    return apart if apart > 1e-6 * largest(output) else 0.0
