"""R402."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.localise.rates import momentum
from netmend.repair.code import File
from netmend.repair.good_rates import ADAPTIVE, good_rate, rate_text, usual_rate
from netmend.repair.naming import rename_callee
from netmend.repair.rate_places import present_rate, set_rate
from netmend.repair.repair import Case, Example, change, register
from netmend.repair.values import Faces
from netmend.syntax.edit_items import item_of
from netmend.syntax.positions import lines_of
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import SHORT_SEARCH, Change, FileEdits

_TAKEN = {
    "Adam": {"params", "lr", "betas", "eps", "weight_decay", "amsgrad", "maximize"},
    "SGD": {"params", "lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize"},
}
_SHARED = {"params", "lr", "weight_decay", "maximize"}  # mean the same everywhere


@register
@dataclass(frozen=True)
class Optimizer:
    """Use Adam, with a rate that suits the network, in place of another optimiser.

    Adam finds the scale of its steps by itself and learns with the same few rates nearly everywhere; what it does not know
    (momentum, nesterov) is dropped, weight decay stays. An optimiser that was only run with a foreign rate gets its own.
    SGD with momentum is tried where Adam itself is the suspect.
    """

    code: ClassVar[str] = "R402"
    cures: ClassVar[tuple[str, ...]] = ("OPT-SELECT",)
    effort: ClassVar[int] = SHORT_SEARCH
    explores: ClassVar[bool] = True

    near: float = 4.0  # times: a rate that is no further from the good one stays

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        found = None if optimizer is None else case.code.call_at(optimizer.created)
        if optimizer is None or found is None:
            return
        file, call = found
        if optimizer.kind not in ADAPTIVE:
            yield from self._other(case, optimizer, file, call, "Adam")
            if case.fault is not None and optimizer.kind not in ("SGD", "LBFGS"):
                yield from self._own_rate(case, optimizer)
        elif case.fault is not None:
            yield from self._other(case, optimizer, file, call, "SGD")

    def _other(
        self, case: Case, optimizer: OptimizerFact, file: File, call: ast.Call, kind: str
    ) -> Iterator[Change]:
        unpacked = any(keyword.arg is None for keyword in call.keywords)
        if unpacked or any(isinstance(given, ast.Starred) for given in call.args):
            return
        if not isinstance(call.func, ast.Name | ast.Attribute):
            return
        repeated = 0.9 if kind == "SGD" else 0.0
        present, wanted = present_rate(case, optimizer), good_rate(case.trace, optimizer, kind, repeated)
        keep = (
            present is not None and present > 0 and 1 / self.near <= wanted / present <= self.near
        ) and case.code.sources.argument(call, "lr", 1) is not None
        faces = Faces() if keep or present is None else set_rate(case, optimizer, wanted, present)
        if not keep and not faces:
            return
        edits = (*rename_callee(file, call, f"torch.optim.{kind}"), *_dropped(file, call, kind))
        if kind == "SGD":
            # Behind the parameters, where nothing is dropped or set.
            edits = (*edits, *_after_first(file, call, "momentum=0.9"))
        forced = (*edits, *faces.forced) if faces.forced else ()
        rate = rate_text(present if keep and present is not None else wanted)
        yield from change(
            self,
            case,
            f"{optimizer.kind} → {kind}{' with momentum' if kind == 'SGD' else ''}, learning rate {rate}",
            Faces((*edits, *faces.edits), forced, faces.arguments),
            knob=optimizer.name,
        )

    def _own_rate(self, case: Case, optimizer: OptimizerFact) -> Iterator[Change]:
        present, usual = present_rate(case, optimizer), usual_rate(optimizer.kind, momentum(optimizer))
        if present is None or present <= 0 or 1 / self.near <= usual / present <= self.near:
            return
        yield from change(
            self,
            case,
            f"learning rate {present:g} → {rate_text(usual)}, which {optimizer.kind} is made for",
            set_rate(case, optimizer, usual, present),
            knob=f"{optimizer.name}.lr",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "an optimiser that hardly moves",
            before="""
import torch
from torch import nn, optim
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
optimizer = optim.Adadelta(model.parameters(), lr=0.001, rho=0.95, weight_decay=1e-4)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(8, 100)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
""",
            old="Adadelta(model.parameters(), lr=0.001, rho=0.95, weight",
            new="Adam(model.parameters(), lr=0.001, weight",
            mark="Adadelta(",
        ),
        Example(
            "or its own rate",
            before="""
import torch
from torch import nn, optim
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
optimizer = optim.Adadelta(model.parameters(), lr=0.001, rho=0.95)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(8, 100)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
""",
            old="lr=0.001",
            new="lr=1",
            mark="Adadelta(",
            nth=1,
        ),
        Example(
            "arguments that Adam does not take, imported by name, the rate elsewhere",
            before="""
import torch
from torch import nn
from torch.optim import SGD
torch.manual_seed(0)
RATE = 0.5
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
optimizer = SGD(model.parameters(), RATE, 0.9, nesterov=True)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(8, 100)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
""",
            old="""import SGD
torch.manual_seed(0)
RATE = 0.5
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
optimizer = SGD(model.parameters(), RATE, 0.9, nesterov=True)""",
            new="""import SGD, Adam
torch.manual_seed(0)
RATE = 0.003
model = nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 1))
optimizer = Adam(model.parameters(), RATE)""",
        ),
        Example(
            "Adam is left alone where nothing speaks against it",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for step in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
    optimizer.step()
""",
        ),
    )


def _dropped(file: File, call: ast.Call, kind: str) -> FileEdits:
    """Take out the arguments that another optimiser does not know or that mean something else to it."""
    given: list[tuple[ast.expr | ast.keyword, bool]] = [
        *((value, index < 2) for index, value in enumerate(call.args)),
        *(
            (keyword, keyword.arg in _SHARED or (keyword.arg in _TAKEN[kind] and kind == "SGD"))
            for keyword in call.keywords
        ),
    ]
    lines, edits = lines_of(file.text), []
    start: int | None = None
    end = 0
    for argument, stays in given:
        found = item_of(file, call, argument)
        if found is None:
            return ()
        if stays:
            if start is not None and end > start:
                edits.append(lines.edit(start, end, ""))
            start = end = found[1].end
        else:
            end = found[1].end
    if start is not None and end > start:
        edits.append(lines.edit(start, end, ""))
    return file.edits(*edits)


def _after_first(file: File, call: ast.Call, text: str) -> FileEdits:
    """Behind the last positional argument, so that it may be a keyword."""
    kept = call.args[:2]
    found = item_of(file, call, kept[-1]) if kept else None
    if found is None:
        return ()
    end = found[1].end
    return file.edits(lines_of(file.text).edit(end, end, f", {text}"))
