"""R311."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import united
from netmend.program.source.naming import spelled
from netmend.program.source.values import Faces, set_argument
from netmend.program.source.writing import delete_argument, replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import ARCHITECTURE, FREE, Change, FileEdits

_example = partial(example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))")


@register
@dataclass(frozen=True)
class NormStatistics:
    """Give batch norm its usual momentum, or exchange it for a normalisation that needs no batch.

    The momentum is the weight of the new value; a tiny one leaves the statistics where they started. With batches of a
    few samples the statistics are noise, and group or layer norm does better.
    """

    code: ClassVar[str] = "R311"
    cures: ClassVar[tuple[str, ...]] = ("LYR-NORM-STATS", "API-USAGE", "HYP-BATCH-SMALL")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    usual: tuple[float, float] = (0.005, 0.6)  # momenta that statistics can follow with

    def propose(self, case: Case) -> Iterator[Change]:
        norms = [m for m in case.trace.layers() if m.kind.startswith("BatchNorm") and m.created is not None]
        component = "" if case.fault is None else case.fault.component
        if not norms or (case.cause == "API-USAGE" and component not in {norm.name for norm in norms}):
            return
        off = [norm for norm in norms if not self._is_usual(norm)]
        if off and case.cause != "HYP-BATCH-SMALL":
            yield from change(
                self,
                case,
                "batch norm with its usual momentum",
                self._momentum(case, off),
                knob="momentum of batch norm",
            )
        small = max((norm.output_shapes[0][0] for norm in norms if norm.output_shapes), default=0) < 8
        if case.cause in ("HYP-BATCH-SMALL", "LYR-NORM-STATS") and small:
            edits = united(self._of_sample(case, norm) for norm in norms)
            title = "a normalisation that needs no batch"
            yield from change(self, case, title, edits, knob="normalisation", effort=ARCHITECTURE)

    def _is_usual(self, norm: ModuleFact) -> bool:
        momentum = norm.settings.get("momentum", 0.1)
        return momentum is None or self.usual[0] <= float(momentum) <= self.usual[1]

    @staticmethod
    def _momentum(case: Case, norms: list[ModuleFact]) -> Faces:
        edits: list[FileEdits] = []
        forced: list[FileEdits] = []
        for norm in norms:
            found = case.code.call_at(norm.created)
            given = (
                None if found is None else next((k for k in found[1].keywords if k.arg == "momentum"), None)
            )
            if found is not None and given is not None:
                own = delete_argument(*found, given)  # the default holds
                faces = set_argument(case.code, norm.created, "momentum", "0.1", 2, case.arguments)
                edits.append(faces.edits if faces.forced else own)
                forced.append(faces.forced or own)
            else:
                faces = set_argument(case.code, norm.created, "momentum", "0.1", 2, case.arguments)
                edits.append(faces.edits)
                forced.append(faces.forced or faces.edits)
        return Faces(united(edits), united(forced) if united(forced) != united(edits) else ())

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

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "a tiny momentum",
            model="nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8⟨, momentum=1e-4 → ⟩), nn.ReLU(), nn.Linear(8, 1))",
            component="model.1",
        ),
        _example(
            "tiny batches",
            model="nn.Sequential(nn.Linear(2, 8), nn.⟨BatchNorm1d → LayerNorm⟩(8), nn.ReLU(), nn.Linear(8, 1))",
            cause="HYP-BATCH-SMALL",
            component="training data",
        ),
        _example(
            "nothing to change",
            model="⟨nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))⟩",
            component="model.1",
        ),
    )
