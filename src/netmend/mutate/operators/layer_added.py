"""M424."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import in_stack, layers_of, made_by
from netmend.changes.network.stacks import made_together, put_behind
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written, trained_model
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class LayerAdded:
    """Add a linear layer of the same width directly after a hidden one.

    Two linear layers in a row can do no more than one, and are harder to train.
    """

    code: ClassVar[str] = "M424"
    causes: ClassVar[tuple[str, ...]] = ("LYR-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("LA",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        for layer in layers_of(case, "" if model is None else model.name)[:-1]:
            if layer.kind == "Linear" and layer.calls == 1 and is_written(case, layer):
                title = f"one more layer after {layer.name}"
                yield from mutation(self, title, _doubled(case, layer), component=layer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("in a stack", STACK, old="nn.Linear(4, 8),", new="nn.Linear(4, 8),\n    nn.Linear(8, 8),"),
        Example(
            "of a class",
            FUNCTIONS,
            old="nn.Linear(24, hidden)",
            new="nn.Sequential(nn.Linear(24, hidden), nn.Linear(16, 16))",
        ),
    )


def _doubled(case: Case, layer: ModuleFact) -> FileEdits:
    found, width = case.code.call_at(layer.created), layer.settings.get("out_features")
    if found is None or not isinstance(width, int) or len(made_by(case, layer.created)) != 1:
        return ()
    file, call = found
    name, extra = spelled(file, "torch.nn.Linear", like=call.func)
    text = f"{name}({width}, {width})"
    if in_stack(case, layer):
        return (*put_behind(file, call, text, "more"), *extra)
    return (*made_together(file, call, text), *extra)
