"""Data in order that should be mixed, and mixed that should be in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Element, Item, Value, constant, resolved
from netmend.program.meaning.loaders import Fed, dataset_of, evaluated, loader_made, trained
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.orders import fits_in_one_batch, order_is_plain
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.training import loss_of
from netmend.vocabulary.finding import Fix

TRAINING_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
from torchvision import datasets, transforms

net = nn.Linear(784, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train_set = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
"""
TRAINING_LOOP = """\
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


class TrainingLoaderNotShuffled(StaticRule, code="S501", cause="API-SHUFFLE-POS", in_tests=False):
    """The loader that feeds the training loop gives the samples in the same order in every epoch.

    Datasets are often sorted, by class or by time of recording. Batches of one kind pull the weights to and fro, and batch norm
    sees skewed statistics; the network learns badly or forgets.

    Give the training loader `shuffle=True` (evaluation needs none). Leave it only where order carries meaning. Loops that use no
    labels (autoencoders, generators, style transfer) are left alone.
    """

    message = "This loader feeds the training loop without shuffling; add shuffle=True."
    triggers = ("DataLoader(",)

    GOOD = (
        Snippet("shuffled", TRAINING_HEAD + "loader = DataLoader(train_set, batch_size=64, shuffle=True)\n" + TRAINING_LOOP),
        Snippet("a sampler decides", TRAINING_HEAD + "sampler = torch.utils.data.RandomSampler(train_set)\n"
                "loader = DataLoader(train_set, batch_size=64, sampler=sampler)\n" + TRAINING_LOOP),
        Snippet("a stream cannot be shuffled", TRAINING_HEAD + "class Stream(IterableDataset):\n    def __iter__(self):\n        return iter(source)\n\n"
                "loader = DataLoader(Stream(), batch_size=64)\n" + TRAINING_LOOP),
        Snippet("split at random before", TRAINING_HEAD + "train_set, val_set = random_split(train_set, [50000, 10000])\n"
                "loader = DataLoader(train_set, batch_size=64)\n" + TRAINING_LOOP),
        Snippet("windows of a series", TRAINING_HEAD + WINDOWS + "loader = DataLoader(Windows(series), batch_size=64)\n" + TRAINING_LOOP),
        Snippet("all at once", TRAINING_HEAD + "loader = DataLoader(train_set, batch_size=len(train_set))\n" + TRAINING_LOOP),
        Snippet("each item is drawn anew", TRAINING_HEAD + OWN.replace("[i]", "[torch.randint(len(self.x), ())]") + "loader = DataLoader(Rows(a, b), batch_size=8)\n" + TRAINING_LOOP),
        Snippet("as many as the batch holds", TRAINING_HEAD + OWN.replace("return len(self.x)", "return 4") + "loader = DataLoader(Rows(a, b), batch_size=4)\n" + TRAINING_LOOP),
        Snippet("one batch of a few rows", TRAINING_HEAD + "x, y = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), torch.tensor([0, 1, 1, 0])\n"
                "loader = DataLoader(TensorDataset(x, y), batch_size=4)\n" + TRAINING_LOOP),
        Snippet("one batch of made rows", TRAINING_HEAD + "loader = DataLoader(TensorDataset(torch.zeros(4, 2), torch.arange(4)), batch_size=8)\n" + TRAINING_LOOP),
        Snippet("not known", TRAINING_HEAD + "loader = DataLoader(train_set, batch_size=64, shuffle=mix)\n" + TRAINING_LOOP),
        Snippet("no labels", TRAINING_HEAD + "loader = DataLoader(train_set, batch_size=64)\nfor x, _ in loader:\n    x = x.flatten(1)\n    optimizer.zero_grad()\n"
                "    nn.functional.mse_loss(net(x), x).backward()\n    optimizer.step()\n"),
        Snippet("an attack on the inputs", TRAINING_HEAD + "loader = DataLoader(train_set)\nfor x, y in loader:\n    x.requires_grad = True\n"
                "    nn.functional.cross_entropy(net(x), y).backward()\n    show(x.grad)\n"),
    )  # fmt: skip
    BAD = (
        mended("missing", TRAINING_HEAD + "loader = DataLoader(train_set, batch_size=64⟨ → , shuffle=True⟩)\n" + TRAINING_LOOP),
        mended("switched off", TRAINING_HEAD + OWN + "loader = DataLoader(\n    Rows(a, b),\n    batch_size=64,\n    shuffle=⟨False → True⟩,  # faster\n)\n" + TRAINING_LOOP, line=19),
        mended("more rows than the batch holds", TRAINING_HEAD + OWN.replace("return len(self.x)", "return 400") + "loader = DataLoader(Rows(a, b), batch_size=4⟨ → , shuffle=True⟩)\n" + TRAINING_LOOP),
        Snippet("given to a function", TRAINING_HEAD + "def fit(net, loader, optimizer):\n" + "".join("    " + line + "\n" for line in TRAINING_LOOP.splitlines())
                + "\nfit(net, DataLoader(TensorDataset(a, b), batch_size=32), optimizer)\n", line=16),
        Snippet("in a trainer", "import torch\nfrom torch.utils.data import DataLoader\nfrom torchvision.datasets import ImageFolder\n"
                "class Trainer:\n    def __init__(self, net):\n        self.net = net\n        self.opt = torch.optim.Adam(net.parameters())\n"
                "        self.loader = DataLoader(ImageFolder('train', transform), batch_size=8)\n\n    def fit(self):\n"
                "        for i, (x, y) in enumerate(self.loader):\n            self.opt.zero_grad()\n            loss = torch.nn.functional.cross_entropy(self.net(x), y)\n"
                "            loss.backward()\n            self.opt.step()\n\nTrainer(torch.nn.Linear(4, 2)).fit()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        for fed in trained(program):
            loader = loader_made(fed.loader)
            if loader is None or id(loader) in seen:
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
    size = resolved(size)
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


EVALUATION_HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\nresults = []\n"
EVALUATION_LOOP = "with torch.no_grad():\n    for x, y in loader:\n        results.append(net(x).argmax(1))\n"


class ShuffledEvaluationOrder(StaticRule, code="S502", cause="VAL-METRIC", advisory=True):
    """Predictions are collected from a loader that shuffles.

    They come in another order than the samples of the dataset, and another one each time. Put beside the dataset's labels, names
    or a table, each prediction stands at a foreign sample.

    Leave `shuffle` out for evaluation, or collect labels and ids in the same loop.
    """

    message = "Predictions are collected in shuffled order; do not shuffle this loader."
    triggers = ("shuffle=True",)

    GOOD = (
        Snippet("in order", EVALUATION_HEAD + "loader = DataLoader(data, batch_size=64)\n" + EVALUATION_LOOP),
        Snippet("only counted", EVALUATION_HEAD + "loader = DataLoader(data, batch_size=64, shuffle=True)\nhits = 0\nwith torch.no_grad():\n    for x, y in loader:\n"
                "        hits += (net(x).argmax(1) == y).sum()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("collected", EVALUATION_HEAD + "loader = DataLoader(data, batch_size=64, shuffle=True)\n" + EVALUATION_LOOP, line=5),
        Snippet("in a function", EVALUATION_HEAD + "@torch.no_grad()\ndef predict(net, loader):\n    found = []\n    for batch in loader:\n"
                "        found.extend(net(batch).tolist())\n    return found\n\npredict(net, DataLoader(data, batch_size=9, shuffle=True))\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        fed = {id(loader_made(feeding.loader)) for feeding in trained(program)}
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or id(loader) in fed:
                continue
            if constant(loader.argument("shuffle", 2)) is not True:
                continue
            kept = [
                event.call.args[0]
                for event in evaluation.loop.body.events()
                if event.call is not None and event.call.method in ("append", "extend") and event.call.args
            ]
            from_loader = [
                value
                for value in kept
                if any(
                    isinstance(part, Element) and resolved(part.iterable) is loader for part in walk(value)
                )
            ]
            if len(from_loader) == 1:
                yield self.finding(program, loader.node)


LATE_HEAD = "import tensorflow as tf\n\ndata = tf.data.Dataset.from_tensor_slices((x, y))\n"
_KEEPS_BATCHES = frozenset(("map", "prefetch", "cache", "repeat", "take", "skip", "filter", "with_options"))


class ShuffledAfterBatching(StaticRule, code="S522", cause="API-SHUFFLE-POS", in_tests=False):
    """A `tf.data` pipeline is shuffled after it was cut into batches.

    Then whole batches change places, and each batch holds the same neighbours in every epoch. With data in the order of their classes
    a batch knows one class only, and training jumps from class to class.

    Shuffle first: `dataset.shuffle(size).batch(32)`.
    """

    message = "This shuffles finished batches, not samples; call shuffle() before batch()."
    triggers = (".shuffle(",)
    needs = "tensorflow"

    GOOD = (
        Snippet("shuffled first", LATE_HEAD + "data = data.shuffle(1000).batch(32).prefetch(1)\n"),
        Snippet("both", LATE_HEAD + "data = data.shuffle(1000).batch(32).shuffle(10)\n"),
        Snippet("a look at some", LATE_HEAD + "data = data.batch(32)\nshown = next(iter(data.shuffle(100).take(1)))\n"),
        Snippet("mixed before", "import random\n" + LATE_HEAD.replace("data =", "random.shuffle(pairs)\ndata =") + "data = data.batch(32).shuffle(1000)\n"),
        Snippet("one by one", LATE_HEAD + "data = data.batch(1).shuffle(1000)\n"),
        Snippet("batched elsewhere", "import tensorflow as tf\n\ndata = tf.keras.utils.image_dataset_from_directory('flowers')\ndata = data.cache().shuffle(1000).prefetch(1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in one chain", LATE_HEAD + "data = data.batch(32).shuffle(1000)\n", line=4),
        Snippet("step by step", "import tensorflow as tf\n\ndef pipeline(x, y):\n    ds = tf.data.Dataset.from_tensor_slices((x, y))\n    ds = ds.map(scale)\n    ds = ds.batch(64)\n"
                "    ds = ds.shuffle(buffer_size=500)\n    return ds.prefetch(tf.data.AUTOTUNE)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if "random.shuffle(" in program.text or "permutation(" in program.text:
            return  # mixed before; the batches stay the same, which harms little
        later = {
            id(step)
            for event in program.methods_of("batch", "padded_batch", "take")
            for step in _chain(event.call.receiver)
        }
        for event in program.methods_of("shuffle"):
            call = event.call
            if id(call) in later:
                continue
            steps = list(_chain(call.receiver))
            names = [step.method or step.qualified for step in steps]
            if not names or names[-1] != "tensorflow.data.Dataset.from_tensor_slices":
                continue
            before = next((at for at, name in enumerate(names) if name not in _KEEPS_BATCHES), 0)
            if (
                names[before] in ("batch", "padded_batch")
                and constant(steps[before].argument("batch_size", 0)) != 1
                and "shuffle" not in names
                and "window" not in names
            ):
                yield self.finding(program, event.node)


def _chain(value: Value | None) -> Iterator[Call]:
    """A pipeline's steps, the last one first."""
    while value is not None:
        value = resolved(value)
        if not isinstance(value, Call):
            return
        yield value
        value = value.receiver
