"""Sequences: filled up to one length, cut into steps, and compared with the next token by a loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import COPIES, INTEGERS, MOVES
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Item,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.loaders import loader_made
from netmend.program.meaning.losses import LossUse, loss_uses
from netmend.program.meaning.modules import DROPOUTS, NORMS, RECURRENT
from netmend.program.meaning.operations import (
    HIDDEN_ACTIVATIONS,
    LAYOUT,
    Op,
    behind,
    operation,
    origins,
    walk,
)

PADDED, UNPACKED = "torch.nn.utils.rnn.pad_sequence", "torch.nn.utils.rnn.pad_packed_sequence"
_ZEROS = frozenset(("numpy.zeros", "torch.zeros", "numpy.full", "torch.full"))


def padded(program: Program, value: Value | None) -> Call | None:
    """The `pad_sequence(…)` whose rows reach a place, through conversions, slices and a loader's `collate_fn`."""

    def cut_from(part: Value) -> Value | None:
        kept = same_numbers(part)
        if kept is not part or not isinstance(part, Item):
            return kept if kept is not part else None
        return _collated(program, part) or (part.base if _is_range(part.key) else None)

    value = behind(value, cut_from)
    return value if isinstance(value, Call) and value.qualified == PADDED else None


def _collated(program: Program, item: Item) -> Value | None:
    """What a `collate_fn` of the project gives for this part of a batch."""
    element, place = resolved(item.base), constant(item.key)
    loader = loader_made(element.iterable) if isinstance(element, Element) else None
    given = loader.keywords.get("collate_fn") if loader is not None else None
    function = resolved(given)
    if not isinstance(function, Function) or not isinstance(place, int):
        return None
    for entry in program.entries:
        if entry.function is not None and entry.function.definition is function.definition:
            result = resolved(entry.result)
            if isinstance(result, Collection) and result.kind == "tuple" and not result.open:
                return result.items[place] if 0 <= place < len(result.items) else None
    return None


def _is_range(key: Value) -> bool:
    """A slice, or several of them: `[:, 1:]`."""
    key = resolved(key)
    parts = key.items if isinstance(key, Collection) else [key]
    return all(isinstance(part, Operation) and part.operator == "slice" for part in map(resolved, parts))


def filled_rows(program: Program, value: Value | None) -> bool:
    """Are the rows of an array of zeros filled only up to a length of their own: `ids[i, :n] = words`?"""
    value = behind(value, _rows_of)
    if not isinstance(value, Call) or value.qualified not in _ZEROS:
        return False
    return any(
        resolved(event.target.base) is value and _is_beginning(event.target.key) for event in program.stores
    )


def _rows_of(value: Value) -> Value | None:
    if isinstance(value, Item):
        return None if isinstance(resolved(value.base), Element) else value.base
    kept = same_numbers(value)
    return kept if kept is not value else None


def _is_beginning(key: Value | None) -> bool:
    """`[i, :n]` where n is no constant; `[i, j]` where j runs through a sequence."""
    key = resolved(key)
    if not isinstance(key, Collection) or len(key.items) != 2:
        return False
    part = resolved(key.items[1])
    if isinstance(part, Element):
        source = resolved(part.iterable)
        is_counter = isinstance(source, Call) and source.qualified in ("range", "enumerate")
        return is_counter and isinstance(source, Call) and not isinstance(resolved(source.args[-1]), Const)
    if not isinstance(part, Operation) or part.operator != "slice":
        return False
    lower, upper = (resolved(bound) for bound in part.operands[:2])
    return constant(lower) in (None, 0) and isinstance(lower, Const) and not isinstance(upper, Const)


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


_WRAPS = frozenset(
    ("torch.stack", "torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.LongTensor", "torch.asarray", "numpy.stack", "numpy.array")
)  # fmt: skip
_THROUGH = TOKENS | {"pin_memory"}


@dataclass(frozen=True)
class TokenLoss:
    """A loss over all steps of a sequence. `shift`: 1 when the network gets each step before the one it must say, 0 when that very step."""

    use: LossUse
    given: Value  # the tokens whose vectors the network looks up
    goal: Value
    shift: int


@once
def token_losses(program: Program) -> tuple[TokenLoss, ...]:
    return tuple(found for use in loss_uses(program) for found in _of(program, use))


def _of(program: Program, use: LossUse) -> Iterator[TokenLoss]:
    if use.kind not in ("cross_entropy", "nll") or use.prediction is None or use.target is None:
        return
    goals = _stored(use.target)
    if len(goals) != 1:
        return
    goal = _unwrapped(program, goals[0])
    for value in walk(use.prediction):
        op = operation(value)
        if op is None or op.name not in ("embedding", "one_hot"):
            continue
        for token in _stored(op.input):
            shift = _shift(_unwrapped(program, token), goal)
            if shift is None and _starts_at(goal, 1) and _is_cut_short(use.prediction):
                shift = 1 if isinstance(goal, Item) and alike(token, goal.base) else None
            if shift == 0 and _is_changed(program, token):
                continue  # some tokens are hidden, and the network says what they were
            if shift is not None:
                yield TokenLoss(use, token, goal, shift)
                return


