from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.vocabulary.finding import Finding


@register
class AnomalyDetectionLeftOn(StaticRule):
    """Autograd's anomaly detection is switched on for all of the program.

    It records a stack trace for each operation and looks for NaN in each gradient; a step takes several times as long.

    Switch it on while looking for a NaN, by an option of the program, and leave it off otherwise.
    """

    code = "S715"
    cause = "API-USAGE"
    message = "Anomaly detection stays on and makes each step several times slower; remove it once the NaN is found."
    advisory = True
    triggers = ("detect_anomaly",)

    GOOD = (
        Snippet("by an option", "import torch\n\ntorch.autograd.set_detect_anomaly(args.debug)\n"),
        Snippet("off", "import torch\n\ntorch.autograd.set_detect_anomaly(False)\n"),
        Snippet(
            "when asked for", "import torch\n\nif args.debug:\n    torch.autograd.set_detect_anomaly(True)\n"
        ),
    )
    BAD = (
        Snippet("on", "import torch\n\ntorch.autograd.set_detect_anomaly(True)\n", line=3),
        Snippet(
            "around the step",
            "import torch\n\ndef step(loss):\n    with torch.autograd.detect_anomaly():\n        loss.backward()\n",
            line=4,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(
            "torch.autograd.set_detect_anomaly",
            "torch.autograd.detect_anomaly",
            "torch.autograd.anomaly_mode.set_detect_anomaly",
        ):
            call = event.call
            is_on = call is not None and (
                constant(call.args[0]) is True if call.args else call.qualified.endswith(".detect_anomaly")
            )
            if is_on and not any(isinstance(above, ast.If) for above in program.above(event.node)):
                yield self.finding(program, event.node)
