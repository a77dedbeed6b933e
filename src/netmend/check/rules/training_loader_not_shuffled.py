from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Item, Value, constant, resolved
from netmend.program.meaning.arguments import with_argument
from netmend.program.meaning.loaders_of_models import Fed, dataset_of, loader_made, trained
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.orders import fits_in_one_batch, order_is_plain
from netmend.program.meaning.test_code import is_test_code
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
from torchvision import datasets, transforms

net = nn.Linear(784, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train_set = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
"""
LOOP = """\
for epoch in range(5):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x.flatten(1)), y).backward()
        optimizer.step()
"""
OWN = """\
class Rows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

"""
WINDOWS = """\
class Windows(Dataset):
    def __init__(self, series):
        self.series = series

    def __getitem__(self, i):
        return self.series[i : i + 20], self.series[i + 20]

"""


@register
class TrainingLoaderNotShuffled(StaticRule):
    """The loader that feeds the training loop gives the samples in the same order in every epoch.

    Datasets are often sorted, by class or by time of recording. Batches of one kind pull the weights to and fro, and batch norm
    sees skewed statistics; the network learns badly or forgets.

    Give the training loader `shuffle=True` (evaluation needs none). Leave it only where order carries meaning. Loops that use no
    labels (autoencoders, generators, style transfer) are left alone.
    """

    code = "S501"
    cause = "API-SHUFFLE-POS"
    message = "This loader feeds the training loop without shuffling; add shuffle=True."
    triggers = ("DataLoader(",)

    GOOD = (
        Snippet("shuffled", HEAD + "loader = DataLoader(train_set, batch_size=64, shuffle=True)\n" + LOOP),
        Snippet("by position", HEAD + "loader = DataLoader(train_set, 64, True)\n" + LOOP),
        Snippet("a sampler decides", HEAD + "sampler = torch.utils.data.RandomSampler(train_set)\n"
                "loader = DataLoader(train_set, batch_size=64, sampler=sampler)\n" + LOOP),
        Snippet("only evaluated", HEAD + "loader = DataLoader(train_set, batch_size=64)\nwith torch.no_grad():\n    for x, y in loader:\n"
                "        print(net(x.flatten(1)).argmax(1) == y)\n"),
        Snippet("a stream cannot be shuffled", HEAD + "class Stream(IterableDataset):\n    def __iter__(self):\n        return iter(source)\n\n"
                "loader = DataLoader(Stream(), batch_size=64)\n" + LOOP),
        Snippet("split at random before", HEAD + "train_set, val_set = random_split(train_set, [50000, 10000])\n"
                "loader = DataLoader(train_set, batch_size=64)\n" + LOOP),
        Snippet("windows of a series", HEAD + WINDOWS + "loader = DataLoader(Windows(series), batch_size=64)\n" + LOOP),
        Snippet("all at once", HEAD + "loader = DataLoader(train_set, batch_size=len(train_set))\n" + LOOP),
        Snippet("a dataset of one image", HEAD + OWN.replace("return len(self.x)", "return 1").replace("[i]", "") + "loader = DataLoader(Rows(a, b), batch_size=1)\n" + LOOP),
        Snippet("each item is drawn anew", HEAD + OWN.replace("[i]", "[torch.randint(len(self.x), ())]") + "loader = DataLoader(Rows(a, b), batch_size=8)\n" + LOOP),
        Snippet("as many as the batch holds", HEAD + OWN.replace("return len(self.x)", "return 4") + "loader = DataLoader(Rows(a, b), batch_size=4)\n" + LOOP),
        Snippet("one batch of a few rows", HEAD + "x, y = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), torch.tensor([0, 1, 1, 0])\n"
                "loader = DataLoader(TensorDataset(x, y), batch_size=4)\n" + LOOP),
        Snippet("one batch of made rows", HEAD + "loader = DataLoader(TensorDataset(torch.zeros(4, 2), torch.arange(4)), batch_size=8)\n" + LOOP),
        Snippet("not known", HEAD + "loader = DataLoader(train_set, batch_size=64, shuffle=mix)\n" + LOOP),
        Snippet("no labels", HEAD + "loader = DataLoader(train_set, batch_size=64)\nfor x, _ in loader:\n    x = x.flatten(1)\n    optimizer.zero_grad()\n"
                "    nn.functional.mse_loss(net(x), x).backward()\n    optimizer.step()\n"),
        Snippet("measured before", HEAD + "plain = DataLoader(train_set, batch_size=64)\nmean = torch.stack([x.mean() for x, y in plain]).mean()\n"
                "train_set = datasets.MNIST('data', transform=transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, 1.0)]))\n"
                "loader = DataLoader(train_set, batch_size=64, shuffle=True)\n" + LOOP),
        Snippet("an attack on the inputs", HEAD + "loader = DataLoader(train_set)\nfor x, y in loader:\n    x.requires_grad = True\n"
                "    nn.functional.cross_entropy(net(x), y).backward()\n    show(x.grad)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("missing", HEAD + "loader = DataLoader(train_set, batch_size=64)\n" + LOOP, line=9,
                fixed=HEAD + "loader = DataLoader(train_set, batch_size=64, shuffle=True)\n" + LOOP),
        Snippet("switched off", HEAD + OWN + "loader = DataLoader(\n    Rows(a, b),\n    batch_size=64,\n    shuffle=False,  # faster\n)\n" + LOOP, line=19,
                fixed=HEAD + OWN + "loader = DataLoader(\n    Rows(a, b),\n    batch_size=64,\n    shuffle=True,  # faster\n)\n" + LOOP),
        Snippet("more rows than the batch holds", HEAD + OWN.replace("return len(self.x)", "return 400") + "loader = DataLoader(Rows(a, b), batch_size=4)\n" + LOOP, line=19,
                fixed=HEAD + OWN.replace("return len(self.x)", "return 400") + "loader = DataLoader(Rows(a, b), batch_size=4, shuffle=True)\n" + LOOP),
        Snippet("given to a function", HEAD + "def fit(net, loader, optimizer):\n" + "".join("    " + line + "\n" for line in LOOP.splitlines())
                + "\nfit(net, DataLoader(TensorDataset(a, b), batch_size=32), optimizer)\n", line=16),
        Snippet("in a trainer", "import torch\nfrom torch.utils.data import DataLoader\nfrom torchvision.datasets import ImageFolder\n"
                "class Trainer:\n    def __init__(self, net):\n        self.net = net\n        self.opt = torch.optim.Adam(net.parameters())\n"
                "        self.loader = DataLoader(ImageFolder('train', transform), batch_size=8)\n\n    def fit(self):\n"
                "        for i, (x, y) in enumerate(self.loader):\n            self.opt.zero_grad()\n            loss = torch.nn.functional.cross_entropy(self.net(x), y)\n"
                "            loss.backward()\n            self.opt.step()\n\nTrainer(torch.nn.Linear(4, 2)).fit()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for fed in trained(program) if not is_test_code(program) else ():
            loader = loader_made(fed.loader)
            if loader is None or loader.node is None or id(loader) in seen:
                continue
            seen.add(id(loader))
            if (
                _keeps_order(loader)
                and not fits_in_one_batch(dataset_of(loader), constant(loader.argument("batch_size", 1), 1))
                and order_is_plain(program, dataset_of(loader))
                and not _is_sequential(fed)
                and not _is_unlabelled(program, loader)
            ):
                edits = with_argument(program, loader.node, "shuffle", "True")
                positional = loader.argument("shuffle", 2) is not None and "shuffle" not in loader.keywords
                fix = Fix("Shuffle the training data", edits) if edits and not positional else None
                yield self.finding(program, loader.node, fix=fix)


def _keeps_order(loader: Call) -> bool:
    if loader.open or constant(loader.argument("shuffle", 2), False) is not False:
        return False
    if loader.argument("shuffle", 2) is not None and not isinstance(loader.argument("shuffle", 2), Const):
        return False
    for name, position in (("sampler", 3), ("batch_sampler", 4)):
        given = loader.argument(name, position)
        if given is not None and not (isinstance(given, Const) and given.value is None):
            return False
    size = loader.argument("batch_size", 1)
    size = resolved(size) if size is not None else None
    return not (isinstance(size, Call) or (isinstance(size, Const) and size.value is None))


def _is_unlabelled(program: Program, loader: Call) -> bool:
    """Does one part of the batch alone reach the losses? Without labels there are no batches of one kind."""
    parts: set[object] = set()
    for fed in trained(program):
        if loader_made(fed.loader) is not loader:
            continue
        batch = fed.element
        for value in walk(loss_of(fed.backward), into=partial(_is_no_part, batch)):
            if value is batch:
                return False
            if isinstance(value, Item) and not _is_no_part(batch, value):
                parts.add(constant(value.key, value))
    return len(parts) == 1


def _is_no_part(batch: Value, value: Value) -> bool:
    return not isinstance(value, Item) or resolved(value.base) is not batch


def _is_sequential(fed: Fed) -> bool:
    """Is the model recurrent? Then order may carry state from batch to batch."""
    for value in walk(loss_of(fed.backward)):
        op = operation(value)
        if (
            op is not None
            and op.layer is not None
            and op.name in ("lstm", "gru", "rnn", "lstmcell", "grucell", "rnncell")
        ):
            return True
    return False
