"""Losses: which one is used where, on what prediction and target, and the end of the network as the loss sees it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.losses import LOSSES, PAIRS
from netmend.library.operations import COPIES, DEVICES, FLOATS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Const, Either, Item, Value, options, resolved
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, Op, all_origins
from netmend.program.text.edit_source import Edits
from netmend.program.text.edits import delete_argument, delete_list_element, replace, unwrap_call

_CLASSES = {loss.layer: loss.short for loss in LOSSES} | {"NLLLoss2d": "nll"}
_FUNCTIONS = {loss.name: loss.short for loss in LOSSES if loss.wants != PAIRS}
ELEMENTWISE = frozenset(loss.short for loss in LOSSES if loss.distance)
TRIGGERS = (
    "Loss(", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "huber_loss", "kl_div",
)  # fmt: skip


@dataclass(frozen=True)
class LossUse:
    """One computation of a loss. `made` is the `nn.CrossEntropyLoss(...)` behind it, if it was an object."""

    kind: str
    event: CallEvent
    call: Call
    prediction: Value | None
    target: Value | None
    made: Call | None = None

    @property
    def node(self) -> ast.AST:
        return self.event.node

    def option(self, name: str) -> Value | None:
        """`reduction`, `weight`, `label_smoothing`, …: given where the loss was made or called."""
        holder = self.made if self.made is not None else self.call
        return holder.keywords.get(name)


def losses(program: Program) -> Iterator[LossUse]:
    """Every loss that is computed, in order."""
    for event in program.calls:
        use = loss_use(event)
        if use is not None:
            yield use


def loss_use(event: CallEvent) -> LossUse | None:
    call = event.call
    made = resolved(call.function)
    if isinstance(made, Call):
        kind = loss_kind(made)
        if not kind or len(call.args) + len(call.keywords) < 2:
            return None
        return LossUse(kind, event, call, call.argument("input", 0), call.argument("target", 1), made)
    name = call.qualified
    for prefix in ("torch.nn.functional.", "torch."):
        if name.startswith(prefix) and name[len(prefix) :] in _FUNCTIONS:
            kind = _FUNCTIONS[name[len(prefix) :]]
            return LossUse(kind, event, call, call.argument("input", 0), call.argument("target", 1))
    return None


def loss_kind(value: Value) -> str:
    """`cross_entropy` for the value of `nn.CrossEntropyLoss()`; "" for anything else."""
    value = resolved(value)
    if isinstance(value, Call) and value.qualified.startswith("torch.nn."):
        return _CLASSES.get(value.qualified[len("torch.nn.") :], "")
    return ""


# Keeps the values in place: with these between a layer and the loss its last axis is still the last.
PLAIN = frozenset((*DEVICES, *COPIES, *FLOATS, "bfloat16", "type", "type_as", "identity"))
_WIDTH = {"linear": ("out_features", 1), "bilinear": ("out_features", 2)}


@once
def loss_uses(program: Program) -> tuple[LossUse, ...]:
    """Every loss that is computed, in order; a criterion chosen by the path counts where every choice is of one kind."""
    return tuple(use for event in program.calls if (use := _use(event)) is not None)


def _use(event: CallEvent) -> LossUse | None:
    call = event.call
    function = resolved(call.function)
    if isinstance(function, Item):
        function = _chosen(function)
    if not isinstance(function, Either):
        return loss_use(event)
    kinds = {loss_kind(option) for option in function.options}
    if len(kinds) != 1 or "" in kinds or len(call.args) + len(call.keywords) < 2:
        return None
    made = resolved(function.options[0])
    one = made if isinstance(made, Call) else None
    return LossUse(kinds.pop(), event, call, call.argument("input", 0), call.argument("target", 1), one)


def _chosen(item: Item) -> Value:
    """`losses[name]` with an unknown name: any of the dict's losses."""
    base = resolved(item.base)
    if isinstance(base, Collection) and base.kind == "dict" and base.items and not base.open:
        return Either(tuple(base.items))
    return item


def made_by(use: LossUse) -> tuple[Call, ...]:
    """Every `nn.CrossEntropyLoss(...)` that may be behind a use."""
    made = (resolved(option) for option in options(resolved(use.call.function)))
    return tuple(call for call in made if isinstance(call, Call))


def ends_in(
    value: Value | None, names: frozenset[str] | tuple[str, ...], through: frozenset[str] = LAYOUT
) -> tuple[Op, ...]:
    """The operations a value ends in, if on every path it is one of these names; else nothing."""
    return all_origins(value, lambda op: op.name in names, through, picks=True)


def heads(
    program: Program,
    kinds: tuple[str, ...],
    names: frozenset[str] | tuple[str, ...],
    through: frozenset[str] = LAYOUT,
) -> Iterator[tuple[LossUse, Op]]:
    """Losses of these kinds whose prediction ends in one of these operations on every path, with each such operation."""
    for use in loss_uses(program):
        if use.kind in kinds:
            for op in ends_in(use.prediction, names, through):
                yield use, op


def width(op: Op | None) -> int | None:
    """The number of outputs of a linear or convolution layer, if the text tells it."""
    if op is None or op.layer is None or op.layer.open or op.name not in LINEAR_MAPS:
        return None
    name, position = _WIDTH.get(op.name, ("out_channels", 1))
    if op.layer.qualified.startswith("torch.nn.Lazy"):
        position = 0
    given = op.layer.argument(name, position)
    is_number = (
        isinstance(given, Const) and isinstance(given.value, int) and not isinstance(given.value, bool)
    )
    return given.value if is_number and isinstance(given, Const) else None


def without(program: Program, op: Op) -> Edits:
    """Take an operation out: its input stands in its place, a layer of a `Sequential` is left away."""
    node = op.value.node
    if not isinstance(node, ast.Call):
        return ()
    if op.layer is not None and op.layer.node is node:
        return _without_layer(program, node)
    if op.layer is None and op.value.method and isinstance(node.func, ast.Attribute):
        return replace(program, node, program.source(node.func.value))
    if node.args and not isinstance(node.args[0], ast.Starred):
        return unwrap_call(program, node, node.args[0])
    return ()


def _without_layer(program: Program, node: ast.Call) -> Edits:
    above = program.parent(node)
    if isinstance(above, ast.Call) and len(above.args) > 1 and node in above.args:
        name = getattr(above.func, "attr", getattr(above.func, "id", ""))
        return delete_argument(program, above, node) if name == "Sequential" else ()
    if isinstance(above, ast.List) and len(above.elts) > 1:
        return delete_list_element(program, above, node)
    return ()
