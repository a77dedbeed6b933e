"""The blocks of a language model: their weights, how sensitive each is, which one learns in a step."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from netmend.errors import UsageError

# The blocks of a language model: the repeated layers, by the index in their names.

PATTERN = r"^(.*?\.\d+)\."


@dataclass(frozen=True)
class Block:
    """One repeated layer: its module and its parameters, by their full names."""

    name: str
    module: nn.Module
    parameters: dict[str, nn.Parameter]

    @property
    def elements(self) -> int:
        return sum(one.numel() for one in self.parameters.values())


def blocks_of(model: Any, pattern: str = PATTERN) -> tuple[Block, ...]:
    """All blocks in the order of the model; embeddings, final norm and head carry no index and belong to none."""
    try:
        matcher = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"the pattern for blocks, {pattern!r}, is no regular expression: {error}") from None
    if matcher.groups < 1:
        raise UsageError(
            f"the pattern for blocks, {pattern!r}, must name the block in a group, as {PATTERN!r} does"
        )
    found: dict[str, dict[str, nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if (match := matcher.match(name)) and parameter.is_floating_point():
            found.setdefault(match.group(1), {})[name] = parameter
    if not found:
        raise UsageError(
            f"no parameter of the {type(model).__name__} matches the pattern for blocks, {pattern!r}; "
            "give one that fits its names, for instance "
            + repr(next((n for n, _ in model.named_parameters()), ""))
        )
    return tuple(Block(name, model.get_submodule(name), held) for name, held in found.items())


# How sensitive each block is to a loss, without holding all gradients at once.


@contextmanager
def only(model: Any, blocks: Sequence[Block]) -> Iterator[None]:
    """Inside, only these blocks learn; afterwards every parameter is as free or frozen as it was."""
    held = [(one, one.requires_grad) for one in model.parameters()]
    chosen = {id(one) for block in blocks for one in block.parameters.values()}
    for one, _ in held:
        if one.is_floating_point():
            one.requires_grad_(id(one) in chosen)
    try:
        yield
    finally:
        for one, before in held:
            one.requires_grad_(before)
            one.grad = None


def block_norms(model: Any, blocks: Sequence[Block], loss: Callable[[], Tensor]) -> list[float]:
    """The norm of the gradient of the loss, of each block.

    Each parameter's gradient is reduced to a number and freed as soon as it is there, so that the peak is one
    parameter's gradient and not the model's.
    """
    device = next(iter(blocks[0].parameters.values())).device
    squares = torch.zeros(len(blocks), device=device)
    handles = []

    def reduce(at: int) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            if parameter.grad is not None:
                squares[at] += (
                    torch.linalg.vector_norm(parameter.grad, dtype=torch.float32).square().to(device)
                )
                parameter.grad = None

        return hook

    with only(model, blocks):
        try:
            for at, block in enumerate(blocks):
                for parameter in block.parameters.values():
                    handles.append(parameter.register_post_accumulate_grad_hook(reduce(at)))
            loss().backward()
        finally:
            for handle in handles:
                handle.remove()
    norms: list[float] = squares.sqrt().tolist()
    return norms


# Which block learns in a step.

Norms = Callable[[], list[float]]


class Chooser:
    """One rule for a whole repair; `bad` and `normal` give the blocks' sensitivities to the two kinds of text."""

    def __init__(
        self, rule: str, blocks: Sequence[Block], bad: Norms, normal: Norms, seed: int, samples: int
    ) -> None:
        """`samples`: how often the fixed block's sensitivity is measured before it is chosen."""
        self._rule, self._blocks, self._bad, self._normal = rule, blocks, bad, normal
        self._random = random.Random(seed)
        self._samples, self._fixed = samples, -1
        self.counts = dict.fromkeys((block.name for block in blocks), 0)

    def choose(self) -> Sequence[Block]:
        """The blocks of the next step."""
        if self._rule == "all":
            return self._blocks
        at = self._index()
        self.counts[self._blocks[at].name] += 1
        return (self._blocks[at],)

    def _index(self) -> int:
        count = range(len(self._blocks))
        if self._rule == "random":
            return self._random.randrange(len(self._blocks))
        if self._rule == "fixed":
            if self._fixed < 0:
                sums = [0.0] * len(self._blocks)
                for _ in range(self._samples):
                    sums = [before + now for before, now in zip(sums, self._bad(), strict=True)]
                self._fixed = max(count, key=sums.__getitem__)
            return self._fixed
        norms = self._bad()
        if self._rule == "contrast":
            # Large for the failure, small for all else. Norms fall from block to block in both, so the ratio compares
            # blocks of unlike depth fairly.
            norms = [bad / (normal + 1e-12) for bad, normal in zip(norms, self._normal(), strict=True)]
        return (min if self._rule == "min" else max)(count, key=norms.__getitem__)
