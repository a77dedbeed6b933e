"""The blocks of a language model: the repeated layers, by the index in their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from torch import nn

from netmend.errors import UsageError

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
