"""Repairs of layers that do not fit what comes in."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.input_forms import (
    axes_of,
    axes_of_norm,
    doubled,
    lacks_axes,
    needs_flattening,
    product_of,
    reformed,
)
from netmend.changes.network.model_layers import TAKES, in_stack
from netmend.changes.network.stacks import put_before
from netmend.diagnose.measures.ending import failing_layer, layer_before
from netmend.program.settings import value_origin
from netmend.program.source.naming import rename_callee, spelled
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import Change, FileEdits

_SPATIAL = ("Conv", "BatchNorm", "GroupNorm", "InstanceNorm")  # their width is the second axis


_size_example = partial(
    example,
    loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
    component="model.2",
    raises=True,
)


class FitLayerSize(
    Repair,
    code="R313",
    cures=("LYR-DIM-MISMATCH", "LYR-IN-SAMPLE", "LYR-IN-SHAPE", "LYR-FILTER", "INP-LAYER-SHAPE"),
):
    """Make a layer take as many features or channels as it is given, or let the layer before give what it takes.

    The sizes are those that were seen when the program stopped, so that the first change is exact.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        layer = failing_layer(case.trace)
        found = case.code.call_at(layer.created) if layer is not None else None
        if layer is None or found is None:
            return
        text = case.trace.run.exception or ""
        if "index out of range" in text:
            yield from self._more_entries(case, layer, *found)
            return
        if case.cause == "LYR-FILTER":
            yield from self._smaller_kernel(case, layer)
            return
        name, position = next((v for k, v in TAKES.items() if layer.kind.startswith(k)), ("", 0))
        given = layer.input_shapes[0]
        axes = axes_of_norm(layer, text)
        if axes:
            edits = rename_callee(*found, f"torch.nn.{layer.kind[:-2]}{axes}d")
            yield from self.change(case, f"{layer.name} as {layer.kind[:-2]}{axes}d", edits, knob=layer.name)
            return
        if not name or len(given) < 2 or lacks_axes(layer) or needs_flattening(case, layer):
            return
        width = given[1] if layer.kind.startswith(_SPATIAL) and len(given) > 1 else given[-1]
        wanted = layer.settings.get(name)
        wanted = wanted[-1] if isinstance(wanted, list | tuple) else wanted
        if not isinstance(wanted, int) or wanted == width:
            return
        value = case.sources.argument(found[1], name, position)
        if value is not None:
            faces = self._width(case, found[0], layer, value, width)
            yield from self.change(
                case,
                f"let {layer.name} take {width} instead of {wanted}",
                faces,
                knob=f"input of {layer.name}",
            )
        yield from self._before(case, layer, width, wanted)

    @staticmethod
    def _width(case: Case, file: File, layer: ModuleFact, value: ast.expr, width: int) -> Faces:
        """At the layer; where its value was set when nothing else uses that."""
        text = (
            product_of(case, file, layer, value, width)
            or doubled(case, file, layer, value, width)
            or str(width)
        )
        here = replace(file, value, text)
        if isinstance(value, ast.Name):
            origin = value_origin(case.code.sources, file.file, value)
            other = case.code.file(origin.file)
            node = other.node_at(origin) if other is not None else None
            uses = [n for n in inside(file.tree, ast.Name) if n.id == value.id]
            read = [n for n in uses if isinstance(n.ctx, ast.Load)]
            is_number = isinstance(node, ast.Constant) and isinstance(node.value, int)
            if other is not None and node is not None and is_number and len(read) == 1:
                return Faces(replace(other, node, str(width)), here)
        return Faces(here)

    def _before(self, case: Case, layer: ModuleFact, width: int, wanted: int) -> Iterator[Change]:
        before = layer_before(case.trace, layer)
        if before is None or case.cause != "LYR-DIM-MISMATCH":
            return
        name = next((n for n in ("out_features", "out_channels") if before.settings.get(n) == width), "")
        if name:
            faces = set_argument(case.code, before.created, name, str(wanted), 1, case.arguments)
            title = f"let {before.name} give {wanted} instead of {width}"
            yield from self.change(case, title, faces, knob=f"input of {layer.name}")

    def _more_entries(self, case: Case, layer: ModuleFact, file: File, call: ast.Call) -> Iterator[Change]:
        """An embedding with too few entries: one more for indices that count from one, or as many as the data shows."""
        value = case.sources.argument(call, "num_embeddings", 0)
        old = layer.settings.get("num_embeddings")
        if value is None or not isinstance(old, int):
            return
        _, seen = case.trace.series("input", layer.model, "maximum")
        most = int(max(seen)) + 1 if len(seen) else 0
        size = most if most > old else old + 1
        if size == old + 1 and not isinstance(value, ast.Constant):
            edits = wrap(file, value, "", " + 1")
        else:
            edits = replace(file, value, str(size))
        yield from self.change(
            case, f"{layer.name} with {size} entries", edits, knob=f"input of {layer.name}"
        )

    def _smaller_kernel(self, case: Case, layer: ModuleFact) -> Iterator[Change]:
        """A kernel that is larger than the map gets the size of the map, or a border that keeps the map's size."""
        kernel, given = layer.settings.get("kernel_size"), layer.input_shapes[0]
        sizes = [kernel] if isinstance(kernel, int) else list(kernel or ())
        if not sizes or len(given) < 2 + len(sizes):
            return
        position = 2 if layer.kind.startswith("Conv") else 0
        if layer.kind.startswith("Conv") and all(size % 2 for size in sizes):
            faces = set_argument(case.code, layer.created, "padding", str(sizes[0] // 2), 4, case.arguments)
            yield from self.change(case, f"{layer.name} with padding", faces, knob=f"kernel of {layer.name}")
        size = min(*sizes, *given[2:])
        faces = set_argument(case.code, layer.created, "kernel_size", str(size), position, case.arguments)
        yield from self.change(
            case, f"{layer.name} with a kernel of {size}", faces, knob=f"kernel of {layer.name}"
        )

    EXAMPLES = {
        "two layers that disagree": _size_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(⟨16 → 8⟩, 1))"
        ),
        "the layer before": _size_example(
            model="nn.Sequential(nn.Linear(2, ⟨8 → 16⟩), nn.ReLU(), nn.Linear(16, 1))", nth=1
        ),
        "a flattened feature map, in the same form": _size_example(
            model="nn.Sequential(nn.Conv2d(1, 6, 3), nn.Flatten(), nn.Linear(6 * ⟨5 * 5 → 4 * 4⟩, 1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 1, 6, 6)), torch.ones(4, 1))",
            cause="LYR-IN-SAMPLE",
        ),
        "sizes that fit": _size_example(
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))⟩", raises=False
        ),
    }


