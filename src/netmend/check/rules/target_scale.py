"""Answers of a network on one scale, compared with the truth on another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Instance, Operation, Value, resolved
from netmend.program.meaning.fitting import SCALERS
from netmend.program.meaning.losses import loss_use, loss_uses
from netmend.program.meaning.operations import parts_of, reached
from netmend.program.meaning.parts import parts
from netmend.program.meaning.prepared import Steps, steps_before
from netmend.program.meaning.roles import bare

HEAD = """\
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import mean_absolute_error
from sklearn.preprocessing import StandardScaler
from torch import nn

old, new = pd.read_csv("2021.csv"), pd.read_csv("2022.csv")
x, u = torch.tensor(old[["a"]].values), torch.tensor(new[["a"]].values)
"""
TRAINING = """
net = nn.Linear(1, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    opt.step()
with torch.no_grad():
    out = net(u)
"""
LOGS = 'y = torch.tensor(np.log1p(old[["price"]].values))\n'
SCALED = 'scaler = StandardScaler()\ny = torch.tensor(scaler.fit_transform(old[["price"]]))\n'
_LOGS = frozenset(("log", "log1p", "log2", "log10", "sqrt", "cbrt"))
_BACK = frozenset(
    (
        "exp",
        "expm1",
        "exp2",
        "pow",
        "power",
        "square",
        "inverse_transform",
        "inverse",
        "denormalize",
        "unscale",
    )
)
_ERRORS = frozenset(
    ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "r2_score", "mean_absolute_percentage_error", "median_absolute_error",
     "max_error", "explained_variance_score")
)  # fmt: skip


class AnswersOnAnotherScale(StaticRule, code="S937", cause="PRE-WRONG-STEP"):
    """The network learns a logarithm or a scaled value of the target, and its answers are compared with the target itself.

    The error that is printed says nothing: it is about as large as the target.

    Undo the step before comparing, `torch.expm1(out)` or `scaler.inverse_transform(out)`, or compare with the target after the same step.
    """

    message = "The network was trained on `{0}` of the target, but here its answers are compared with the target itself; undo it first ({1})."
    triggers = ("backward(",)

    GOOD = (
        Snippet("undone", HEAD + LOGS + TRAINING + 'print(mean_absolute_error(new["price"], np.expm1(out.numpy())))\n'),
        Snippet("both as logarithms", HEAD + LOGS + TRAINING + 'print((out - torch.tensor(np.log1p(new[["price"]].values))).abs().mean())\n'),
        Snippet("scaled back", HEAD + SCALED + TRAINING + 'print(mean_absolute_error(new["price"], scaler.inverse_transform(out.numpy())))\n'),
        Snippet("scaled by hand, and back", HEAD + 'm, s = old["price"].mean(), old["price"].std()\ny = torch.tensor((old[["price"]].values - m) / s)\n' + TRAINING
                + 'print(mean_absolute_error(new["price"], out * s + m))\n'),
        Snippet("classes are numbered", HEAD.replace("StandardScaler", "LabelEncoder") + 'le = LabelEncoder()\ny = torch.tensor(le.fit_transform(old["kind"]))\n' + TRAINING
                + 'print((out.argmax(1) - torch.tensor(new["kind"].values)).abs().mean())\n'),
        Snippet("no logarithm", HEAD + 'y = torch.tensor(old[["price"]].values)\n' + TRAINING + 'print(mean_absolute_error(new["price"], out))\n'),
    )  # fmt: skip
    BAD = (
        Snippet("a logarithm", HEAD + LOGS + TRAINING + 'print(mean_absolute_error(new["price"], out.numpy()))\n', line=20),
        Snippet("written out", HEAD + LOGS + TRAINING + '    print((out - torch.tensor(new[["price"]].values)).abs().mean())\n', line=20),
        Snippet("a scaler", HEAD + SCALED + TRAINING + 'truth = new["price"].values\nprint(np.sqrt(((out.numpy() - truth) ** 2).mean()))\n', line=22),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        learned = [step for use in loss_uses(program) if (step := _changed(program, use.target))]
        if not learned:
            return
        step = learned[0]
        for prediction, truth, node in _comparisons(program):
            own = steps_before(program, truth)
            if not own.whole or _step_of(own) or _is_undone(program, prediction):
                continue
            undo = (
                "scaler.inverse_transform(...)"
                if step in SCALERS
                else "np.expm1(...)"
                if step == "log1p"
                else "np.exp(...)"
            )
            yield self.finding(program, node, self.message.format(step, undo))
            return


def _changed(program: Program, target: Value | None) -> str:
    """The step that the targets of a training loss went through."""
    if id(resolved(target)) not in parts(program).trained:
        return ""
    steps = steps_before(program, target)
    return _step_of(steps) if steps.whole else ""


def _step_of(steps: Steps) -> str:
    return next((step.name for step in steps.steps if step.name in _LOGS or step.name in SCALERS), "")


def _comparisons(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    """What a network says in evaluation and what it is compared with."""
    found = parts(program)
    asked = {id(call) for call in found.questions if id(call) not in found.trained}
    seen: set[int] = set()
    for event in program.calls:
        call = event.call
        use = loss_use(event)
        name = call.qualified.rpartition(".")[2]
        sides = [resolved(value) for value in call.args[:2]] if name in _ERRORS or use is not None else []
        written: list[tuple[list[Value], ast.AST | None]] = [(sides, call.node)]
        for given in (call.receiver, *call.args):
            for part in reached(
                given,
                lambda value: () if isinstance(value, Call) and not value.method else parts_of(value),
                12,
            ):
                if isinstance(part, Operation) and part.operator == "-" and len(part.operands) == 2:
                    written.append((list(map(resolved, part.operands)), part.node))
        for both, node in written:
            if len(both) != 2 or node is None or id(node) in seen:
                continue
            seen.add(id(node))
            says = [_says(value, asked) for value in both]
            if says[0] is not says[1]:
                prediction, truth = (both[0], both[1]) if says[0] else (both[1], both[0])
                if not isinstance(truth, Const):
                    yield prediction, truth, node


def _says(value: Value, asked: set[int]) -> bool:
    return any(
        id(part) in asked
        for part in reached(value, lambda part: () if id(part) in asked else parts_of(part), 400)
    )


def _is_undone(program: Program, prediction: Value) -> bool:
    """Is anything done to the answers that could undo the step?"""
    questions = {id(call) for call in parts(program).questions}
    for part in reached(prediction, lambda value: () if id(value) in questions else parts_of(value)):
        if id(part) in questions:
            continue
        if isinstance(part, Call) and (
            (part.method or part.qualified.rpartition(".")[2]) in _BACK or _is_unknown(part)
        ):
            return True
        if isinstance(part, Operation) and part.operator in ("*", "**", "+"):
            return True
    return False


def _is_unknown(call: Call) -> bool:
    """A call of something of the program's own that was not followed."""
    return call.result is None and isinstance(bare(call.function), Instance)
