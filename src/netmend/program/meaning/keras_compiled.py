"""What a Keras model is compiled with: loss, metrics, optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Name, Value, constant, resolved
from netmend.program.meaning.keras_models import Chain, Head, chain, head, model_of
from netmend.program.meaning.test_code import is_test_code

BINARY, CATEGORICAL, SPARSE = "binary", "categorical", "sparse"
ENTROPIES = (BINARY, CATEGORICAL, SPARSE)
REGRESSION = ("mse", "mae", "msle", "huber", "logcosh", "mape")
_LOSSES = {
    "binary_crossentropy": BINARY, "binarycrossentropy": BINARY, "categorical_crossentropy": CATEGORICAL, "categoricalcrossentropy": CATEGORICAL,
    "sparse_categorical_crossentropy": SPARSE, "sparsecategoricalcrossentropy": SPARSE, "mse": "mse", "mean_squared_error": "mse",
    "meansquarederror": "mse", "mae": "mae", "mean_absolute_error": "mae", "meanabsoluteerror": "mae", "huber": "huber", "msle": "msle",
    "mean_squared_logarithmic_error": "msle", "meansquaredlogarithmicerror": "msle", "mape": "mape", "log_cosh": "logcosh", "logcosh": "logcosh",
}  # fmt: skip


@dataclass(frozen=True)
class Compiled:
    """One call of `compile` on a known model."""

    event: CallEvent
    call: Call
    model: Call
    layers: Chain | None
    head: Head | None
    loss: str  # "" when it is another, or none
    from_logits: bool | None  # None when it cannot be told

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of metrics that are given as text."""
        given = self.call.keywords.get("metrics")
        given = resolved(given)
        if isinstance(given, Collection):
            return tuple(str(item.value) for item in given.items if isinstance(item, Const))
        return ()


def compiles(program: Program) -> Iterator[Compiled]:
    """Every `compile` of a `Sequential` or `Model` that the file makes."""
    for event in program.methods_of("compile") if not is_test_code(program) else ():
        call = event.call
        model = model_of(call.receiver)
        if model is None:
            continue
        loss, from_logits = (
            loss_of(call.argument("loss", 1)) if not call.open or "loss" in call.keywords else ("", None)
        )
        layers = chain(program, model)
        yield Compiled(event, call, model, layers, head(layers), loss, from_logits)


def loss_of(value: Value | None) -> tuple[str, bool | None]:
    """The kind of a loss and whether it takes raw scores."""
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, str):
        return _LOSSES.get(value.value.lower(), ""), False
    if isinstance(value, Name) and value.qualified.startswith(("keras.losses.", "keras.metrics.")):
        return _LOSSES.get(value.qualified.rpartition(".")[2].lower(), ""), False
    if isinstance(value, Call) and value.qualified.startswith("keras.losses."):
        found = _LOSSES.get(value.qualified.rpartition(".")[2].lower(), "")
        given = value.argument("from_logits", 0) if found in ENTROPIES else None
        if value.open:
            return found, None
        return found, False if given is None else constant(given)
    return "", None
