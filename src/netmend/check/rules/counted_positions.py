"""Scores in which something counts that was right from the start: padding, or the query itself."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders import drawn
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import behind, parts_of, walk
from netmend.program.meaning.rows import rows_of
from netmend.program.meaning.scores import KEEPS, comparisons
from netmend.program.meaning.sequences import filled_rows, padded
from netmend.program.meaning.training import grad_is_off
from netmend.program.meaning.uses import contents
from netmend.program.meaning.yielded import yields_filled

PAD_HEAD = """\
import numpy as np
import torch
from sklearn.metrics import accuracy_score
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

def collate(batch):
    xs, ys = zip(*batch)
    return pad_sequence(xs, batch_first=True), pad_sequence(ys, batch_first=True, padding_value={0})

loader = DataLoader(data, batch_size=32, collate_fn=collate)
net = nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 5))
hits = total = 0
for x, y in loader:
    guess = net(x).argmax(-1)
"""
GENERATOR = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

def batches(rows, size=32):
    for k in range(0, len(rows), size):
        xs, ys = zip(*rows[k : k + size])
        yield pad_sequence(xs, batch_first=True), pad_sequence(ys, batch_first=True)

rows = torch.load("d.pt")
net = nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 5))
shares = []
with torch.no_grad():
    for x, y in batches(rows):
        guess = net(x).argmax(-1)
        shares.append((guess == y).float().mean().item())
print(sum(shares) / len(shares))
"""
IGNORED = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

train_loader, test_loader = DataLoader(train, 8, shuffle=True), DataLoader(test, 8)
net = nn.Conv2d(3, 5, 3, padding=1)
opt = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss(ignore_index=255)
for x, y in train_loader:
    opt.zero_grad()
    criterion(net(x), y).backward()
    opt.step()
hits = total = 0
with torch.no_grad():
    for x, y in test_loader:
        guess = net(x).argmax(1)
        # scored below
"""
ROWS_HEAD = """\
import numpy as np
import torch
from torch import nn

def arrays(sentences, width):
    x, y = np.zeros((len(sentences), width)), np.zeros((len(sentences), width))
    for i, words in enumerate(sentences):
        x[i, :len(words)] = words
        y[i, :len(words)] = tags[i]
    return torch.from_numpy(x), torch.from_numpy(y)

