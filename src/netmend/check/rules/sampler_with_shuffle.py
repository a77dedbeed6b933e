from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Instance, Value, constant, resolved
from netmend.program.meaning.loaders_of_models import LOADER_NAME
from netmend.program.text.edits import delete_argument
from netmend.vocabulary.finding import Finding, Fix

HEAD = "from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler\n\n"


@register
class SamplerWithShuffle(StaticRule):
    """A loader is given a sampler and `shuffle=True` at once.

    The sampler decides the order, so both together are refused: the program stops with "sampler option is mutually exclusive with
    shuffle" where the loader is made.

    Leave `shuffle` out; most samplers draw at random themselves.
    """

    code = "S510"
    cause = "API-USAGE"
    message = "A loader with a sampler must not have shuffle=True; remove shuffle."
    triggers = ("sampler",)
    patterns = (r"sampler\s*=",)

    GOOD = (
        Snippet("the sampler alone", HEAD + "loader = DataLoader(data, batch_size=8, sampler=RandomSampler(data))\n"),
        Snippet("one or the other", HEAD + "sampler = RandomSampler(data) if distributed else None\n"
                "loader = DataLoader(data, batch_size=8, sampler=sampler, shuffle=sampler is None)\n"),
        Snippet("none is given", HEAD + "loader = DataLoader(data, batch_size=8, sampler=None, shuffle=True)\n"),
        Snippet("may be none", HEAD + "def make(data, sampler=None):\n    return DataLoader(data, sampler=sampler, shuffle=True)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("both", HEAD + "loader = DataLoader(data, batch_size=8, shuffle=True, sampler=WeightedRandomSampler(weights, 100))\n", line=3,
                fixed=HEAD + "loader = DataLoader(data, batch_size=8, sampler=WeightedRandomSampler(weights, 100))\n"),
        Snippet("batches by an own sampler", "import torch.utils.data as tud\nclass Buckets(tud.Sampler):\n    def __iter__(self):\n        return iter(order)\n\n"
                "buckets = Buckets()\nloader = tud.DataLoader(data, batch_sampler=buckets, shuffle=True)\n", line=7,
                fixed="import torch.utils.data as tud\nclass Buckets(tud.Sampler):\n    def __iter__(self):\n        return iter(order)\n\n"
                "buckets = Buckets()\nloader = tud.DataLoader(data, batch_sampler=buckets)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls_of(LOADER_NAME):
            call = event.call
            if call is None or constant(call.argument("shuffle", 2)) is not True:
                continue
            if _is_given(call.argument("sampler", 3)) or _is_given(call.argument("batch_sampler", 4)):
                yield self.finding(program, event.node, fix=self._fix(program, call.node))

    def _fix(self, program: Program, node: ast.Call | None) -> Fix | None:
        keyword = (
            next((part for part in node.keywords if part.arg == "shuffle"), None)
            if node is not None
            else None
        )
        edits = delete_argument(program, node, keyword) if node is not None and keyword is not None else ()
        return Fix("Remove shuffle", edits, "safe") if edits else None


def _is_given(value: Value | None) -> bool:
    """Surely a sampler: made right here."""
    value = resolved(value) if value is not None else None
    return isinstance(value, Call | Instance) and (
        isinstance(value, Instance) or "Sampler" in value.qualified
    )
