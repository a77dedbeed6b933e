"""R314."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.input_forms import axes_of, lacks_axes, needs_flattening, reformed
from netmend.changes.network.model_layers import in_stack
from netmend.changes.network.stacks import put_before
from netmend.diagnose.measures.ending import failing_layer
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace, wrap
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import FREE, Change, FileEdits

_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 1, 6, 6)), torch.ones(4, 1))", raises=True
)


@register
@dataclass(frozen=True)
class FitLayerInput:
    """Flatten a feature map before a linear layer, or add the axis that a convolution lacks.

    The program stopped because a layer was given numbers in a form that it does not take; the shapes seen tell which.
    """

    code: ClassVar[str] = "R314"
    cures: ClassVar[tuple[str, ...]] = (
        "LYR-FLATTEN-MISSING",
        "INP-LAYER-SHAPE",
        "LYR-IN-SHAPE",
        "LYR-DIM-MISMATCH",
        "LYR-IN-SAMPLE",
    )
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        layer = failing_layer(case.trace)
        if layer is None or not layer.input_shapes:
            return
        if needs_flattening(case, layer):
            yield from change(
                self, case, f"flatten before {layer.name}", self._flattened(case, layer), knob=layer.name
            )
        elif lacks_axes(layer):
            after = self._missing_axes(layer)
            if after:
                edits = reformed(case, layer, after)
                yield from change(self, case, f"`{after}` before {layer.name}", edits, knob=layer.name)

    @staticmethod
    def _missing_axes(layer: ModuleFact) -> str:
        given, channels = layer.input_shapes[0], int(layer.settings.get("in_channels") or 0)
        if len(given) == axes_of(layer) - 1:
            return ".unsqueeze(1)" if channels == 1 else ".unsqueeze(0)" if given[0] == channels else ""
        if len(given) == 2 and axes_of(layer) == 4 and channels and given[1] % channels == 0:
            side = math.isqrt(given[1] // channels)
            return f".reshape(-1, {channels}, {side}, {side})" if side * side * channels == given[1] else ""
        return ""

    @staticmethod
    def _flattened(case: Case, layer: ModuleFact) -> FileEdits:
        made, called = case.code.call_at(layer.created), case.code.call_at(layer.called)
        if made is None:
            return ()
        file, call = made
        size = math.prod(layer.input_shapes[0][1:])
        value = case.sources.argument(call, "in_features", 0)
        sized: FileEdits = ()
        if size != layer.settings.get("in_features"):
            sized = replace(file, value, str(size)) if value is not None else ()
            if not sized:
                return ()
        if in_stack(case, layer):
            name, extra = spelled(file, "torch.nn.Flatten", like=call.func)
            return (*put_before(file, call, f"{name}()"), *extra, *sized)
        if called is None or not called[1].args:
            return ()
        return (*wrap(called[0], called[1].args[0], "", ".flatten(1)"), *sized)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a stack",
            model="""
                nn.Sequential(
                    nn.Conv2d(1, 2, 3),
                    + nn.Flatten(),
                    ⟨nn.Linear(32, 1)⟩,
                )""",
            component="model.1",
        ),
        _example(
            "in forward, with the right size",
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨50 → 32⟩, 1)",
            forward="x = self.conv(x)\nreturn self.fc⟨(x) → (x.flatten(1))⟩",
            cause="LYR-DIM-MISMATCH",
            component="model.fc",
        ),
        _example(
            "an axis is missing",
            layers="self.conv = ⟨nn.Conv2d(1, 2, 3)⟩\nself.fc = nn.Linear(32, 1)",
            forward="return self.fc(self.conv(⟨x → x.unsqueeze(1)⟩).flatten(1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 6, 6)), torch.ones(4, 1))",
            cause="LYR-IN-SHAPE",
            component="model.conv",
        ),
        _example(
            "another width",
            model="nn.Sequential(⟨nn.Linear(3, 1)⟩)",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
            cause="LYR-IN-SHAPE",
            component="model.0",
        ),
    )
