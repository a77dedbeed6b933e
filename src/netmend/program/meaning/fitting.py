"""Preparation that is fitted to data: scalers, decompositions, feature selection, imputation of scikit-learn, and by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, constant, resolved
from netmend.program.meaning.arguments import argument_node
from netmend.program.meaning.operations import walk
from netmend.program.meaning.remember import once

SCALERS = frozenset(
    ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer", "PowerTransformer", "KBinsDiscretizer")
)  # fmt: skip
OTHERS = frozenset(
    [
        "PCA",
        "TruncatedSVD",
        "KernelPCA",
        "FastICA",
        "NMF",
        "SelectKBest",
        "SelectPercentile",
        "SelectFromModel",
        "RFE",
        "VarianceThreshold",
        "SimpleImputer",
        "KNNImputer",
        "IterativeImputer",
        "TargetEncoder",
    ]
)


@dataclass(frozen=True)
class Fit:
    """An estimator is fitted to data."""

    kind: str  # "StandardScaler"
    event: CallEvent
    estimator: Call
    data: Value
    data_node: ast.expr | None
    transforms: bool  # fit_transform


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
                Fit(kind, event, made, data, argument_node(call.node, "X", 0), call.method == "fit_transform")
            )
    found.sort(key=lambda fit: fit.event.order)
    return tuple(found)


def estimator_kind(made: Call) -> str:
    """`StandardScaler` for a preparation step of scikit-learn, else ""; `StandardScaler().fit(x)` gives the scaler."""
    if made.method == "fit" and made.receiver is not None:
        inner = resolved(made.receiver)
        return estimator_kind(inner) if isinstance(inner, Call) else ""
    name = made.qualified.rpartition(".")[2]
    return name if made.qualified.startswith("sklearn.") and name in SCALERS | OTHERS else ""


def fitted_within(program: Program, value: Value) -> Iterator[tuple[ast.AST, Value, str]]:
    """Fits whose result a value is computed from: where, to what data, and what it is called."""
    by_estimator = {id(fit.estimator): fit for fit in fits(program) if not fit.transforms}
    for part in walk(value):
        if not isinstance(part, Call) or part.receiver is None or part.node is None:
            continue
        made = resolved(part.receiver)
        if not isinstance(made, Call):
            continue
        if part.method == "fit_transform" and estimator_kind(made):
            data = part.argument("X", 0)
            if data is not None:
                yield part.node, data, estimator_kind(made)
        elif part.method == "transform" and estimator_kind(made):
            base = made.receiver if made.method == "fit" else None
            inner = resolved(base) if base is not None else made
            fit = by_estimator.get(id(inner))
            if fit is not None:
                yield fit.event.node, fit.data, fit.kind


def centred_within(value: Value) -> Iterator[tuple[Operation, Value]]:
    """`x - x.mean()` and its kin over all rows, anywhere in what a value is computed from."""
    for part in walk(value):
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
