"""R304."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.first_values import Write, without, write_at, writes_like
from netmend.changes.network.model_layers import united
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

_example = partial(
    example,
    model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))",
    loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))",
)


@register
@dataclass(frozen=True)
class BiasInitialisation:
    """Take a bad initialisation of the biases away, or start them at zero.

    Strongly negative biases switch rectifiers off for good, and an output bias far from the targets has to be unlearned.
    """

    code: ClassVar[str] = "R304"
    cures: ClassVar[tuple[str, ...]] = ("ARC-INIT-BIAS",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        write = write_at(case)
        if write is None or write.part == "weight":
            return
        writes = [one for one in writes_like(write) if _value(one) == _value(write)]
        gone, clean = without(write.file, [one.statement for one in writes])
        zero = united(self._zero(one) for one in writes)
        ways = [("the framework's own start for the biases", gone), ("biases start at zero", zero)]
        for title, edits in ways if clean else reversed(ways):
            yield from change(self, case, title, edits, knob="initial biases")

    @staticmethod
    def _zero(write: Write) -> FileEdits:
        like = write.call.func if write.call is not None else None
        name, extra = spelled(write.file, "torch.nn.init.zeros_", like=like)
        return (*replace(write.file, write.statement, f"{name}({write.target})"), *extra)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "one layer of several",
            helpers="- nn.init.constant_(model[0].bias, -9.0)\nnn.init.constant_(model[2].bias, 0.1)",
            component="model.0",
        ),
        _example(
            "in a function for all layers",
            data="""
                def start(m):
                    if isinstance(m, nn.Linear):
                        ⟨m.bias.data.fill_(-9.0) → nn.init.zeros_(m.bias)⟩""",
            helpers="model.apply(start)",
            component="model.0",
        ),
    )


def _value(write: Write) -> str:
    """The text of what is written, so that a line with another value stays."""
    whole = write.file.source(write.statement)
    return whole.replace(write.target, "")
