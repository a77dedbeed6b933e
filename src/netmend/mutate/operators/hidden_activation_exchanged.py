"""M201."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import exchanged, hidden
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_GRADES = {
    "tanh": 0.1,
    "softsign": 0.2,
    "hardtanh": 0.2,
    "softplus": 0.3,
    "sigmoid": 0.6,
    "exp": 0.8,
    "softmax": 1.0,
}


@register
@dataclass(frozen=True)
class HiddenActivationExchanged:
    """Replace all hidden activations, or one, with an unsuitable one.

    Sigmoids pass on a quarter of the gradient at best, softmax makes units compete for a sum of one, exponentials
    overflow.
    """

    code: ClassVar[str] = "M201"
    causes: ClassVar[tuple[str, ...]] = ("ACT-HID-WRONG",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("ACH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        for new, grade in _GRADES.items():
            edits = [exchanged(case, link, new) for link in links if link.function != new]
            if len(edits) > 1 and all(edits):
                names = ", ".join(dict.fromkeys(link.function for link in links))
                yield from mutation(
                    self,
                    f"all hidden activations ({names}) → {new}",
                    united(edits),
                    grade=grade,
                    parameter=new,
                )
            if grade >= 0.6:
                for link in links:
                    yield from mutation(
                        self,
                        f"{link.name}: {link.function} → {new}",
                        exchanged(case, link, new) if link.function != new else (),
                        grade=grade / 2,
                        component=link.name,
                        parameter=new,
                    )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("one layer of a stack", STACK, old="nn.ReLU()", new="nn.Sigmoid()", nth=4),
        Example(
            "a function",
            FUNCTIONS,
            old="F.relu(self.conv(x.unsqueeze(1)))",
            new="torch.sigmoid(self.conv(x.unsqueeze(1)))",
            nth=5,
        ),
    )
