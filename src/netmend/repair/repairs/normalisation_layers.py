"""Repairs of layers that normalise: where there are none, and how fast their statistics follow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack, layers_of, model_of_fault
from netmend.changes.network.stacks import made_together, put_behind
from netmend.program.source.naming import spelled
from netmend.program.source.values import Faces, joined, set_argument
from netmend.program.source.writing import delete_argument, replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import ARCHITECTURE, BY_FACTS, Change, FileEdits

_DEEP = 5  # layers from which it may also make up for a poor start or saturating units
_SMALL = 8  # samples from which the statistics of a batch are worth something


_layers_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(16, 2)), torch.ones(16, 1))"
)


class Normalisation(
    Repair, code="R310", cures=("LYR-NORM-MISSING", "ACT-HID-WRONG", "ARC-INIT-WEIGHT"), effort=BY_FACTS
):
    """Put a normalisation behind the hidden layers of a deep stack.

    Batch norm keeps signals from fading or exploding with depth, and lets larger learning rates work; layer norm does
    the same within each sample, which suits small batches and sequences.
    """

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
            yield from self.change(case, title, edits, knob="normalisation", effort=effort)

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

    EXAMPLES = {
        "a list that a loop fills": _layers_example(
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
        "layers that forward calls": _layers_example(
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
        "normalised already": _layers_example(
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 1))⟩",
            component="model.0",
        ),
    }


_statistics_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))"
)


class NormStatistics(Repair, code="R311", cures=("LYR-NORM-STATS", "API-USAGE", "HYP-BATCH-SMALL")):
    """Give batch norm its usual momentum, or exchange it for a normalisation that needs no batch.

    The momentum is the weight of the new value; a tiny one leaves the statistics where they started. With batches of a
    few samples the statistics are noise, and group or layer norm does better.
    """

    usual: tuple[float, float] = (0.005, 0.6)  # momenta that statistics can follow with

    def propose(self, case: Case) -> Iterator[Change]:
        norms = [m for m in case.trace.layers() if m.kind.startswith("BatchNorm") and m.created is not None]
        component = case.component
        if not norms or (case.cause == "API-USAGE" and component not in {norm.name for norm in norms}):
            return
        off = [norm for norm in norms if not self._is_usual(norm)]
        if off and case.cause != "HYP-BATCH-SMALL":
            yield from self.change(
                case,
                "batch norm with its usual momentum",
                self._momentum(case, off),
                knob="momentum of batch norm",
            )
        small = max((norm.output_shapes[0][0] for norm in norms if norm.output_shapes), default=0) < 8
        if case.cause in ("HYP-BATCH-SMALL", "LYR-NORM-STATS") and small:
            edits = united(self._of_sample(case, norm) for norm in norms)
            title = "a normalisation that needs no batch"
            yield from self.change(case, title, edits, knob="normalisation", effort=ARCHITECTURE)

    def _is_usual(self, norm: ModuleFact) -> bool:
        momentum = norm.settings.get("momentum", 0.1)
        return momentum is None or self.usual[0] <= float(momentum) <= self.usual[1]

    @staticmethod
    def _momentum(case: Case, norms: list[ModuleFact]) -> Faces:
        parts: list[Faces] = []
        for norm in norms:
            found = case.code.call_at(norm.created)
            given = [k for k in found[1].keywords if k.arg == "momentum"] if found is not None else []
            faces = set_argument(case.code, norm.created, "momentum", "0.1", 2, case.arguments)
            # the default holds
            own = delete_argument(*found, given[0]) if found is not None and given else ()
            parts.append(Faces(faces.edits if faces.forced else own, faces.forced or own) if given else faces)
        return joined(parts)

    @staticmethod
    def _of_sample(case: Case, norm: ModuleFact) -> FileEdits:
        """`nn.BatchNorm1d(8)` → `nn.LayerNorm(8)`; feature maps get one group of channels."""
        found = case.code.call_at(norm.created)
        if found is None:
            return ()
        file, call = found
        width = case.sources.argument(call, "num_features", 0)
        if width is None or last_name(call.func) != norm.kind:
            return ()
        flat = len((*norm.output_shapes, ())[0]) == 2
        name, extra = spelled(file, f"torch.nn.{'LayerNorm' if flat else 'GroupNorm'}", like=call.func)
        inside = file.source(width) if flat else f"1, {file.source(width)}"
        return (*replace(file, call, f"{name}({inside})"), *extra)

    EXAMPLES = {
        "a tiny momentum": _statistics_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8⟨, momentum=1e-4 → ⟩), nn.ReLU(), nn.Linear(8, 1))",
            component="model.1",
        ),
        "tiny batches": _statistics_example(
            model="nn.Sequential(nn.Linear(2, 8), nn.⟨BatchNorm1d → LayerNorm⟩(8), nn.ReLU(), nn.Linear(8, 1))",
            cause="HYP-BATCH-SMALL",
            component="training data",
        ),
        "nothing to change": _statistics_example(
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))⟩", component="model.1"
        ),
    }
