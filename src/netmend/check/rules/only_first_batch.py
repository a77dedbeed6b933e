from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import AUGMENT, RETURN, Event, Guard, Loop
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import is_over_loader, leaves
from netmend.program.meaning.training import is_backward
from netmend.vocabulary.finding import Finding

TRAIN = """\
def train(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""
SCORE = """\
import torch

def accuracy(model, loader):
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
"""


@register
class OnlyFirstBatch(StaticRule):
    """A loop over batches always ends in its first round.

    A `break` left from debugging, or a `return` indented one level too deep: only the first batch of the loader is ever used, in
    training or for the score.

    Remove the `break`, or move the `return` behind the loop.
    """

    code = "S126"
    cause = "HYP-EPOCH-FEW"
    message = "This ends the loop after its first batch; remove it, or move it after the loop."
    triggers = ("loader", "batches")
    patterns = (r"for [^\n]*(?:loader|batches)",)

    GOOD = (
        Snippet("all batches", TRAIN + "    return loss.item()\n"),
        Snippet("one batch to look at", "def first(loader):\n    for x, y in loader:\n        print(x.shape)\n        break\n"),
        Snippet("one batch to return", "def first(loader):\n    for batch in loader:\n        return batch\n"),
        Snippet("stops under a condition", TRAIN + "        if loss.item() < 0.1:\n            break\n"),
        Snippet("the score of all batches", SCORE + "    return hits / total\n"),
        Snippet("a function inside returns", TRAIN.replace("        loss = criterion(model(x), y)\n", "        def score():\n            return criterion(model(x), y)\n        loss = score()\n")),
    )  # fmt: skip
    BAD = (
        Snippet("left from debugging", TRAIN + "        break\n", line=7),
        Snippet("returns too early", TRAIN + "        return loss.item()\n", line=7),
        Snippet("score of one batch", SCORE + "            return hits / total\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for loop in program.loops:
            if not is_over_loader(loop):
                continue
            last = next((event for event in _straight(loop) if leaves(event, loop)), None)
            if last is not None and self._works(loop, last):
                yield self.finding(program, last.node)

    def _works(self, loop: Loop, last: Event) -> bool:
        """Does the loop train, or add up a score? Else it may be there to fetch one batch."""
        events = list(loop.body.events())
        if any(map(is_backward, events)):
            return True
        return last.kind == RETURN and any(event.kind == AUGMENT for event in events)


def _straight(loop: Loop) -> Iterator[Event]:
    """The events that happen in each round, `with` statements entered."""
    waiting = list(loop.body.items)
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, Event):
            yield item
        elif isinstance(item, Guard):
            waiting[:0] = [inner for block in item.blocks for inner in block.items]
