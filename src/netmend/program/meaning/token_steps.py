"""Slices of token sequences (`tgt[:, 1:]`), and the way of each step from a prediction back to the token it is computed from."""

from __future__ import annotations

import ast

from netmend.library.operations import COPIES, INTEGERS, MOVES
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Either,
    Element,
    Item,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.modules import DROPOUTS, NORMS, RECURRENT
from netmend.program.meaning.operations import HIDDEN_ACTIVATIONS, LAYOUT, Op, operation, origins, walk

_STORED = frozenset((*MOVES, *COPIES, *INTEGERS, "type", "detach"))
TOKENS = LAYOUT | _STORED
_QUERIES = ("transformerdecoder", "transformerdecoderlayer", "multiheadattention")
# What leaves each step of a sequence where it is.
_STEPWISE = (
    (LAYOUT - {"flatten"}) | HIDDEN_ACTIVATIONS | DROPOUTS | NORMS | RECURRENT | {*_QUERIES}
    | {"softmax", "log_softmax", "linear", "masked_fill", "transformerencoder", "transformerencoderlayer"}
)  # fmt: skip


def cut_of(key: Value) -> tuple[ast.AST | None, int, int] | None:
    """`[:, 1:]` and `[:, :-1]`: where the slice is written, which of the two (1, -1), and of which axis."""
    key = resolved(key)
    items = key.items if isinstance(key, Collection) else [key]
    found: list[tuple[ast.AST | None, int, int]] = []
    for axis, item in enumerate(items):
        if not isinstance(item, Operation) or item.operator != "slice":
            return None
        bounds = tuple(constant(part, "?") for part in item.operands)
        if bounds in ((1, None, None), (None, -1, None)):
            found.append((item.node, bounds[0] or -1, axis))
        elif bounds != (None, None, None):
            return None
    return found[0] if len(found) == 1 else None


def alike(one: Value, other: Value, depth: int = 8) -> bool:
    """Do two values mean the same tensor, as far as the text tells?"""
    ones, others = origins(one, _STORED), origins(other, _STORED)
    if len(ones) != 1 or len(others) != 1 or depth == 0:
        return False
    one, other = ones[0], others[0]
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one.name == other.name and alike(one.base, other.base, depth - 1)
    if isinstance(one, Item) and isinstance(other, Item) and constant(one.key) is not None:
        return constant(one.key) == constant(other.key) and alike(one.base, other.base, depth - 1)
    return one is other


def _same(one: Value, goal: Item) -> bool:
    if one is goal:
        return True
    cut, wanted = (cut_of(one.key) if isinstance(one, Item) else None), cut_of(goal.key)
    if cut is None or wanted is None or not isinstance(one, Item):
        return False
    return cut[1:] == wanted[1:] and alike(one.base, goal.base)


def _looked_up(op: Op | None) -> tuple[Value, ...]:
    """The tokens whose vectors are taken."""
    return origins(op.input, TOKENS) if op is not None and op.name in ("embedding", "one_hot") else ()


def sees_more(prediction: Value, goal: Item) -> bool:
    """Does the network also get the whole tensor, or another part of it?"""
    return any(
        not _same(tokens, goal)
        and (alike(tokens, goal.base) or (isinstance(tokens, Item) and alike(tokens.base, goal.base)))
        for value in walk(prediction)
        for tokens in _looked_up(operation(value))
    )


class Steps:
    """The way from a prediction back to the vectors of its tokens, step for step, on every path."""

    def __init__(self, goal: Item) -> None:
        self.goal = goal
        self.known: dict[int, Item | None] = {}

    def source(self, value: Value) -> Item | None:
        """The slice that equals the target and whose step i is seen by step i of the value; None without a proof."""
        value = resolved(value)
        if id(value) not in self.known:
            self.known[id(value)] = None  # while it is worked out, and when there is too much of it
            if len(self.known) < 150:
                self.known[id(value)] = self._source(value)
        return self.known[id(value)]

    def _source(self, value: Value) -> Item | None:
        if isinstance(value, Either):
            paths = [option for option in value.options if not is_round_before(option)]
            found = [self.source(option) for option in paths]
            return found[0] if found and all(found) else None
        if isinstance(value, Operation):
            return self._first(value.operands) if value.operator in ("+", "*", "/", "@") else None
        if isinstance(value, Item):
            op = operation(resolved(value.base))
            is_output = op is not None and op.name in (*RECURRENT, "multiheadattention")
            return self._before(op) if op is not None and is_output and constant(value.key) == 0 else None
        if isinstance(value, Call) and _is_listed(value.function):
            return self.source(value.args[0]) if value.args else None
        op = operation(value)
        return self._before(op) if op is not None else None

    def _before(self, op: Op) -> Item | None:
        tokens = _looked_up(op)
        if tokens:
            is_given = all(isinstance(token, Item) and _same(token, self.goal) for token in tokens)
            return tokens[0] if is_given and isinstance(tokens[0], Item) else None
        if op.name == "transformer":
            tgt = op.value.argument("tgt", 1)
            return self.source(tgt) if tgt is not None else None
        if op.name == "cat" and op.input is not None:
            joined = resolved(op.input)
            is_wide = constant(op.option("dim", 0)) in (-1, 2) and isinstance(joined, Collection)
            return self._first(tuple(joined.items)) if is_wide and isinstance(joined, Collection) else None
        given = op.input or op.value.keywords.get("tgt") or op.value.keywords.get("query")
        return self.source(given) if op.name in _STEPWISE and given is not None else None

    def _first(self, values: tuple[Value, ...]) -> Item | None:
        return next((found for found in map(self.source, values) if found is not None), None)


def is_round_before(value: Value) -> bool:
    return isinstance(value, Unknown) and isinstance(value.node, ast.For | ast.While)


def _is_listed(value: Value) -> bool:
    """One of a list of layers: each is given what the one before it made."""
    inner = resolved(value)
    made = resolved(inner.iterable) if isinstance(inner, Element) else None
    return isinstance(made, Call) and made.qualified == "torch.nn.ModuleList"
