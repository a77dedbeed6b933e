"""R316."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack, layers_of, links_of, made_by, model_of_fault
from netmend.changes.network.stacks import put_behind
from netmend.program.source.naming import spelled
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import ARCHITECTURE, Change


@register
@dataclass(frozen=True)
class AddLayer:
    """Put one more hidden layer into a stack, of the width and with the activation that it has.

    Helps a network that is too small for its task; training takes longer.
    """

    code: ClassVar[str] = "R316"
    cures: ClassVar[tuple[str, ...]] = ("ARC-STRUCT-SUBOPT", "LYR-UNITS")
    effort: ClassVar[int] = ARCHITECTURE
    explores: ClassVar[bool] = True

    most: int = 3  # layers with which a network counts as shallow; one fewer when nothing was told

    def propose(self, case: Case) -> Iterator[Change]:
        model = model_of_fault(case)
        layers = layers_of(case, model)
        # The last hidden layer that is made on a line of its own, and the activation behind it.
        links = [link for link in links_of(case, model) if link.module is not None]
        found = None
        for link, behind in pairwise(links):
            module = link.module
            if (
                module is None
                or module.kind != "Linear"
                or behind.kind != "activation"
                or behind.module is None
            ):
                continue
            if (
                (
                    in_stack(case, module)
                    and in_stack(case, behind.module)
                    and len(made_by(case, module.created)) == 1
                )
                and module is not layers[-1]
                and len(made_by(case, behind.module.created)) == 1
            ):
                found = module, behind.module
        most = self.most if case.fault is not None else self.most - 1
        if found is None or not 2 <= len(layers) <= most:
            return
        layer, activation = found
        made, after = case.code.call_at(layer.created), case.code.call_at(activation.created)
        width = case.sources.argument(made[1], "out_features", 1) if made is not None else None
        if made is None or after is None or width is None or made[0].file != after[0].file:
            return
        file, call = after
        name, extra = spelled(file, "torch.nn.Linear", like=made[1].func)
        size, same = made[0].source(width), file.source(call)
        edits = put_behind(file, call, f"{name}({size}, {size})", "more")
        both = put_behind(file, call, f"{name}({size}, {size}), {same}", "more")
        is_argument = bool(both) and both[0].edit.text.startswith(",")
        title = f"one more layer of {layer.settings.get('out_features')} units"
        if is_argument and edits:
            yield from change(self, case, title, (*both, *extra), knob="depth", cost=1.5)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        example(
            "a stack",
            model="nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, ⟨ → 8), nn.Tanh(), nn.Linear(8, ⟩1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
            component="model.0",
        ),
        example(
            "no hidden layer",
            model="nn.Sequential(nn.Linear(2, 1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
        ),
    )
