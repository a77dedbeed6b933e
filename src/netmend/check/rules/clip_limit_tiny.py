from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Branch, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Value
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same
from netmend.program.meaning.settings import number
from netmend.program.meaning.training import is_clip
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
OPTION = (
    'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--clip", type=float, default={0})\n'
    "args = parser.parse_args()\n"
)
LOOP = "for x, y in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n    {0}\n    opt.step()\n"


@register
class ClipLimitTiny(StaticRule):
    """Gradients are clipped to a limit that leaves almost nothing of them.

    `clip_grad_norm_` scales all gradients down together. With a limit of 1e-4 or less plain SGD hardly moves any more; a limit of
    zero stops training and a negative one turns the direction around.

    Usual limits lie between 0.1 and 10. Leave the call out if no clipping is wanted.
    """

    code = "S412"
    cause = "OPT-CLIP"
    message = "This limit leaves almost nothing of the gradients."
    triggers = ("clip_grad_",)

    limit = 1e-4  # a thousandth of the smallest limit in published recipes

    GOOD = (
        Snippet("a usual limit", HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), 1.0)")),
        Snippet(
            "only measured",
            HEAD + LOOP.format('norm = nn.utils.clip_grad_norm_(net.parameters(), float("inf"))'),
        ),
        Snippet(
            "not known", HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), max_norm=limit)")
        ),
        Snippet(
            "an option that switches it off",
            HEAD
            + OPTION.format(-1)
            + LOOP.format("if args.clip > 0:\n        nn.utils.clip_grad_norm_(net.parameters(), args.clip)"),
        ),
        Snippet(
            "asked for in a helper",
            HEAD
            + OPTION.format(0)
            + "def limit(net, most):\n    if most:\n        nn.utils.clip_grad_norm_(net.parameters(), most)\n\n"
            + LOOP.format("limit(net, args.clip)"),
        ),
        Snippet("small but above", HEAD + LOOP.format("nn.utils.clip_grad_value_(net.parameters(), 1e-3)")),
    )
    BAD = (
        Snippet("tiny", HEAD + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), max_norm=1e-5)"), line=9),
        Snippet("zero from a constant", HEAD + "CLIP = 0\n" + LOOP.format("torch.nn.utils.clip_grad_value_(net.parameters(), CLIP)"), line=10),
        Snippet("default of an option", HEAD + OPTION.format("1e-6") + LOOP.format("nn.utils.clip_grad_norm_(net.parameters(), args.clip)"), line=13),
        Snippet("default of a trainer", "import torch\nfrom torch import nn\nclass Trainer:\n    def __init__(self, net, clip=1e-5):\n"
                "        self.net, self.clip = net, clip\n        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)\n\n    def fit(self, data):\n"
                "        for x in data:\n            self.opt.zero_grad()\n            self.net(x).sum().backward()\n"
                "            nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)\n            self.opt.step()\n\n"
                "Trainer(nn.Linear(4, 2)).fit(data)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            if call is None or not is_clip(event) or not call.qualified:
                continue
            name = "clip_value" if "clip_grad_value" in call.qualified else "max_norm"
            given = call.argument(name, 1)
            limit = number(program, given)
            if limit is not None and limit <= self.limit and not _is_asked(event, given):
                yield self.finding(
                    program,
                    event.node,
                    f"Clipping to {limit:g} leaves almost nothing of the gradients; 1.0 is a usual limit.",
                )


def _is_asked(event: Event, limit: Value | None) -> bool:
    """Does a branch around the call look at the limit? Then zero or less means that nothing is clipped."""
    return any(
        isinstance(part, Branch) and any(same(value, limit) for value in walk(part.test))
        for part in event.around()
    )
