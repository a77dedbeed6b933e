from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, resolved
from netmend.vocabulary.finding import Finding


@register
class DeviceHardCoded(StaticRule):
    """The GPU is named outright, without a look whether there is one.

    The program stops on any machine without CUDA, and cannot be tested there.

    Choose once: `device = "cuda" if torch.cuda.is_available() else "cpu"`, and use `.to(device)` everywhere.
    """

    code = "S724"
    cause = "GPU-XFER-MISSING"
    message = 'The GPU is hard-coded; choose the device once with "cuda" if torch.cuda.is_available() else "cpu", then use .to(device).'
    advisory = True
    triggers = ('"cuda', "'cuda", ".cuda()")

    GOOD = (
        Snippet(
            "chosen",
            "import torch\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\nnet.to(device)\n",
        ),
        Snippet("left if there is none", "import torch\n\nassert torch.cuda.is_available()\nnet.cuda()\n"),
        Snippet("given from outside", "import torch\n\ndef train(net, device='cuda'):\n    net.to(device)\n"),
    )
    BAD = (
        Snippet("cuda()", "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\nx = x.cuda()\n", line=3),
        Snippet("a name", "import torch\n\ndevice = torch.device('cuda:0')\nnet.to(device)\n", line=3),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        if "is_available" in program.text or "device_count" in program.text:
            return
        named = [*program.methods_of("cuda", "to"), *program.calls_of("torch.device")]
        for event in sorted(named, key=lambda event: event.order):
            if _is_named(event):
                yield self.finding(program, event.node)
                return


def _is_named(event: Event) -> bool:
    call = event.call
    if call is None:
        return False
    if call.method == "cuda":
        return not call.args
    first = resolved(call.args[0]) if call.args else None
    return isinstance(first, Const) and isinstance(first.value, str) and first.value.startswith("cuda")
