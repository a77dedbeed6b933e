"""R310."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack, layers_of, model_of_fault, united
from netmend.changes.network.stacks import made_together, put_behind
from netmend.program.source.naming import spelled
from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import ARCHITECTURE, BY_FACTS, Change, FileEdits

_DEEP = 5  # layers from which it may also make up for a poor start or saturating units
_SMALL = 8  # samples from which the statistics of a batch are worth something


_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(16, 2)), torch.ones(16, 1))")


@register
@dataclass(frozen=True)
class Normalisation:
    """Put a normalisation behind the hidden layers of a deep stack.

    Batch norm keeps signals from fading or exploding with depth, and lets larger learning rates work; layer norm does
    the same within each sample, which suits small batches and sequences.
    """

    code: ClassVar[str] = "R310"
    cures: ClassVar[tuple[str, ...]] = ("LYR-NORM-MISSING", "ACT-HID-WRONG", "ARC-INIT-WEIGHT")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        model = model_of_fault(case)
        layers = layers_of(case, model)
        if len(layers) < 3 or any("Norm" in module.kind for module in case.trace.layers()):
            return
        last = layers[-1]
        hidden = [
            layer for layer in layers[:-1] if layer.created is not None and layer.created != last.created
        ]
        batch = next((layer.output_shapes[0][0] for layer in hidden if layer.output_shapes), 0)
        sequence = any(layer.kind == "Linear" and len((*layer.output_shapes, ())[0]) > 2 for layer in hidden)
        kinds = ("layer",) if sequence or batch < _SMALL else ("batch", "layer")
        mine = case.cause in ("", self.cures[0])
        if not mine and len(layers) < _DEEP:
            return
        for kind in kinds if mine else kinds[:1]:
            edits = united(self._normed(case, layer, kind) for layer in hidden)
            title = f"{kind} norm after the hidden layers"
            effort = self.effort if mine else ARCHITECTURE
            yield from change(self, case, title, edits, knob="normalisation", effort=effort)

    def _normed(self, case: Case, layer: ModuleFact, kind: str) -> FileEdits:
        found = case.code.call_at(layer.created)
        text = None if found is None else self._text(case, *found, layer, kind)
        if found is None or text is None:
            return ()
        file, call = found
        written, extra = text
        edits = put_behind(file, call, written, "norm") if in_stack(case, layer) else ()
        if not edits and not self._weights_read(case, file, layer):
            edits = made_together(file, call, written)
        return (*edits, *extra) if edits else ()

    @staticmethod
    def _text(
        case: Case, file: File, call: ast.Call, layer: ModuleFact, kind: str
    ) -> tuple[str, FileEdits] | None:
        linear = layer.kind == "Linear"
        width = case.sources.argument(call, "out_features" if linear else "out_channels", 1)
        if width is None or not layer.kind.startswith(("Linear", "Conv")):
            return None
        axes = "1" if linear else layer.kind[-2]
        if kind == "batch":
            name, extra = spelled(file, f"torch.nn.BatchNorm{axes}d", like=call.func)
            return f"{name}({file.source(width)})", extra
        if linear:
            name, extra = spelled(file, "torch.nn.LayerNorm", like=call.func)
            return f"{name}({file.source(width)})", extra
        name, extra = spelled(file, "torch.nn.GroupNorm", like=call.func)
        return f"{name}(1, {file.source(width)})", extra

    @staticmethod
    def _weights_read(case: Case, file: File, layer: ModuleFact) -> bool:
        """Whether the program asks layers for their weights, which a stack of two does not have."""
        holder = layer.name.rpartition(".")[0]
        kind = next((m.kind for m in case.trace.all(ModuleFact) if m.name == holder), "")
        return any(
            node.attr in ("weight", "bias")
            and not (isinstance(node.value, ast.Name) and kind in ("", "Sequential"))
            for node in inside(file.tree, ast.Attribute)
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a list that a loop fills",
            data="""
                def make(width=8):
                    layers = [nn.Linear(2, width), nn.⟨ReLU → BatchNorm1d(width), nn.ReLU⟩()]
                    for _ in range(3):
                        layers += [nn.Linear(width, width), nn.⟨ReLU → BatchNorm1d(width), nn.ReLU⟩()]
                    return nn.Sequential(*layers, nn.Linear(width, 1))""",
            model="make()",
            mark="layers += ",
            component="model.0",
        ),
        _example(
            "layers that forward calls",
            layers="""
                self.rest = nn.ModuleList([nn.⟨Linear(a, 8) → Sequential(nn.Linear(a, 8), nn.LayerNorm(8))⟩ for a in (2, 8, 8)])
                self.last = nn.Linear(8, 1)""",
            forward="""
                for layer in self.rest:
                    x = layer(x).relu()
                return self.last(x)""",
            component="model.rest.0",
            nth=1,
        ),
        _example(
            "normalised already",
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 1))⟩",
            component="model.0",
        ),
    )
