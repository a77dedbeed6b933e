from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.modules import BATCH_NORMS, RANDOM, forward_around, learns
from netmend.program.meaning.operations import parts_of
from netmend.program.meaning.test_code import is_test_code
from netmend.program.meaning.training import grad_is_off
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n"
INIT = "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 8)\n\n"
_NEW_EACH_TIME = RANDOM | BATCH_NORMS


@register
class LayerMadeInForward(StaticRule):
    """A layer with weights is made inside `forward`.

    Every call makes a new layer with new random weights. They are not registered with the module, no optimiser holds them, and what
    they learn is thrown away with them: the output is noise that cannot be trained.

    Make the layer in `__init__` (`self.fc2 = nn.Linear(…)`) and call it in `forward`.
    """

    code = "S303"
    cause = "ARC-INIT-MULTI"
    message = "This layer gets new random weights on every call of forward; create it in __init__."
    triggers = ("def forward",)
    patterns = (
        r"^[ \t]+(?:return |\w+ = )(?:self\.)?\w*\(?nn\.(?:Linear|Conv[123]d|LSTM|GRU|RNN|Embedding|BatchNorm[123]d)\(",
        LITERAL_LAYERS,
    )

    GOOD = (
        Snippet("made in __init__", HEAD + INIT + "    def forward(self, x):\n        return self.fc(x)\n"),
        Snippet("made at the first call", HEAD + "    def __init__(self):\n        super().__init__()\n        self.fc = None\n\n    def forward(self, x):\n"
                "        if self.fc is None:\n            self.fc = nn.Linear(x.size(1), 8)\n        return self.fc(x)\n"),
        Snippet("nothing to learn", HEAD + INIT + "    def forward(self, x):\n        return nn.Dropout(0.5)(nn.ReLU()(self.fc(x)))\n"),
        Snippet("weights are given", HEAD + INIT + "    def forward(self, x):\n        blur = nn.Conv2d(1, 1, 3, bias=False)\n"
                "        blur.weight.data.fill_(1 / 9)\n        return self.fc(blur(x))\n"),
        Snippet("no module", "from torch import nn\n\nclass Probe:\n    def forward(self, x):\n        return nn.Linear(4, 2)(x)\n"),
        Snippet("a normalisation without weights", HEAD + INIT + "    def forward(self, x):\n        return nn.LayerNorm(8)(self.fc(x))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("made and called", HEAD + INIT + "    def forward(self, x):\n        x = F.relu(self.fc(x))\n        return nn.Linear(8, 2)(x)\n", line=12),
        Snippet("width from the data", HEAD + INIT + "    def forward(self, x):\n        head = nn.Linear(x.shape[1], 2).to(x.device)\n        return head(x)\n", line=11),
        Snippet("a block of the project, in a helper", HEAD + INIT + "    def forward(self, x):\n        return self.mix(x)\n\n    def mix(self, x):\n"
                "        block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())\n        return self.fc(block(x))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
        made = [(event, made) for event in program.calls if (made := _made(event)) is not None]
        if not made:
            return
        inner = {id(part) for _, value in made for part in _given(value)}
        for event, value in made:
            body = forward_around(event)
            if body is None or id(value) in inner or grad_is_off(event):
                continue
            if _is_only_called(list(body.events()), value):
                yield self.finding(program, event.node)


def _made(event: Event) -> Value | None:
    call = event.call
    if call is None or not call.qualified.startswith("torch.nn.") or call.result is not None:
        return None
    return call if learns(call, _NEW_EACH_TIME) and forward_around(event) is not None else None


def _given(value: Value) -> Iterator[Value]:
    """Layers that another one was made of: the outer one is told."""
    if isinstance(value, Call):
        for part in parts_of(value):
            yield resolved(part)
            yield from (resolved(inner) for inner in parts_of(resolved(part)))


def _is_only_called(events: list[Event], layer: Value) -> bool:
    """Is the layer called, and neither kept in an object nor changed or asked for its weights?"""
    is_called = False
    for event in events:
        call = event.call
        if call is not None and resolved(call.function) is layer:
            is_called = True
        elif call is not None:
            receiver = resolved(call.receiver) if call.receiver is not None else None
            if receiver is layer and call.result is not layer:
                return False
            if any(resolved(part) is layer for part in (*call.args, *call.keywords.values())):
                return False
            if call.receiver is not None and _reads(call.receiver, layer):
                return False
        elif event.kind == STORE and event.target is not None:
            base = event.target.base
            if base is not None and (resolved(event.value) is layer or _reads(base, layer)):
                return False
    return is_called


def _reads(value: Value, layer: Value) -> bool:
    """`layer.weight`, `layer.weight.data`."""
    for _ in range(5):
        base = getattr(value, "base", None)
        if not isinstance(base, Value):
            return False
        value = resolved(base)
        if value is layer:
            return True
    return False
