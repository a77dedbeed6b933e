"""Losses of networks that are to say the next token: which tokens go in, and how far on the ones lie that they are compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Operation, Value, resolved
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.losses import LossUse
from netmend.program.meaning.operations import operation, origins, walk
from netmend.program.meaning.remember import once
from netmend.program.meaning.token_steps import TOKENS, alike, is_round_before

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
        if (
            not isinstance(part, Operation)
            or part.operator != "slice"
            or not isinstance(part.node, ast.Slice)
        ):
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
