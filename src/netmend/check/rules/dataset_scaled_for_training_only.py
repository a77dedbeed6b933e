from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Class, Const, Instance, Value, resolved
from netmend.program.meaning.loaders_of_models import dataset_of, evaluated, loader_made, trained
from netmend.program.meaning.modules import self_name
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, x, y, stats=None):
        self.x, self.y, self.stats = x, y, stats

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        row = self.x[i]
        if self.stats is not None:
            row = (row - self.stats[0]) / self.stats[1]
        return row, self.y[i]

stats = x.mean(0), x.std(0)
"""
LOOP = """\
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for a, b in train:
    opt.zero_grad()
    nn.functional.cross_entropy(net(a), b).backward()
    opt.step()
with torch.no_grad():
    for a, b in test:
        print((net(a).argmax(1) == b).float().mean())
"""


@register
class DatasetScaledForTrainingOnly(StaticRule):
    """The same dataset class scales its rows for training, but not for evaluation, where the argument for it is not given.

    The network is trained on inputs around zero and tested on raw ones, far from anything it has seen. The test result says
    nothing about the network.

    Give the evaluation set the same statistics, those of the training data.
    """

    code = "S531"
    cause = "PRE-TRAIN-TEST-SKEW"
    message = "The training set is scaled with `{0}`, this one is not; pass the training statistics here too."
    triggers = ("Dataset)",)
    needs = "DataLoader"
    patterns = (r"(?!)",)

    GOOD = (
        Snippet("both scaled", HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v, stats), batch_size=8)\n" + LOOP),
        Snippet("neither scaled", HEAD + "train = DataLoader(Rows(x, y), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n" + LOOP),
        Snippet("only augmentation differs", HEAD.replace("row = (row - self.stats[0]) / self.stats[1]", "row = row + self.stats * torch.randn(4)")
                + "train = DataLoader(Rows(x, y, 0.1), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n" + LOOP),
        Snippet("scaled by hand before", HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\n"
                "test = DataLoader(Rows((u - stats[0]) / stats[1], v), batch_size=8)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("statistics forgotten", HEAD + "train = DataLoader(Rows(x, y, stats), batch_size=8, shuffle=True)\ntest = DataLoader(Rows(u, v), batch_size=8)\n"
                + LOOP, line=20),
        Snippet("a flag", HEAD.replace("stats=None", "normalize=False").replace("y, stats\n", "y, normalize\n").replace("self.stats is not None", "self.stats")
                .replace("self.stats[0]", "x.mean(0)").replace("self.stats[1]", "x.std(0)")
                + "a, b = Rows(x, y, normalize=True), Rows(u, v)\ntrain, test = DataLoader(a, shuffle=True), DataLoader(b)\n" + LOOP, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        train = [_dataset(feeding.loader) for feeding in trained(program)]
        seen: set[int] = set()
        for evaluation in evaluated(program):
            test = _dataset(evaluation.loader)
            if test is None or test.node is None or id(test) in seen:
                continue
            for one in train:
                if one is None or one is test or one.cls is not test.cls:
                    continue
                name = next((name for name in _scaling(one.cls) if _differs(one, test, name)), "")
                if name and _is_plain(test):
                    seen.add(id(test))
                    yield self.finding(program, test.node, self.message.format(name))
                    break


def _dataset(loader: Value) -> Instance | None:
    made = loader_made(loader)
    data = dataset_of(made) if made is not None else None
    return data if isinstance(data, Instance) else None


def _given(instance: Instance, name: str) -> Value | None:
    """What an argument of `__init__` was given; None for its default."""
    init = instance.cls.method("__init__")
    if init is None:
        return None
    parameters = [part.arg for part in init.definition.args.args][1:]
    args, keywords = instance.arguments
    if name in keywords:
        return resolved(keywords[name])
    place = parameters.index(name)
    return resolved(args[place]) if place < len(args) else None


def _is_off(value: Value | None) -> bool:
    return value is None or (isinstance(value, Const) and not value.value)


def _differs(one: Instance, test: Instance, name: str) -> bool:
    given = _given(one, name)
    is_on = given is not None and not (isinstance(given, Const) and not given.value)
    return is_on and _is_off(_given(test, name))


def _is_plain(test: Instance) -> bool:
    """Are the test rows given as they were made, not computed from something right there?"""
    args = test.arguments[0]
    return bool(args) and not any(isinstance(part, ast.BinOp | ast.Call) for part in _written(test))


def _written(test: Instance) -> list[ast.expr]:
    return list(test.node.args) if isinstance(test.node, ast.Call) else []


def _scaling(cls: Class) -> Iterator[str]:
    """Arguments (off by default) without which the class does not scale: `if self.stats …: row = (row - mean) / std`."""
    init = cls.methods.get("__init__")
    if init is None or isinstance(init.definition, ast.Lambda):
        return
    arguments = init.definition.args
    first = len(arguments.args) - len(arguments.defaults)
    optional = {
        part.arg
        for part, default in zip(arguments.args[first:], arguments.defaults, strict=True)
        if isinstance(default, ast.Constant) and not default.value
    }
    for method in cls.methods.values():
        owner = self_name(method.definition)
        for node in ast.walk(method.definition):
            if (
                isinstance(node, ast.If)
                and not node.orelse
                and any(_standardises(part) for part in node.body)
            ):
                yield from (name for name in optional if _asks(node.test, name, owner, init.definition))


def _standardises(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Div)
        and isinstance(part.left, ast.BinOp)
        and isinstance(part.left.op, ast.Sub)
        for part in ast.walk(node)
    )


def _asks(test: ast.expr, name: str, owner: str, init: ast.AST) -> bool:
    """Does a test look at an argument, by its name or as the attribute it is stored in?"""
    kept = {name}
    for node in ast.walk(init):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = (
                zip(target.elts, value.elts, strict=False)
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                else [(target, value)]
            )
            kept.update(
                f"{owner}.{one.attr}"
                for one, other in pairs
                if isinstance(one, ast.Attribute) and isinstance(other, ast.Name) and other.id == name
            )
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        test = test.left
    return isinstance(test, ast.Name | ast.Attribute) and ast.unparse(test) in kept
