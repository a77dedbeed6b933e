"""The layers of a run as rows: what each is, where it was made, and its latest statistics."""

from __future__ import annotations

from dataclasses import dataclass, field

from netmend.report.content import Column, Grid, clean, place
from netmend.report.numbers import UNKNOWN, count, measure, shape, share
from netmend.vocabulary import FunctionFact, ModuleFact, ParameterFact, Site, Trace


@dataclass(frozen=True)
class LayerRow:
    """A leaf module, a module with parameters of its own, or a functional activation."""

    name: str
    kind: str
    model: str = ""
    order: int | None = None
    output: tuple[int, ...] | None = None
    parameters: tuple[ParameterFact, ...] = field(default=())
    created: Site | None = None
    remark: str = ""  # what is unusual about it, as a fact

    @property
    def main_parameter(self) -> str:
        """The largest parameter: it stands for the layer's gradient and update."""
        return max(self.parameters, key=_size, default=ParameterFact(name="")).name


def layer_rows(trace: Trace) -> tuple[LayerRow, ...]:
    """Rows in execution order, model by model; what was never called comes last in its model."""
    owned: dict[str, list[ParameterFact]] = {}
    for parameter in trace.parameters:
        owned.setdefault(parameter.module, []).append(parameter)
    modules = {module.name: module for module in trace.all(ModuleFact)}
    rows = [_module_row(module, owned) for module in modules.values() if module.leaf or module.name in owned]
    rows += [_orphan_row(name, parameters) for name, parameters in owned.items() if name not in modules]
    rows += [_function_row(fact) for fact in trace.all(FunctionFact) if fact.kind == "activation"]
    rank = {model.name: index for index, model in enumerate(trace.models)}
    return tuple(
        sorted(rows, key=lambda row: (rank.get(row.model, len(rank)), row.order is None, row.order or 0))
    )


def latest(trace: Trace, kind: str, component: str, column: str) -> float | None:
    """The last measured value, or None."""
    _, values = trace.series(kind, component, column)
    return float(values[-1]) if len(values) else None


def layers_grid(trace: Trace) -> Grid:
    """One row per layer with its latest statistics."""
    columns = (
        Column("layer"),
        Column("kind", spare=2),
        Column("output", spare=6, hint="shape of the output in the first forward pass"),
        Column("parameters", numeric=True, spare=4),
        Column("made at", spare=3),
        Column("act. rms", numeric=True, hint="root mean square of the output"),
        Column("zero", numeric=True, spare=5, hint="share of output values that are exactly zero"),
        Column("silent", numeric=True, spare=1, hint="share of units that are zero for every sample"),
        Column("grad. rms", numeric=True, hint="root mean square of the gradient of its largest parameter"),
        Column("update", numeric=True, hint="size of the last update relative to the weights: ‖ΔW‖/‖W‖"),
        Column("remark", spare=7),
    )
    rows = []
    for row in layer_rows(trace):
        rows.append(
            (
                clean(row.name),
                clean(row.kind),
                UNKNOWN if row.output is None else shape(row.output),
                count(sum(map(_size, row.parameters))) if row.parameters else "",
                place(row.created, trace.run),
                measure(latest(trace, "activation", row.name, "rms")),
                share(latest(trace, "activation", row.name, "zero_share")),
                share(latest(trace, "activation", row.name, "silent_share")),
                measure(latest(trace, "gradient", row.main_parameter, "rms")) if row.parameters else "",
                measure(latest(trace, "update", row.main_parameter, "ratio")) if row.parameters else "",
                row.remark,
            )
        )
    return Grid(columns, tuple(rows), note="Statistics are from the last step at which they were recorded.")


def _size(parameter: ParameterFact) -> int:
    total = 1
    for length in parameter.shape:
        total *= length
    return total


def _module_row(module: ModuleFact, owned: dict[str, list[ParameterFact]]) -> LayerRow:
    parameters = tuple(owned.get(module.name, ()))
    return LayerRow(
        module.name,
        module.kind,
        module.model,
        module.order,
        module.output_shapes[0] if module.output_shapes else None,
        parameters,
        module.created,
        _unusual(module, parameters),
    )


def _unusual(module: ModuleFact, parameters: tuple[ParameterFact, ...]) -> str:
    told = []
    if not module.registered:
        told.append("not registered in the model")
    if module.order is None:
        told.append("never called")
    if module.calls > 1:
        told.append(f"called {module.calls} times per pass")
    if parameters and not any(parameter.trainable for parameter in parameters):
        told.append("frozen")
    elif any(parameter.trainable and parameter.optimizer is None for parameter in parameters):
        told.append("in no optimiser")
    tied = [parameter.tied_to for parameter in parameters if parameter.tied_to]
    if tied:
        told.append(f"shares {tied[0]}")
    return clean(", ".join(told))


def _orphan_row(name: str, parameters: list[ParameterFact]) -> LayerRow:
    """Parameters whose module was not seen, such as those of a hand-written model without modules."""
    return LayerRow(name or parameters[0].name, "parameter", parameters=tuple(parameters))


def _function_row(fact: FunctionFact) -> LayerRow:
    output = fact.output_shape or None
    return LayerRow(fact.name, f"{fact.function}()", fact.model, fact.order, output, (), fact.site)
