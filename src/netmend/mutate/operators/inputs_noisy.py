"""M505."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.data_edits import inputs, part_of, put
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.data.data_holders import is_array
from netmend.repair.repair import Case, Example
from netmend.repair.source.naming import spelled


@register
@dataclass(frozen=True)
class InputsNoisy:
    """Add noise to the training inputs that is stronger than what they carry.

    Little is left to learn from.
    """

    code: ClassVar[str] = "M505"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LOWQ",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    sizes: tuple[int, ...] = (1, 3)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = inputs(case)
        if held is None:
            return
        array = bool(is_array(held.flow, held))
        draw, extra = spelled(held.file, "numpy.random.standard_normal" if array else "torch.randn")
        name = part_of(held)
        for index, size in enumerate(self.sizes, 1):
            line = f"{name}[:] = {name} + {size} * {name}.std() * {draw}({name}.shape)"
            yield from mutation(
                self,
                f"noise of {size} standard deviations in {held.name}",
                (*put(held, line), *extra),
                grade=index / len(self.sizes),
                component=held.name,
                parameter=f"{size} std",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "tensors",
            STACK,
            old="loader = ",
            new="x[:] = x + 1 * x.std() * torch.randn(x.shape)\nloader = ",
        ),
        Example(
            "in a function",
            FUNCTIONS,
            old="    train(net, ",
            new="    x[:] = x + 3 * x.std() * torch.randn(x.shape)\n    train(net, ",
            nth=1,
        ),
    )