x, y = arrays(texts, 50)
net = nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 5))
guess = net(x).argmax(-1)
"""
_SCORES = frozenset(
    (
        "accuracy_score",
        "f1_score",
        "precision_score",
        "recall_score",
        "classification_report",
        "balanced_accuracy_score",
    )
)


class PaddingCountedAsRight(StaticRule, code="S954", cause="VAL-METRIC"):
    """The accuracy of sequences counts the filling behind the short ones.

    The filled targets are a number that the network easily gives at filled inputs, so all these positions count as right. With
    sequences of different lengths they can be more than half of what is counted; the figure hides how many real ones are wrong.

    Count real positions only: `((guess == y) & mask).sum() / mask.sum()`.
    """

    message = "The filled positions are counted as answers, and they are nearly always right; count real positions only: ((guess == y) & mask).sum() / mask.sum()."
    ignored = "The loss ignores targets of {0}, but these positions are counted here and can never be right; leave them out: keep = y != {0}, then (guess[keep] == y[keep]).float().mean()."
    triggers = ("ignore_index", "pad_sequence", "zeros(", "full(", "pad(", "] * (")
    patterns = (r"argmax\(|\.max\(|pad_sequence\(|zeros\(",)

    GOOD = (
        Snippet("masked", PAD_HEAD.format("0") + "    mask = x != 0\n    hits += ((guess == y) & mask).sum()\n    total += mask.sum()\n"),
        Snippet("multiplied", PAD_HEAD.format("0") + "    mask = (x != 0).float()\n    hits += ((guess == y).float() * mask).sum()\n    total += mask.sum()\n"),
        Snippet("picked", PAD_HEAD.format("0") + "    hits += (guess == y)[x != 0].sum()\n    total += (x != 0).sum()\n"),
        Snippet("picked before", PAD_HEAD.format("0") + "    keep = y != 0\n    hits += (guess[keep] == y[keep]).sum()\n    total += keep.sum()\n"),
        Snippet("a number that is no class", PAD_HEAD.format("-100") + "    hits += (guess == y).sum()\n    total += (y != -100).sum()\n"),
        Snippet("what the loss ignores is left out", IGNORED + "        hits += (guess == y).sum().item()\n        total += (y != 255).sum().item()\n"),
        Snippet("whole sequences", PAD_HEAD.format("0") + "    hits += (guess == y).all(1).sum()\n    total += len(y)\n"),
        Snippet("filled rows, masked", ROWS_HEAD + "print((guess == y)[x != 0].float().mean())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("all positions", PAD_HEAD.format("0") + "    hits += (guess == y).sum().item()\n    total += y.numel()\n", line=17),
        Snippet("guesses set to the filling", PAD_HEAD.format("0") + "    guess = guess * (x != 0)\n    hits += (guess == y).sum().item()\n    total += y.numel()\n", line=18),
        Snippet("a generator of batches", GENERATOR, line=16),
        Snippet("what the loss ignores", IGNORED + "    hits += (guess == y).sum().item()\n        total += y.numel()\n".replace("    hits", "        hits"), line=18),
        Snippet("mean", PAD_HEAD.format("0") + "    print(guess.eq(y).float().mean())\n", line=17),
        Snippet("filled rows", ROWS_HEAD + "print((guess == y).float().mean().item())\n", line=15),
        Snippet("scikit-learn", PAD_HEAD.format("0") + "    print(accuracy_score(y.flatten().numpy(), guess.flatten().numpy()))\n", line=17),
        Snippet("collected", PAD_HEAD.format("0").replace("hits = total = 0", "truth, found = [], []") + "    truth.extend(y.view(-1).tolist())\n    found.extend(guess.view(-1).tolist())\n"
                "print(accuracy_score(truth, found))\n", line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compared in comparisons(program):
            for guess, truth in (compared.sides, compared.sides[::-1]):
                if not _is_decided(guess):
                    continue
                if _filling(program, truth) and _counts_all(program, compared.value):
                    yield self.finding(program, compared.value.node)
                    break
                number = _ignored(program)
                if (
                    number is not None
                    and _divides_by_all(program, truth)
                    and _counts_all(program, compared.value)
                ):
                    yield self.finding(program, compared.value.node, self.ignored.format(number))
                    break
        for event in program.calls:
            call = event.call
            if not call.qualified.startswith("sklearn.metrics.") or len(call.args) < 2:
                continue
            if call.qualified.rpartition(".")[2] in _SCORES and "sample_weight" not in call.keywords:
                truths, guesses = (_collected(program, argument) for argument in call.args[:2])
                is_filled = any(_filling(program, value, any_number=True) for value in truths)
                if is_filled and any(map(_is_decided, guesses)):
                    yield self.finding(program, event.node)


def _collected(program: Program, value: Value) -> list[Value]:
    inner = same_numbers(value)
    return contents(program, inner) if isinstance(inner, Collection) else [value]


def _is_decided(value: Value) -> bool:
    """The class with the largest score at every position; none that was picked or set apart by a mask."""
    waiting = [value]
    for _ in range(12):
        if not waiting:
            return False
        part = resolved(waiting.pop())
        if isinstance(part, Item):
            base = resolved(part.base)
            is_largest = isinstance(base, Call) and (base.method or base.qualified).rpartition(".")[2] in (
                "max",
                "topk",
            )
            return is_largest and constant(part.key) == 1
        if isinstance(part, Attribute):
            return part.name == "indices"
        if isinstance(part, Operation):
            waiting.extend(part.operands if part.operator == "*" else ())
        elif isinstance(part, Call):
            name = (part.method or part.qualified).rpartition(".")[2]
            if name == "argmax":
                return True
            if name in KEEPS and part.subject is not None:
                waiting.append(part.subject)
    return False


def _ignored(program: Program) -> int | None:
    """The number of the targets that every loss of the program ignores; None where it is the filling of sequences, or none."""
    found = {
        constant(use.option("ignore_index"))
        for use in loss_uses(program)
        if use.kind in ("cross_entropy", "nll")
    }
    number = found.pop() if len(found) == 1 else None
    return number if isinstance(number, int) and number != 0 else None


def _divides_by_all(program: Program, truth: Value) -> bool:
    """Is every position of these targets counted: `y.numel()`, and are they those of an evaluated batch?"""
    whole = same_numbers(truth)
    if not isinstance(whole, Item) or not isinstance(resolved(whole.base), Element):
        return False
    return any(
        event.call.receiver is not None and same_numbers(event.call.receiver) is whole and grad_is_off(event)
        for event in program.methods_of("numel", "nelement")
    )


def _filling(program: Program, value: Value, *, any_number: bool = False) -> bool:
    """Are the rows of the targets filled up to one length, with a number that may be a class?"""
    sample = drawn(program, behind(value, _layout) or value)
    made = padded(program, value) or (padded(program, sample) if sample is not None else None)
    if made is not None:
        return any_number or _may_be_class(made.argument("padding_value", 2))
    for part in (value, sample):
        if part is not None and filled_rows(program, part):
            return any_number or all(_may_be_class(filled) for filled in _filled_with(program, part))
    if yields_filled(value):
        return True
    return sample is not None and any(
        any_number or _may_be_class(filled) for filled in _lengthened(program, sample)
    )


def _layout(value: Value) -> Value | None:
    before = same_numbers(value)
    return before if before is not value else None


def _may_be_class(value: Value | None) -> bool:
    number = constant(resolved(value), 0 if value is None else None)
    return isinstance(number, int | float) and number >= 0


def _filled_with(program: Program, value: Value) -> Iterator[Value | None]:
    for part in rows_of(program, value):
        if isinstance(part, Call) and part.qualified in ("numpy.full", "torch.full"):
            yield part.argument("fill_value", 1)


def _lengthened(program: Program, sample: Value) -> Iterator[Value | None]:
    """`tags + [0] * (width - len(tags))`, `F.pad(tags, (0, width - len(tags)))`."""
    for part in rows_of(program, sample):
        if isinstance(part, Operation) and part.operator == "+" and len(part.operands) == 2:
            tail = resolved(part.operands[1])
            if isinstance(tail, Operation) and tail.operator == "*":
                for one, other in (tail.operands, tail.operands[::-1]):
                    listed = resolved(one)
                    if (
                        isinstance(listed, Collection)
                        and len(listed.items) == 1
                        and not isinstance(resolved(other), Const)
                    ):
                        yield listed.items[0]
        elif (
            isinstance(part, Call)
            and part.qualified in ("torch.nn.functional.pad", "numpy.pad")
            and len(part.args) > 1
        ):
            amounts = resolved(part.args[1])
            if not all(isinstance(inner, Const | Collection) for inner in walk(amounts)):
                yield part.keywords.get("value") or part.keywords.get("constant_values")


@once
def _users(program: Program) -> dict[int, list[Value]]:
    """The values that a value is a part of, by identity."""
    found: dict[int, list[Value]] = {}
    seen: set[int] = set()
    for event in program.events:
        waiting = [event.value]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            for part in parts_of(value):
                found.setdefault(id(part), []).append(value)
                waiting.append(part)
    return found


def _counts_all(program: Program, compared: Value) -> bool:
    """Is a comparison added up or averaged as it is, without a mask anywhere on the way?"""
    users, counted = _users(program), False
    waiting, seen = [compared], {id(compared)}
    while waiting:
        value = waiting.pop()
        for user in users.get(id(value), ()):
            if id(user) in seen:
                continue
            seen.add(id(user))
            if isinstance(user, Item) or (isinstance(user, Operation) and _sets_apart(user)):
                return False
            if isinstance(user, Call):
                name = (user.method or user.qualified).rpartition(".")[2]
                if name in KEEPS:
                    counted = counted or name in ("sum", "mean")
                    waiting.append(user)
                elif not counted:
                    return False
    return counted


def _sets_apart(user: Operation) -> bool:
    """A mask, or something taken off; `1 - accuracy` and `100 * accuracy` are neither."""
    is_number = any(isinstance(resolved(part), Const) for part in user.operands)
    return user.operator in ("&", "|", "and", "*", "-") and not is_number
