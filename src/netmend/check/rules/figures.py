"""Figures that are printed under a name they do not deserve: of rows drawn by class, in other units than the truth."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.check.rules.target_scale import AnswersOnAnotherScale
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Name, Operation, Value, resolved
from netmend.program.meaning.loaders import evaluated, loader_made, trained
from netmend.program.meaning.losses import LossUse, loss_uses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.roles import MODEL, bare, role
from netmend.program.meaning.rows import carried, rows_of
from netmend.program.meaning.scores import scored
from netmend.program.meaning.targets import column_of
from netmend.program.meaning.training import grad_is_off
from netmend.program.meaning.uses import arithmetic

SAMPLED_HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

x, y = torch.load("d.pt")
net = nn.Linear(10, 2)
opt = torch.optim.Adam(net.parameters())

def draw(x, y):
    weights = 1 / torch.bincount(y)[y]
    return DataLoader(TensorDataset(x, y), 32, sampler=WeightedRandomSampler(weights, len(y)))

train_loader = draw(x[:800], y[:800])
"""
SAMPLED_LOOP = """\
for a, b in train_loader:
    opt.zero_grad()
    nn.functional.cross_entropy(net(a), b).backward()
    opt.step()
with torch.no_grad():
    for a, b in test_loader:
        print((net(a).argmax(1) == b).float().mean())
"""


