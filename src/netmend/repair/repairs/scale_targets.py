"""R503."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.data.data_holders import forward_calls
from netmend.changes.data.standardise import own_class
from netmend.library.losses import DISTANCES
from netmend.library.optimisers import SCALE_FREE
from netmend.program.source.writing import insert_after, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import Function
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import LossFact, TargetFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

# Optimisers whose steps do not depend on the size of the gradient.
_SIMPLE = dict.fromkeys(DISTANCES, 1) | {"mse_loss": 2}  # the power of an error that they grow with


@register
@dataclass(frozen=True)
class ScaleTargets:
    """Let the network work in standardised units and give its answers back in the unit of the targets.

    The output is multiplied by the standard deviation of the training targets and their mean is added, so that what is printed
    keeps its unit. For an optimiser whose steps grow with the gradient the loss is divided by its usual size as well.
    """

    code: ClassVar[str] = "R503"
    cures: ClassVar[tuple[str, ...]] = ("PRE-MISS-SCALE", "ARC-INIT-BIAS")
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    near: float = (
        3.0  # a spread within this factor of 1, or a mean within this part of the spread, needs no care
    )

    def propose(self, case: Case) -> Iterator[Change]:
        target = self._target(case)
        if target is None or target.mean is None or not target.std:
            return
        factor = "" if 1 / self.near < target.std < self.near else f" * {_rounded(target.std)}"
        offset = "" if abs(target.mean) < target.std / self.near else f" + {_rounded(target.mean)}"
        if not factor and not offset:
            return
        unit = (factor + offset).replace("+ -", "- ")
        edits = _in_forward(case, unit) or _by_hook(case, unit) or _at_calls(case, unit)
        if edits and factor:
            edits = (*edits, *self._loss_in_unit(case, target))
        yield from change(
            self, case, f"scale the model's output to the targets: {unit.strip()}", edits, knob="target scale"
        )

    def _target(self, case: Case) -> TargetFact | None:
        """The targets of a regression, where they are what the fault is about."""
        named = None if case.fault is None else case.trace.get(LossFact, case.fault.component)
        loss = named or case.loss
        task = None if loss is None else next((t for t in case.trace.tasks if t.name == loss.name), None)
        if loss is None or task is None or task.kind != "regression":
            return None
        return case.trace.get(TargetFact, loss.name)

    def _loss_in_unit(self, case: Case, target: TargetFact) -> FileEdits:
        loss = case.loss
        if loss is None or (case.optimizer is not None and case.optimizer.kind in SCALE_FREE):
            return ()
        power = _SIMPLE.get(loss.criterion)
        size = target.constant_loss if power is None else (target.std or 1.0) ** power
        found = case.code.call_at(loss.backward)
        if found is None or not size or not isinstance(found[1].func, ast.Attribute):
            return ()
        return wrap(found[0], found[1].func.value, "(", f" / {_rounded(size)})")

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()


def _rounded(value: float) -> str:
    short = f"{value:.3g}"
    return short if abs(value) < 1000 or abs(value) >= 1e7 else str(int(float(short)))


def _in_forward(case: Case, unit: str) -> FileEdits:
    found = None if case.model is None else own_class(case, case.model)
    if found is None:
        return ()
    file, _, forward = found
    returns = [node for node in _own_statements(forward) if isinstance(node, ast.Return)]
    value = returns[0].value if len(returns) == 1 else None
    return (
        ()
        if value is None or isinstance(value, ast.Tuple | ast.Dict | ast.List)
        else wrap(file, value, "", unit)
    )


def _own_statements(function: Function) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from _own_statements(child)  # type: ignore[arg-type]


def _by_hook(case: Case, unit: str) -> FileEdits:
    """For a model without a class of its own: a hook behind the line that makes it."""
    made = None if case.model is None else case.code.call_at(case.model.created)
    if made is None:
        return ()
    file, call = made
    statement = file.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return ()
    target = statement.targets[0]
    if not isinstance(target, ast.Name | ast.Attribute):
        return ()
    hook = f"register_forward_hook(lambda module, inputs, output: output{unit})"
    return insert_after(file, statement, f"{file.source(target)}.{hook}")


def _at_calls(case: Case, unit: str) -> FileEdits:
    calls: list[tuple[File, ast.Call]] = []
    for item in (*forward_calls(case, training=True), *forward_calls(case, training=False)):
        if not any(item[1] is call for _, call in calls):
            calls.append(item)
    edits: FileEdits = ()
    for file, call in calls:
        edits = (*edits, *wrap(file, call, "(", f"{unit})"))
    return edits


_example = partial(
    example,
    begin="torch.manual_seed(0)\nx = torch.randn(16, 3)",
    model="nn.Linear(3, 1)",
    optimizer="torch.optim.Adam(model.parameters())",
    loss="nn.functional.mse_loss(model(x), y)",
)


ScaleTargets.EXAMPLES = (
    _example(
        "in forward",
        data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
        layers="self.fc = nn.Linear(3, 1)",
        forward="return self.⟨fc(x) → fc(x) * 10000 + 30000⟩",
    ),
    _example(
        "a model without a class",
        data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
        model="nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))",
        helpers="+ model.register_forward_hook(lambda module, inputs, output: output * 10000 + 30000)",
    ),
    _example(
        "plain gradient steps: the loss too",
        data="⟨y = 30000.0 + 4000.0 * x[:, :1].round()⟩\ny[::2], y[1::2] = 20000.0, 40000.0",
        helpers="+ model.register_forward_hook(lambda module, inputs, output: output * 10000 + 30000)",
        optimizer="torch.optim.SGD(model.parameters(), lr=1e-9)",
        loss="",
        step="""
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            ⟨loss → (loss / 1e+08)⟩.backward()
            optimizer.step()""",
    ),
    _example(
        "targets of about unit size",
        data="""
            y = 30000.0 + 4000.0 * x[:, :1].round()
            y[::2], y[1::2] = 20000.0, 40000.0
            ⟨y = (y - y.mean()) / y.std()⟩""",
    ),
)