_input_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 1, 6, 6)), torch.ones(4, 1))", raises=True
)


class FitLayerInput(
    Repair,
    code="R314",
    cures=("LYR-FLATTEN-MISSING", "INP-LAYER-SHAPE", "LYR-IN-SHAPE", "LYR-DIM-MISMATCH", "LYR-IN-SAMPLE"),
):
    """Flatten a feature map before a linear layer, or add the axis that a convolution lacks.

    The program stopped because a layer was given numbers in a form that it does not take; the shapes seen tell which.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        layer = failing_layer(case.trace)
        if layer is None or not layer.input_shapes:
            return
        if needs_flattening(case, layer):
            yield from self.change(
                case, f"flatten before {layer.name}", self._flattened(case, layer), knob=layer.name
            )
        elif lacks_axes(layer):
            after = self._missing_axes(layer)
            if after:
                edits = reformed(case, layer, after)
                yield from self.change(case, f"`{after}` before {layer.name}", edits, knob=layer.name)

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

    EXAMPLES = {
        "a stack": _input_example(
            model="""
                nn.Sequential(
                    nn.Conv2d(1, 2, 3),
                    + nn.Flatten(),
                    ⟨nn.Linear(32, 1)⟩,
                )""",
            component="model.1",
        ),
        "in forward, with the right size": _input_example(
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨50 → 32⟩, 1)",
            forward="x = self.conv(x)\nreturn self.fc⟨(x) → (x.flatten(1))⟩",
            cause="LYR-DIM-MISMATCH",
            component="model.fc",
        ),
        "an axis is missing": _input_example(
            layers="self.conv = ⟨nn.Conv2d(1, 2, 3)⟩\nself.fc = nn.Linear(32, 1)",
            forward="return self.fc(self.conv(⟨x → x.unsqueeze(1)⟩).flatten(1))",
            loss="nn.functional.mse_loss(model(torch.randn(4, 6, 6)), torch.ones(4, 1))",
            cause="LYR-IN-SHAPE",
            component="model.conv",
        ),
        "another width": _input_example(
            model="nn.Sequential(⟨nn.Linear(3, 1)⟩)",
            loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
            cause="LYR-IN-SHAPE",
            component="model.0",
        ),
    }