def _stored(value: Value | None) -> tuple[Value, ...]:
    """Where tokens come from, through moves to devices; each source once, whatever the path."""
    found = (part for part in origins(value, _THROUGH) if not is_round_before(part))
    return tuple({id(part): part for part in found}.values())


def _is_changed(program: Program, tokens: Value) -> bool:
    """`tokens[hidden] = MASK`, `tokens.masked_fill_(…)`."""
    for event in program.events:
        base = event.target.base if event.target is not None and event.target.key is not None else None
        if event.call is not None and event.call.method.endswith("_"):
            base = event.call.receiver
        if base is not None and resolved(base) is tokens:
            return True
    return False


def _unwrapped(program: Program, value: Value) -> Value:
    """The piece of data that a tensor is made of: `data[i : i + n]` of `torch.stack([data[i : i + n] for i in starts])`."""
    for _ in range(10):
        found = _stored(value)
        value = found[0] if len(found) == 1 else value
        part = part_of_batch(program, value)
        if part is not None and part.value is not None and not part.rows:
            value = part.value
            continue
        if isinstance(value, Call) and value.method == "astype" and value.receiver is not None:
            value = resolved(value.receiver)
            continue
        if not isinstance(value, Call) or value.qualified not in _WRAPS or not value.args:
            return value
        inner = resolved(value.args[0])
        value = inner.items[0] if isinstance(inner, Collection) and len(inner.items) == 1 else inner
    return value


def _shift(given: Value, goal: Value) -> int | None:
    """How many steps later the goal begins, for two pieces of one sequence that are written apart."""
    if not isinstance(given, Item) or not isinstance(goal, Item) or given.node is goal.node:
        return None
    one, other = _slice(given), _slice(goal)
    if one is None or other is None or not alike(given.base, goal.base):
        return None
    begins, ends = (_difference(other[place], one[place]) for place in (0, 1))
    if begins not in (0, 1):
        return None
    if ends is None:  # `tokens[:-1]` and `tokens[1:]`
        return 1 if begins == 1 and _number(one[1]) == -1 and other[1] is None else None
    return begins if ends == begins else None


def _slice(item: Item) -> tuple[ast.expr | None, ast.expr | None] | None:
    """Where a piece begins and ends, along the one axis that is cut."""
    key = resolved(item.key)
    cuts = []
    for part in key.items if isinstance(key, Collection) else [key]:
        part = resolved(part)
        if isinstance(part, Const) and part.value is Ellipsis:
            continue
        if not isinstance(part, Operation) or part.operator != "slice":
            return None
        if not isinstance(part.node, ast.Slice):
            return None
        if part.node.step is not None:
            return None
        if part.node.lower is not None or part.node.upper is not None:
            cuts.append((part.node.lower, part.node.upper))
    return cuts[0] if len(cuts) == 1 else None


def _starts_at(value: Value, number: int) -> bool:
    cut = _slice(value) if isinstance(value, Item) else None
    return cut is not None and _number(cut[0]) == number and cut[1] is None


def _is_cut_short(prediction: Value) -> bool:
    """`logits[:, :-1]`: the last step has nothing to be compared with."""
    found = origins(prediction)
    cut = _slice(found[0]) if len(found) == 1 and isinstance(found[0], Item) else None
    return cut is not None and cut[0] is None and _number(cut[1]) == -1


def _number(node: ast.expr | None) -> int | None:
    try:
        value = ast.literal_eval(node) if node is not None else 0
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, int) else None


def _difference(one: ast.expr | None, other: ast.expr | None) -> int | None:
    """One bound minus another, where it is a number: 1 for `i + n + 1` and `i + n`."""
    if one is None or other is None:
        return (
            0
            if one is other
            else (None if _number(one) is None or _number(other) is None else _both(one, other))
        )
    left, right = _sum(one), _sum(other)
    names = {name for name in {*left, *right} if left.get(name, 0) != right.get(name, 0)}
    return left.get("", 0) - right.get("", 0) if names <= {""} else None


def _both(one: ast.expr | None, other: ast.expr | None) -> int | None:
    """Numbers of which one is left out: a beginning that is not written is 0, an end that is not written is unknown."""
    written = one if one is not None else other
    number = _number(written)
    return None if number is None or number < 0 else (number if one is not None else -number)


def _sum(node: ast.expr, sign: int = 1) -> dict[str, int]:
    """A bound as a sum of names; the constant stands under ""."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        found = _sum(node.left, sign)
        for name, count in _sum(node.right, sign if isinstance(node.op, ast.Add) else -sign).items():
            found[name] = found.get(name, 0) + count
        return found
    number = _number(node)
    return {"": sign * number} if number is not None else {ast.unparse(node): sign}
