"""Random changes of training pictures that reach the samples a model is scored on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Instance, Item, Value, resolved
from netmend.program.meaning.chance import DRAWS, chance
from netmend.program.meaning.loaders import (
    Evaluated,
    dataset_of,
    evaluated,
    image_set,
    loader_made,
    trained,
    transform_of,
)
from netmend.program.meaning.statements import is_for_evaluation, is_for_training

SPLITS = ("torch.utils.data.random_split", "torch.utils.data.dataset.random_split")
SUBSET = "torch.utils.data.Subset"
HEAD = """\
import random
import torch
from torch.utils.data import DataLoader, Dataset, Subset, SubsetRandomSampler, random_split

class Coins(Dataset):
    def __init__(self, pictures, values, turn=False):
        self.pictures, self.values, self.turn = pictures, values, turn

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        x = self.pictures[i]
        if self.turn and random.random() < 0.5:
            x = torch.flip(x, (2,))
        return x, self.values[i]

"""
FIT = """\
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 8))
opt = torch.optim.Adam(net.parameters())
for a, b in train_loader:
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(a), b).backward()
    opt.step()
with torch.no_grad():
    for a, b in held_loader:
        print((net(a).argmax(1) == b).float().mean())
"""


class AugmentationSharedWithEvaluation(StaticRule, code="S961", cause="PRE-TRAIN-TEST-SKEW"):
    """The part that is scored comes out of a data set that changes its pictures at random.

    `random_split`, `Subset` and samplers give views of one data set, with the one transform it has. What was meant for training also crops, turns and
    covers the pictures that are scored: the result is too low, and another one at every pass.

    Make a second data set without the random steps and take the same rows from it: `val_part = Subset(Pictures(root, transform=plain), val_part.indices)`.
    """

    message = (
        "This part is scored, but its pictures come from the data set with the random changes for training, so the score is too low and differs from pass to pass; "
        "take its rows from a second data set without them: Subset(plain_data, part.indices)."
    )
    triggers = ("random_split", "Subset", "DataLoader")

    GOOD = (
        Snippet("its rows from a second data set", HEAD + "train_set, val_set = random_split(Coins(x, y, turn=True), [80, 20])\ntrain_loader = DataLoader(train_set, shuffle=True)\nheld_loader = DataLoader(Subset(Coins(x, y), val_set.indices))\n" + FIT),
        Snippet("a data set of its own", HEAD + "order = torch.randperm(100).tolist()\ntrain_loader = DataLoader(Subset(Coins(x, y, turn=True), order[:80]), shuffle=True)\n"
                "held_loader = DataLoader(Subset(Coins(x, y), order[80:]))\n" + FIT),
        Snippet("no random step", HEAD + "train, val = random_split(Coins(x, y), [80, 20])\ntrain_loader, held_loader = DataLoader(train, shuffle=True), DataLoader(val)\n" + FIT),
        Snippet("exchanged behind the part", HEAD + "train, val = random_split(Coins(x, y, turn=True), [80, 20])\nval.dataset = Coins(x, y)\n"
                "train_loader, held_loader = DataLoader(train, shuffle=True), DataLoader(val)\n" + FIT),
        Snippet("switched off before scoring", HEAD + "data = Coins(x, y, turn=True)\ntrain, val = random_split(data, [80, 20])\n"
                "train_loader, held_loader = DataLoader(train, shuffle=True), DataLoader(val)\n" + FIT.replace("with torch", "data.turn = False\nwith torch")),
        Snippet("mean over many random views", HEAD + "data = Coins(x, y, turn=True)\ntrain, rest = random_split(data, [80, 20])\n"
                "train_loader, held_loader = DataLoader(train, shuffle=True), DataLoader(rest)\n"
                + FIT.replace("    for a, b in held", "  for view in range(8):\n    for a, b in held")),
        Snippet("two parts that both train", HEAD + "first, second = random_split(Coins(x, y, turn=True), [50, 50])\ntrain_loader = DataLoader(first)\n" + FIT[: FIT.index("with")]),
        Snippet("how well the training data are learned", HEAD + "train_loader = DataLoader(Coins(x, y, turn=True), shuffle=True)\n" + FIT.replace("held", "train")),
    )  # fmt: skip
    BAD = (
        Snippet("random_split", HEAD + "train, val = random_split(Coins(x, y, turn=True), [80, 20])\ntrain_loader, held_loader = DataLoader(train, shuffle=True), DataLoader(val)\n" + FIT, line=18),
        Snippet("Subset", HEAD + "data = Coins(x, y, turn=True)\na = Subset(data, range(80))\nb = Subset(data, range(80, 100))\ntrain_loader, held_loader = DataLoader(a, shuffle=True), DataLoader(b)\n" + FIT, line=20),
        Snippet("samplers", HEAD + "data = Coins(x, y, turn=True)\ntrain_loader = DataLoader(data, sampler=SubsetRandomSampler(range(80)))\n"
                "held_loader = DataLoader(data, sampler=SubsetRandomSampler(range(80, 100)))\n" + FIT, line=20),
        Snippet("a folder of pictures", "import torch\nfrom torch.utils.data import random_split\nfrom torchvision import datasets, transforms as T\n"
                "data = datasets.ImageFolder('coins', T.Compose([T.RandomResizedCrop(64), T.ToTensor()]))\ntrain_set, val_set = random_split(data, [0.8, 0.2])\n", line=5),
        Snippet("a test set with the default", HEAD.replace("turn=False", "turn=True") + "train_loader = DataLoader(Coins(x, y), shuffle=True)\nheld_loader = DataLoader(Coins(u, v))\n" + FIT, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for node, data in (*_scored(program), *_named(program)):
            if node is None or id(data) in told or _is_changed_later(program, data):
                continue
            if DRAWS in _changes(data):
                told.add(id(data))
                yield self.finding(
                    program,
                    node,
                    see=[("The data set is made here.", data.node)]
                    if data.node is not None and data.node is not node
                    else (),
                )


def _changes(data: Value) -> frozenset[str]:
    """What a data set changes by chance about the pictures that it gives."""
    if isinstance(data, Call) and image_set(data):
        return chance(transform_of(data))
    method = data.cls.method("__getitem__") if isinstance(data, Instance) else None
    return chance(method.bound(data)) if method is not None else frozenset()


def _scored(program: Program) -> Iterator[tuple[ast.AST | None, Value]]:
    """Data sets of loops that only evaluate, with the line that made the part."""
    fed = [loader_made(feeding.loader) for feeding in trained(program)]
    for evaluation in evaluated(program):
        loader = loader_made(evaluation.loader)
        data = dataset_of(loader) if loader is not None else None
        if loader is None or data is None or _is_averaged(program, evaluation):
            continue
        if any(other is loader for other in fed):  # how well the training data are learned
            continue
        whole = _whole(data)
        if whole is not None:
            yield whole
        elif loader.argument("sampler") is not None:
            yield loader.node, data
        elif not any(other is not None and dataset_of(other) is data for other in fed):
            yield data.node, data


def _named(program: Program) -> Iterator[tuple[ast.AST | None, Value]]:
    """Parts of one data set of which one is called after training and the other after evaluation."""
    if any(isinstance(node, ast.Attribute) and node.attr == "indices" for node in program.nodes):
        return  # the part may only say which rows to take from another data set
    for event in program.stores:
        whole = _whole(resolved(event.value))
        if whole is None or not is_for_evaluation(event.target.name):
            continue
        if any(
            is_for_training(other.target.name)
            and (found := _whole(resolved(other.value))) is not None
            and found[1] is whole[1]
            for other in program.stores
        ):
            yield whole


def _whole(part: Value) -> tuple[ast.AST | None, Value] | None:
    """What a part was cut from, with the call that did it."""
    cut = resolved(part.base) if isinstance(part, Item) else part
    if (
        isinstance(cut, Call)
        and cut.args
        and cut.qualified in ((*SPLITS,) if isinstance(part, Item) else (SUBSET,))
    ):
        return cut.node, resolved(cut.args[0])
    return None


def _is_averaged(program: Program, evaluation: Evaluated) -> bool:
    """Does a loop around it look at the same samples again and again, to average over random views?"""
    around = [part for part in evaluation.loop.around() if isinstance(part, Loop)]
    training = {id(loop) for feeding in trained(program) for loop in feeding.backward.loops()}
    return any(id(loop) not in training for loop in around)


def _is_changed_later(program: Program, data: Value) -> bool:
    """Is something about the data set, or what a part refers to, set anew from outside?"""
    for event in program.stores:
        base = resolved(event.target.base)
        if base is None or _is_own(event, data):
            continue
        if base is data or event.target.name in ("dataset", "indices"):
            return True
        if isinstance(base, Attribute) and base.name == "dataset":
            return True
    return False


def _is_own(event: Event, data: Value) -> bool:
    """Does the data set's own constructor set it?"""
    body = event.body
    return body is not None and body.function.owner is data and body.function.name == "__init__"
