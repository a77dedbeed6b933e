"""A column against a row: shapes that are broadcast to a table of all pairs."""

from __future__ import annotations

from netmend.program.engine.values import Collection, Const, Item, Value, resolved
from netmend.program.meaning.loss_shape_changes import Shape
from netmend.program.meaning.operations import operation


def column_and_row(prediction: Shape | None, target: Shape | None) -> tuple[str, str] | None:
    """The two shapes in words, if they spread out over each other."""
    if prediction is None or target is None or 1 in (prediction[:1] + target[:1]):
        return None
    if len(prediction) == 2 and prediction[1] == 1 and len(target) == 1:
        return "(N, 1)", "(N,)"
    if len(target) == 2 and target[1] == 1 and len(prediction) == 1:
        return "(N,)", "(N, 1)"
    return None


def is_spread(value: Value) -> bool:
    """An axis was added right here: pairs are meant."""
    value = resolved(value)
    if isinstance(value, Item):
        keys = value.key.items if isinstance(value.key, Collection) else [value.key]
        return any(isinstance(key, Const) and key.value is None for key in keys)
    op = operation(value)
    return op is not None and op.name == "unsqueeze"