class EvaluationDrawnByClass(StaticRule, code="S959", cause="VAL-METRIC"):
    """The rows of an evaluation are drawn by weights, so that rare classes come up more often than they are.

    Precision, accuracy and F1 are then those of a world with as many rare as common cases; with replacement some rows count several
    times and others never. In use the figures are others.

    Let the loader of the test part give every row once: leave the sampler out.
    """

    message = "The evaluated rows are drawn by class weights, so the figures are for a balance that does not exist; leave the sampler out of this loader."
    triggers = ("WeightedRandomSampler",)
    patterns = (r"WeightedRandomSampler\(|no_grad",)

    GOOD = (
        Snippet("of the training part", SAMPLED_HEAD + "test_loader = DataLoader(TensorDataset(x[800:], y[800:]), 32)\n" + SAMPLED_LOOP),
        Snippet("how well the training part is known", SAMPLED_HEAD + SAMPLED_LOOP.replace("test_loader", "train_loader")),
    )  # fmt: skip
    BAD = (
        Snippet("the same function for both", SAMPLED_HEAD + "test_loader = draw(x[800:], y[800:])\n" + SAMPLED_LOOP, line=14),
        Snippet("written out", SAMPLED_HEAD + "test_loader = DataLoader(TensorDataset(x[800:], y[800:]), 32,\n    sampler=WeightedRandomSampler(w, 200))\n" + SAMPLED_LOOP, line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        fed = {id(loader_made(feeding.loader)) for feeding in trained(program)}
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or id(loader) in fed or not fed:
                continue
            sampler = resolved(loader.argument("sampler", 3))
            if isinstance(sampler, Call) and sampler.qualified == "torch.utils.data.WeightedRandomSampler":
                node = _asked_for(program, loader)
                yield self.finding(program, node, see=[("It is evaluated here.", evaluation.loop.node)])


def _asked_for(program: Program, loader: Call) -> ast.AST | None:
    """Where a loader is made; of a function that makes the training loader as well, its call for this one."""
    fed = [made for feeding in trained(program) if (made := loader_made(feeding.loader)) is not None]
    if any(made.node is loader.node for made in fed):
        for store in program.stores:
            if store.value is not loader and resolved(store.value) is loader:
                return store.value.node
    return loader.node


UNITS_HEAD = """\
import numpy as np
import torch
from sklearn.metrics import mean_absolute_error, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

X, y = np.load("x.npy"), np.load("y.npy")
Xa, Xb, ya, yb = train_test_split(X, y, random_state=0)
scaler = StandardScaler().fit(ya)
net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
t = {0}
for epoch in range(100):
    opt.zero_grad()
    torch.nn.functional.mse_loss(net(torch.tensor(Xa)), t).backward()
    opt.step()
with torch.no_grad():
    p = net(torch.tensor(Xb)).numpy()
"""
_SCALED = "torch.tensor(scaler.transform(ya))"
_CHANGING = frozenset(
    (
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "transform",
        "fit_transform",
        "inverse_transform",
        "exp",
        "expm1",
        "square",
        "power",
        "pow",
        "cbrt",
        "normalize",
    )
)
_DISTANCES = frozenset(("mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "r2_score", "median_absolute_error",
                        "mean_absolute_percentage_error", "max_error", "explained_variance_score"))  # fmt: skip


class ComparedInOtherUnits(StaticRule, code="S957", cause="VAL-METRIC"):
    """A network learns scaled targets, and its answers are compared with targets that are not scaled.

    The answers are near 0 with a spread of 1, the truth is in euro: the error is about as large as the targets themselves and says
    nothing of the network.

    Bring the answers back before comparing: `scaler.inverse_transform(p)`, `p * std + mean`, `np.expm1(p)`.
    """

    message = "The network has learned scaled targets, and its answers are compared with unscaled ones here; bring the answers back to the units of the targets first (inverse_transform, * std + mean, expm1)."
    triggers = (*sorted(_DISTANCES), ".abs()", "l1_loss", "mse_loss", "L1Loss", "MSELoss")
    patterns = (r"mean_absolute_error|mean_squared_error|r2_score|no_grad",)

    GOOD = (
        Snippet("brought back", UNITS_HEAD.format(_SCALED) + "print(mean_absolute_error(yb, scaler.inverse_transform(p)))\n"),
        Snippet("both scaled", UNITS_HEAD.format(_SCALED) + "print(mean_squared_error(scaler.transform(yb), p))\n"),
        Snippet("nothing is scaled", UNITS_HEAD.format("torch.tensor(ya)") + "print(mean_absolute_error(yb, p))\n"),
        Snippet("brought back by hand", UNITS_HEAD.format("torch.tensor((ya - ya.mean()) / ya.std())") + "p = p * ya.std() + ya.mean()\nprint(mean_absolute_error(yb, p))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("a scaler", UNITS_HEAD.format(_SCALED) + "print(mean_absolute_error(yb, p))\n", line=19),
        Snippet("a difference", UNITS_HEAD.format(_SCALED) + "    print((net(torch.tensor(Xb)) - torch.tensor(yb)).abs().mean())\n", line=19),
        Snippet("by hand", UNITS_HEAD.format("torch.tensor((ya - ya.mean()) / ya.std())") + "print(mean_absolute_error(yb, p))\n", line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        learned = list(_learned_scaled(program))
        if learned and any(AnswersOnAnotherScale().check(program)):
            return  # told already
        for answer, expected, node in _compared(program) if learned else ():
            model = _answered(program, answer)
            truth = rows_of(program, expected)
            if model is None or any(_changes(part) or _is_model(part) for part in truth):
                continue
            for other, use, source in learned:
                if other is model and _share(truth, source):
                    yield self.finding(
                        program, node, see=[("The scaled targets are learned here.", use.node)]
                    )
                    break


def _compared(program: Program) -> Iterator[tuple[Value, Value, ast.AST | None]]:
    """Answers beside the truth in metrics, in losses of an evaluation, in differences."""
    for score in scored(program):
        if score.name in _DISTANCES:
            yield score.answer, score.truth, score.event.node
    for use in loss_uses(program):
        if (
            grad_is_off(use.event)
            and use.prediction is not None
            and use.target is not None
            and use.kind in ("mse", "l1")
        ):
            yield use.prediction, use.target, use.node
    without = {id(event.call) for event in program.calls if _is_model(event.call) and grad_is_off(event)}
    for value, _ in arithmetic(program):
        if value.operator != "-" or len(value.operands) != 2:
            continue
        for answer, truth in (value.operands, value.operands[::-1]):
            if any(id(part) in without for part in rows_of(program, answer)[:8]):
                yield answer, truth, value.node


def _share(truth: list[Value], source: list[Value]) -> bool:
    """Do two targets stem from the same column, or the same array?"""
    columns = [{name for part in values if (name := column_of(part))} for values in (truth, source)]
    if all(columns):
        return bool(columns[0] & columns[1])
    known = {id(part) for part in source}
    return any(id(part) in known for part in truth if not isinstance(part, Const | Name))


def _learned_scaled(program: Program) -> Iterator[tuple[Value, LossUse, list[Value]]]:
    """Models that learn targets which were scaled, with the loss and all that the targets are made of."""
    for use in loss_uses(program):
        if use.target is None or use.prediction is None:
            continue
        made = rows_of(program, use.target)
        model = _answered(program, use.prediction)
        if model is not None and any(map(_changes, made)):
            yield model, use, made


def _changes(value: Value) -> bool:
    """Does a step give numbers of another size?"""
    if isinstance(value, Operation):
        return value.operator in ("-", "+", "*", "/", "**")
    return isinstance(value, Call) and value.result is None and _name(value) in _CHANGING


def _is_model(value: Value) -> bool:
    return isinstance(value, Call) and (is_module(value.function) or role(value.function) == MODEL)


def _name(call: Call) -> str:
    return (call.method or call.qualified).rpartition(".")[2]


def _answered(program: Program, value: Value | None) -> Value | None:
    """The model whose answer a value is as it came, only laid out or moved."""
    for _ in range(20):
        if value is None or _changes(value):
            return None
        if isinstance(value, Call) and _is_model(value):
            return bare(value.function)
        value = next(carried(program, value), None)
    return None
