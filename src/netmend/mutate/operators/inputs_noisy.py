"""M505."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import is_array
from netmend.changes.data_edits import amounts, part_of, put
from netmend.changes.row_edits import normal, only_trains
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class InputsNoisy:
    """Add noise to the training inputs that is stronger than their signal.

    Little is left to learn from.
    """

    code: ClassVar[str] = "M505"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LOWQ",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("TAN", "NP")

    sizes: tuple[int, ...] = (1, 3)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
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

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The size of the noise in standard deviations of the inputs, from 0 to 3."""
        held = amounts(case)
        if held is None or not only_trains(case, held):
            return
        name = part_of(held)
        noise, extra = normal(held, f"{name}.shape")
        yield from knob(
            self,
            f"noise in {held.name}",
            Scale(0.0, float(self.sizes[-1]), 0.1),
            lambda size: (*put(held, f"{name}[:] = {name} + {size:g} * {name}.std() * {noise}"), *extra),
            component=held.name,
            told=f"noise of {{}} standard deviations in {held.name}",
        )

    def others(self, case: Case) -> Iterator[Mutation]:
        """None: where nothing can be turned, evaluation data would be changed as well."""
        return iter(())

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
        Example("a leaf that wants gradients", CUT_LATER),
    )
