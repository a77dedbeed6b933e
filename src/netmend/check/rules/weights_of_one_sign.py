from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Value, constant, resolved
from netmend.program.meaning.constant_weights import Setting, is_for_all_layers, layers_set
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\ndef init(m):\n    if isinstance(m, nn.Linear):\n"
NET = "net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))\nnet.apply(init)\n"


@register
class WeightsOfOneSign(StaticRule):
    """The weights of layers are drawn from a range of one sign: all negative, or from 0 to 1.

    Negative weights in front of ReLU switch every unit off for positive inputs. Weights from 0 to 1 add up: each layer multiplies
    the values by half its width, and all units do nearly the same.

    Draw around zero: `nn.init.uniform_(w, -a, a)`, or leave torch's own start, `nn.init.kaiming_uniform_(w)`.
    """

    code = "S343"
    cause = "ARC-INIT-WEIGHT"
    message = (
        "All weights start {0}; initialise them around zero, e.g. with nn.init.kaiming_uniform_(weight)."
    )
    triggers = ("uniform_(",)
    patterns = (r"(?<!kaiming_)(?<!xavier_)(?<!he_)(?<!_)\buniform_\(",)

    GOOD = (
        Snippet("around zero", HEAD + "        nn.init.uniform_(m.weight, -0.1, 0.1)\n\n" + NET),
        Snippet("only the bias", HEAD + "        nn.init.uniform_(m.bias, -0.5, 0.0)\n\n" + NET),
        Snippet(
            "a single scale",
            "import torch\nfrom torch import nn\n\nclass Gate(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.alpha = nn.Parameter(torch.empty(8))\n        nn.init.uniform_(self.alpha)\n",
        ),
        Snippet("kept small and positive", HEAD + "        nn.init.uniform_(m.weight, 0.0, 0.01)\n\n" + NET),
        Snippet(
            "another draw afterwards", HEAD + "        nn.init.uniform_(m.weight, a=low, b=high)\n\n" + NET
        ),
    )
    BAD = (
        Snippet("negative", HEAD + "        nn.init.uniform_(m.weight, -0.5, 0.0)\n        nn.init.zeros_(m.bias)\n\n" + NET, line=6),
        Snippet("the default range", HEAD + "        torch.nn.init.uniform_(m.weight)\n\n" + NET, line=6),
        Snippet("method, over modules", "from torch import nn\nnet = nn.Sequential(nn.Linear(9, 9), nn.ReLU(), nn.Linear(9, 2))\nfor m in net.modules():\n"
                "    if isinstance(m, nn.Linear):\n        m.weight.data.uniform_(-1, 0)\n", line=5),
        Snippet("one named layer", "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.a = nn.Linear(9, 9)\n        nn.init.uniform_(self.a.weight, a=-0.2, b=-0.1)\n\n    def forward(self, x):\n        return self.a(x).relu()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in [
            *program.calls_of("torch.nn.init.uniform_", "torch.nn.init.uniform"),
            *program.methods_of("uniform_"),
        ]:
            words = _range(event)
            target = _weight(event)
            if not words or target is None:
                continue
            setting = Setting(event, resolved(target.base), False)
            if is_for_all_layers(program, setting) or layers_set(setting):
                yield self.finding(program, event.node, self.message.format(words))


def _weight(event: Event) -> Attribute | None:
    call = event.call
    target: Value | None = None
    if call is not None:
        target = call.receiver if call.method else (call.args[0] if call.args else None)
    target = resolved(target) if target is not None else None
    if isinstance(target, Attribute) and target.name == "data":
        target = resolved(target.base)
    return target if isinstance(target, Attribute) and target.name == "weight" else None


def _range(event: Event) -> str:
    """The words for a range of one sign, else ""."""
    call = event.call
    if call is None or call.open:
        return ""
    shift = 0 if call.method else 1
    low = _bound(call, ("a", "from"), shift, 0.0)
    high = _bound(call, ("b", "to"), shift + 1, 1.0)
    if low is None or high is None or low >= high:
        return ""
    if high <= 0:
        return f"negative, from {low:g} to {high:g}"
    return "positive, from 0 to 1" if low == 0 and high == 1 else ""


def _bound(call: Call, names: tuple[str, ...], place: int, default: float) -> float | None:
    given = next((call.keywords[name] for name in names if name in call.keywords), None)
    if given is None:
        given = call.args[place] if place < len(call.args) else None
    if given is None:
        return default
    value = constant(resolved(given))
    return float(value) if isinstance(value, int | float) else None
