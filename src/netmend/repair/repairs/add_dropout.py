"""R309."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.model_layers import in_stack, links_of, made_by, model_of_fault, united
from netmend.changes.network.stacks import init_of, new_name, put_behind
from netmend.diagnose.measures.chain import Link, last_weighted
from netmend.localise.causes.regularisation import dropouts
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, wrap
from netmend.program.text.file import File
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import BUDGET, Change, FileEdits

_example = partial(
    example, loss="nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))", component="model"
)


@register
@dataclass(frozen=True)
class AddDropout:
    """Put dropout behind the hidden activations, so that the network cannot learn its samples by heart.

    Helps a network that is much better on its training data than on new data. Training may take longer.
    """

    code: ClassVar[str] = "R309"
    cures: ClassVar[tuple[str, ...]] = ("LYR-DROPOUT-MISSING", "LOS-REG-MISSING", "DAT-LITTLE")
    effort: ClassVar[int] = BUDGET
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        if any(True for _ in dropouts(case.trace)):
            return
        model = model_of_fault(case)
        links = links_of(case, model)
        last = last_weighted(case.trace, links[0].model) if links else -1.0
        # In feature maps neighbours carry the same, so that dropping single values holds nothing back.
        hidden = [
            link
            for link in links
            if link.kind == "activation" and link.position < last and len(link.shape) == 2
        ]
        for rate in ("0.5",) if case.cause == "DAT-LITTLE" else ("0.5", "0.25"):
            edits = united(self._behind(case, link, rate) for link in hidden)
            yield from change(
                self, case, f"dropout of {rate} in the hidden layers", edits, knob="dropout", cost=1.2
            )

    def _behind(self, case: Case, link: Link, rate: str) -> FileEdits:
        found = case.code.call_at(link.module.created if link.module is not None else link.site)
        if found is None:
            return ()
        file, call = found
        if link.module is not None and in_stack(case, link.module) and len(made_by(case, link.site)) >= 1:
            name, extra = spelled(file, "torch.nn.Dropout", like=call.func)
            edits = put_behind(file, call, f"{name}({rate})", "dropout")
            return (*edits, *extra) if edits else ()
        if link.module is not None:
            found = case.code.call_at(link.module.called)
            if found is None or link.module.calls > 1:
                return ()
            file, call = found
        return self._around(file, call, rate)

    @staticmethod
    def _around(file: File, call: ast.Call, rate: str) -> FileEdits:
        """`F.relu(x)` → `self.dropout(F.relu(x))`, with the layer made in `__init__`."""
        owner = file.owner(call)
        init = init_of(owner) if owner is not None else None
        if owner is None or init is None:
            return ()
        name = new_name(file, owner, "dropout")
        made, extra = spelled(file, "torch.nn.Dropout")
        return (
            *insert_after(file, init.body[-1], f"self.{name} = {made}({rate})"),
            *wrap(file, call, f"self.{name}(", ")"),
            *extra,
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "in a stack",
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.⟨Linear → Dropout(0.5), nn.Linear⟩(8, 1))",
            mark="optimizer = ",
        ),
        _example(
            "in forward",
            layers="""
                self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
                + self.dropout = nn.Dropout(0.25)""",
            forward="return self.b(⟨torch.relu(self.a(x)) → self.dropout(torch.relu(self.a(x)))⟩)",
            mark="optimizer = ",
            nth=1,
        ),
        _example(
            "dropout is there",
            model="nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))",
            mark="optimizer = ",
        ),
    )
