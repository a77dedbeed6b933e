"""Preparation that is fitted to data: scalers, decompositions, feature selection, by scikit-learn and by hand; evaluation data that misses it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers, split_part
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import parts_of, walk
from netmend.program.meaning.roles import bare
from netmend.program.meaning.statements import argument_node
from netmend.program.meaning.training import grad_is_off, loss_of, rounds

SCALERS = frozenset(
    ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer", "PowerTransformer", "KBinsDiscretizer")
)  # fmt: skip
# Those that are given the targets choose or fill what agrees with them.
SUPERVISED = frozenset(
    ("SelectKBest", "SelectPercentile", "SelectFromModel", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "RFE", "RFECV",
     "SequentialFeatureSelector", "TargetEncoder", "LeaveOneOutEncoder", "WOEEncoder", "JamesSteinEncoder", "MEstimateEncoder",
     "CatBoostEncoder", "GLMMEncoder", "QuantileEncoder", "NeighborhoodComponentsAnalysis", "LinearDiscriminantAnalysis", "PLSRegression")
)  # fmt: skip
OTHERS = SUPERVISED | {
    "PCA", "TruncatedSVD", "KernelPCA", "FastICA", "NMF", "IncrementalPCA", "SparsePCA", "FactorAnalysis", "VarianceThreshold",
    "SimpleImputer", "KNNImputer", "IterativeImputer",
}  # fmt: skip
_LIBRARIES = ("sklearn.", "category_encoders.")


@dataclass(frozen=True)
class Fit:
    """An estimator is fitted to data."""

    kind: str  # "StandardScaler"
    event: CallEvent
    estimator: Call
    data: Value
    data_node: ast.expr | None
    transforms: bool  # fit_transform
    targets: Value | None = None


@once
def fits(program: Program) -> tuple[Fit, ...]:
    found = []
    for event in program.methods_of("fit", "fit_transform"):
        call = event.call
        made = resolved(call.receiver)
        if not isinstance(made, Call):
            continue
        kind = estimator_kind(made)
        data = call.argument("X", 0)
        if kind and data is not None:
            found.append(
                Fit(
                    kind,
                    event,
                    made,
                    data,
                    argument_node(call.node, "X", 0),
                    call.method == "fit_transform",
                    call.argument("y", 1),
                )
            )
    found.sort(key=lambda fit: fit.event.order)
    return tuple(found)


def estimator_kind(made: Call) -> str:
    """`StandardScaler` for a preparation step of scikit-learn, else ""; `StandardScaler().fit(x)` gives the scaler."""
    if made.method == "fit" and made.receiver is not None:
        inner = resolved(made.receiver)
        return estimator_kind(inner) if isinstance(inner, Call) else ""
    name = made.qualified.rpartition(".")[2]
    if made.qualified in ("sklearn.pipeline.make_pipeline", "sklearn.pipeline.Pipeline"):
        steps = (part for argument in made.given for part in walk(argument) if isinstance(part, Call))
        kinds = [kind for part in steps if (kind := estimator_kind(part))]
        return next((kind for kind in kinds if kind in SUPERVISED), next(iter(kinds), ""))
    return name if made.qualified.startswith(_LIBRARIES) and name in SCALERS | OTHERS else ""


def fitted_within(program: Program, values: Iterable[Value]) -> Iterator[Fit]:
    """Fits that some of these values are a result of: transformed by it, or picked by what it chose."""
    by_call = {id(fit.event.call): fit for fit in fits(program)}
    by_estimator: dict[int, list[Fit]] = {}
    for fit in fits(program):
        by_estimator.setdefault(id(fit.estimator), []).append(fit)
    seen: set[int] = set()
    for part in values:
        made = resolved(part.receiver) if isinstance(part, Call) and part.method == "transform" else part
        for fit in (by_call.get(id(part)), *by_estimator.get(id(made), ())):
            if fit is not None and id(fit) not in seen:
                seen.add(id(fit))
                yield fit


def centred_within(values: Iterable[Value]) -> Iterator[tuple[Operation, Value]]:
    """`x - x.mean()` and its kin over all rows among values."""
    for part in values:
        if isinstance(part, Operation) and part.operator == "-" and len(part.operands) == 2:
            data, centre = resolved(part.operands[0]), resolved(part.operands[1])
            if isinstance(centre, Call) and _mean_of(centre) is data and _over_rows(centre):
                yield part, data


def _mean_of(call: Call) -> Value | None:
    if call.method in ("mean", "min") and call.receiver is not None:
        return resolved(call.receiver)
    if call.qualified in ("numpy.mean", "torch.mean", "numpy.nanmean", "numpy.min") and call.args:
        return resolved(call.args[0])
    return None


def _over_rows(call: Call) -> bool:
    """Is the mean taken over all rows and not within each of them?"""
    position = 0 if call.method else 1
    axis = call.argument("axis", position) or call.keywords.get("dim")
    if axis is None:
        return True
    axis = resolved(axis)
    if isinstance(axis, Collection):
        return any(constant(item) == 0 for item in axis.items)
    return isinstance(axis, Const) and (axis.value is None or (axis.value == 0 and axis.value is not False))


def evaluated_raw(program: Program) -> Iterator[tuple[CallEvent, Value]]:
    """Calls of the model without gradients on data whose sister part was standardised for training, and the standardising."""
    scaled: dict[tuple[int, int], Value] = {}
    models: set[int] = set()
    for turn in rounds(program):
        for event in turn.backward:
            for value in walk(loss_of(event)):
                source = _scaled(value)
                if source is not None:
                    scaled.setdefault(_sister(source), value)
                if isinstance(value, Call) and is_module(value.function):
                    models.add(id(bare(value.function)))
    scaled.pop((0, 0), None)
    if not scaled:
        return
    for event in program.calls:
        call = event.call
        if not call.args or id(bare(call.function)) not in models or not grad_is_off(event):
            continue
        found = [key for key in map(_key, _as_it_was(call.args[0])) if key in scaled]
        if found:
            yield event, scaled[found[0]]
            for key in found:
                scaled.pop(key, None)  # layers inside the model get the same data


def _scaled(value: Value) -> Value | None:
    """The data behind `(x - x.mean()) / x.std()` or `scaler.fit_transform(x)`."""
    if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2:
        inner = resolved(value.operands[0])
        if isinstance(inner, Operation) and inner.operator == "-" and len(inner.operands) == 2:
            data, centre = resolved(inner.operands[0]), resolved(inner.operands[1])
            if isinstance(centre, Call) and (centre.receiver is not None or centre.args):
                of = centre.receiver if centre.receiver is not None else centre.args[0]
                name = (centre.method or centre.qualified).rpartition(".")[2]
                return data if name == "mean" and same_numbers(of) is same_numbers(data) else None
    if (
        isinstance(value, Call)
        and value.method == "fit_transform"
        and value.receiver is not None
        and value.args
    ):
        made = resolved(value.receiver)
        if isinstance(made, Call) and estimator_kind(made) in SCALERS:
            return value.args[0]
    return None


def _sister(source: Value) -> tuple[int, int]:
    """What the test part of the same data would be known by."""
    part = split_part(source)
    if part is not None:
        return (id(part[0]), part[1] + 1) if part[1] % 2 == 0 else (0, 0)
    source = same_numbers(source)
    if isinstance(source, Item) and isinstance(resolved(source.key), Operation):
        return _made(source.base)
    return _made(source)


def _key(value: Value) -> tuple[int, int]:
    part = split_part(value)
    return (id(part[0]), part[1]) if part is not None else _made(value)


def _made(value: Value) -> tuple[int, int]:
    """Two results of the same expression in the same function stand for two samples of the same data."""
    value = same_numbers(value)
    if value.node is None or not isinstance(value, Call | Operation):
        return (0, 0)
    if isinstance(value, Call) and not value.method and not value.qualified.startswith(("numpy.", "torch.")):
        return (0, 0)
    return (id(value.node), -1)


def _as_it_was(value: Value) -> Iterator[Value]:
    """What a value is taken from through loaders, datasets, indexing and conversions, but no arithmetic."""
    waiting = [value]
    seen: set[int] = set()
    while waiting and len(seen) < 300:
        current = same_numbers(waiting.pop())
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, Operation):
            if current.operator in ("/", "*") and isinstance(resolved(current.operands[-1]), Const):
                waiting.append(current.operands[0])  # another scale than the one of training
            continue
        if isinstance(current, Item) and split_part(current) is not None:
            continue
        if isinstance(current, Call):
            if current.qualified in ("torch.utils.data.DataLoader", "torch.utils.data.TensorDataset"):
                waiting.extend(current.args[:1])
            continue
        if isinstance(current, Attribute | Instance):
            continue
        waiting.extend(parts_of(current))
