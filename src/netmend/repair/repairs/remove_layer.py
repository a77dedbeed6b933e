"""R318."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.layer_removal import call_removed, layer_removed
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import FunctionFact, ModuleFact
from netmend.vocabulary.change import BY_FACTS, Change

_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class RemoveLayer:
    """Take a layer away that should not be there, where what it is given fits what follows.

    Only layers that leave the shape as it is can be taken out without changing others.
    """

    code: ClassVar[str] = "R318"
    cures: ClassVar[tuple[str, ...]] = ("LYR-EXTRA",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        name = "" if case.fault is None else case.fault.component
        module, function = case.trace.get(ModuleFact, name), case.trace.get(FunctionFact, name)
        if (
            module is not None
            and module.leaf
            and module.input_shapes == module.output_shapes
            and module.calls
        ):
            edits = layer_removed(case, module)
            yield from change(self, case, f"without {module.name}", edits, knob=module.name)
        elif function is not None:
            found = case.code.call_at(function.site)
            edits = () if found is None else call_removed(*found)
            yield from change(self, case, f"without {function.function}", edits, knob=function.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "in a stack",
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)⟨, nn.Tanh() → ⟩)",
            component="model.3",
        ),
        _example(
            "a call in forward",
            layers="self.fc, self.act = nn.Linear(2, 1), nn.Tanh()",
            forward="return self.⟨act(self.fc(x)) → fc(x)⟩",
            component="model.act",
        ),
        _example(
            "a layer that changes the width",
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))⟩",
            component="model.0",
        ),
    )
