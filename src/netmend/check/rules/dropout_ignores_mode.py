from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Body, Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, constant
from netmend.program.meaning.modules import is_module_class, self_name
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Edit, Finding, Fix

NET = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
"""
_NAMES = tuple(
    f"torch.nn.functional.{name}"
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
)

# Speech synthesis keeps its prenet noisy on purpose, and so do estimates of uncertainty.
_ON_PURPOSE = re.compile(r"pre_?net|monte_?carlo|bayes|^mc[A-Z_]|mcdropout", re.IGNORECASE)


@register
class DropoutIgnoresMode(StaticRule):
    """`F.dropout` is called in a module without telling it the mode.

    The function's own default is `training=True`: `model.eval()` does not reach it, and values are still dropped at random when the
    model is evaluated or used. `nn.Dropout` layers do follow the mode.

    Write `F.dropout(x, p, training=self.training)`, or use an `nn.Dropout` layer.
    """

    code = "S321"
    cause = "LYR-DROPOUT-MODE"
    message = "F.dropout drops in evaluation too: its default is training=True. Pass training=self.training."
    triggers = ("dropout(", "dropout1d(", "dropout2d(", "dropout3d(")
    patterns = (
        r"(?:F|functional)\.\w*dropout\w*\((?![^\n]*training)",
        r"[\s(=]dropout\d?d?\((?![^\n]*training)",
    )

    GOOD = (
        Snippet("mode passed", NET + "        return F.dropout(self.fc(x), 0.5, training=self.training)\n"),
        Snippet("mode by position", NET + "        return F.dropout(self.fc(x), 0.5, self.training)\n"),
        Snippet("only in training", NET + "        if self.training:\n            x = F.dropout(x, 0.5)\n        return self.fc(x)\n"),
        Snippet("on purpose", NET + "        return F.dropout(self.fc(x), 0.5, training=True)\n"),
        Snippet("nothing is dropped", NET + "        return F.dropout(self.fc(x), 0.0)\n"),
        Snippet("no module", "import torch.nn.functional as F\n\ndef noisy(x):\n    return F.dropout(x, 0.1)\n"),
        Snippet("noisy on purpose", NET.replace("Net(", "Prenet(") + "        return F.dropout(self.fc(x), 0.5)\n"),
        Snippet("a layer", NET + "        return nn.Dropout(0.5)(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("rate only", NET + "        return F.dropout(self.fc(x), 0.5)\n", line=11,
                fixed=NET + "        return F.dropout(self.fc(x), 0.5, training=self.training)\n"),
        Snippet("in another method", NET + "        return self.fc(self.mix(x))\n\n    def mix(self, h):\n        return torch.nn.functional.dropout(h)\n", line=14,
                fixed=NET + "        return self.fc(self.mix(x))\n\n    def mix(self, h):\n        return torch.nn.functional.dropout(h, training=self.training)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(*_NAMES):
            call = event.call
            if call is None or call.node is None or call.open or call.argument("training", 2) is not None:
                continue
            if constant(call.argument("p", 1)) == 0 or _asks_mode(event):
                continue
            body = next((part for part in event.around() if isinstance(part, Body)), None)
            within = body.function.within if body is not None else None
            if body is None or within is None or _ON_PURPOSE.search(within.name):
                continue
            if is_module_class(within):
                yield self.finding(
                    program, call.node, fix=_fix(program, call, self_name(body.function.definition))
                )


def _asks_mode(event: Event) -> bool:
    """Does it stand behind a question about the mode?"""
    for part in event.around():
        if isinstance(part, Branch):
            if part.test is None:
                continue
            for value in walk(part.test):
                if isinstance(value, Attribute) and value.name == "training":
                    return True
                if "train" in getattr(value, "name", ""):
                    return True
    return False


def _fix(program: Program, call: Call, owner: str) -> Fix | None:
    node = call.node
    if (
        node is None
        or not (node.args or node.keywords)
        or not owner
        or program.module_of(node) is not program.module
    ):
        return None
    place = program.place([*node.args, *node.keywords][-1])
    insert = Edit(
        place.end_line, place.end_column, place.end_line, place.end_column, f", training={owner}.training"
    )
    return Fix("Pass the mode", (insert,), "unsafe")
