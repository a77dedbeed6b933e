from __future__ import annotations

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Item, Operation, Value, constant, resolved
from netmend.program.meaning.arrays import Cut, cuts, same_numbers
from netmend.program.meaning.loaders import dataset_of, evaluated, loader_made, samples_of, trained
from netmend.program.meaning.operations import walk
from netmend.program.meaning.statements import is_for_evaluation, is_for_training

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Subset, TensorDataset\n\nx, y = torch.load('data.pt')\n"
SETS = """\
order = torch.randperm(len(full)).tolist()
train_loader = DataLoader(Subset(full, order{0}), batch_size=8, shuffle=True)
val_loader = DataLoader(Subset(full, order[400:]), batch_size=8)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for a, b in train_loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(a), b).backward()
    optimizer.step()
with torch.no_grad():
    for a, b in val_loader:
        print((net(a).argmax(1) == b).sum())
"""


class OverlappingParts(StaticRule, code="S511", cause="VAL-SPLIT"):
    """Training and test part are cut from the same data so that they share rows.

    Rows that were trained on are evaluated: the result shows what the network remembers, not what it can do on new data.

    Let the second part begin where the first one ends: `x[:800]` and `x[800:]`.
    """

    message = "These rows are also in the training part; make the parts disjoint."
    triggers = (
        "train_x",
        "train_X",
        "trainX",
        "train_idx",
        "train_i",
        "train_y",
        "x_train",
        "X_train",
        "Xtrain",
        "train_data",
        "train =",
        "train_set",
        "Subset(",
    )

    GOOD = (
        Snippet("side by side", HEAD + "x_train, x_test = x[:800], x[800:]\n"),
        Snippet(
            "look-back of a series",
            HEAD
            + "train = x[:800]\ntest = x[740:]\nwindows = [test[i - 60 : i] for i in range(60, len(test))]\n",
        ),
        Snippet("disjoint subsets", HEAD + "full = TensorDataset(x, y)\n" + SETS.format("[:400]")),
        Snippet("an alias in a smoke test", HEAD + "train_x = x[:20]\ntest_x = train_x\n"),
        Snippet(
            "ranges side by side",
            HEAD
            + "full = TensorDataset(x, y)\ntrain = Subset(full, range(0, 80))\nval = Subset(full, range(80, 100))\n",
        ),
    )
    BAD = (
        Snippet(
            "two permutations",
            HEAD + "train_idx = torch.randperm(1000)[:800]\nval_idx = torch.randperm(1000)[800:]\n",
            line=7,
        ),
        Snippet(
            "constants overlap", HEAD + "x_train, y_train = x[:800], y[:800]\nx_test = x[700:]\n", line=7
        ),
        Snippet(
            "test inside training",
            HEAD + "train_x = torch.tensor(x[0:1000])\nval_x = torch.tensor(x[900:1000])\n",
            line=7,
        ),
        Snippet(
            "everything trains",
            HEAD + "train_x, train_y = x, y\nval_x, val_y = x[700:], y[700:]\nnet = nn.Linear(4, 2)\n"
            "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor a, b in DataLoader(TensorDataset(train_x, train_y), shuffle=True):\n"
            "    opt.zero_grad()\n    nn.functional.cross_entropy(net(a), b).backward()\n    opt.step()\n",
            line=7,
        ),
        Snippet(
            "ranges overlap",
            HEAD
            + "full = TensorDataset(x, y)\ntrain = Subset(full, range(80))\nval = Subset(full, list(range(60, 100)))\n",
            line=8,
        ),
        Snippet("all indices train", HEAD + "full = TensorDataset(x, y)\n" + SETS.format(""), line=9),
    )

    def check(self, program: Program) -> Findings:
        known = [cut for cut in cuts(program) if cut.bounds() is not None]
        train = [cut for cut in known if is_for_training(cut.name)]
        test = [cut for cut in known if is_for_evaluation(cut.name)]
        for part in test:
            other = next(
                (
                    cut
                    for cut in train
                    if cut.item is not part.item
                    and (
                        (cut.base is part.base and _overlap(cut, part))
                        or _are_two_orders(cut.base, part.base)
                    )
                ),
                None,
            )
            if other is not None and not _is_windowed(program, part):
                yield self.finding(
                    program, part.event.node, see=[("The training part is cut here.", other.event.node)]
                )
        yield from self._whole(program)
        yield from self._subsets(program)
        yield from self._ranges(program)

    def _whole(self, program: Program) -> Findings:
        """All rows of an array train, and rows cut from the same array are the test part."""
        whole: set[int] = set()
        for feeding in trained(program):
            loader = loader_made(feeding.loader)
            for tensor in samples_of(program, dataset_of(loader)) or () if loader is not None else ():
                whole.add(id(same_numbers(tensor)))
        for part in cuts(program):
            if id(part.base) in whole and is_for_evaluation(part.name) and not _is_windowed(program, part):
                yield self.finding(program, part.event.node)
                break

    def _subsets(self, program: Program) -> Findings:
        """`Subset(full, order)` trains and `Subset(full, order[400:])` is evaluated."""
        fed = [_subset(loader_made(feeding.loader)) for feeding in trained(program)]
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            found = _subset(loader)
            if found is None:
                continue
            rows = resolved(found[1])
            if not isinstance(rows, Item) or not (
                isinstance(rows.key, Operation) and rows.key.operator == "slice"
            ):
                continue
            for other in fed:
                if (
                    other is not None
                    and other[0] is found[0]
                    and same_numbers(other[1]) is same_numbers(rows.base)
                ):
                    node = found[2].node
                    if node is not None:
                        yield self.finding(program, node)
                    break

    def _ranges(self, program: Program) -> Findings:
        """`train = Subset(full, range(80))` and `val = Subset(full, range(60, 100))`."""
        stored = []
        for event in program.events:
            value = event.value
            if isinstance(event, StoreEvent) and isinstance(value, Call):
                rows = (
                    _range(value.argument("indices", 1))
                    if value.qualified == "torch.utils.data.Subset"
                    else None
                )
                if rows is not None and value.args:
                    stored.append((event.target.name, resolved(value.args[0]), rows, event))
        for name, data, rows, event in stored:
            for other_name, other_data, other_rows, _ in stored:
                if (
                    (is_for_evaluation(name) or name == "val")
                    and is_for_training(other_name)
                    and data is other_data
                    and max(rows[0], other_rows[0]) < min(rows[1], other_rows[1])
                ):
                    yield self.finding(program, event.node)
                    break


def _range(value: Value | None) -> tuple[int, int] | None:
    """Start and end of `range(60, 100)`, in a list or not."""
    value = resolved(value)
    if isinstance(value, Call) and value.qualified == "list" and len(value.args) == 1:
        value = resolved(value.args[0])
    if not isinstance(value, Call) or value.qualified != "range" or not 1 <= len(value.args) <= 2:
        return None
    bounds = [constant(bound) for bound in value.args]
    if not all(isinstance(bound, int) for bound in bounds):
        return None
    return (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])


def _subset(loader: Call | None) -> tuple[Value, Value, Call] | None:
    dataset = dataset_of(loader) if loader is not None else None
    if (
        isinstance(dataset, Call)
        and dataset.qualified == "torch.utils.data.Subset"
        and len(dataset.args) == 2
    ):
        return resolved(dataset.args[0]), dataset.args[1], dataset
    return None


def _overlap(train: Cut, test: Cut) -> bool:
    one, other = train.bounds(), test.bounds()
    if one is None or other is None:
        return False
    end = min(bound for bound in (one[1], other[1], 10**12) if bound is not None)
    return max(one[0] or 0, other[0] or 0) < end


def _are_two_orders(one: Value, other: Value) -> bool:
    """Two permutations, drawn one after the other: their parts have nothing to do with each other."""
    orders = [resolved(value) for value in (one, other)]
    return one is not other and all(
        isinstance(order, Call)
        and order.qualified in ("torch.randperm", "numpy.random.permutation")
        and "generator" not in order.keywords
        for order in orders
    )


def _is_windowed(program: Program, cut: Cut) -> bool:
    """Are windows taken from the part, so that it needs rows from before its start?"""
    for event in program.events:
        for value in walk(event.value, into=lambda part: not isinstance(part, Item)):
            if isinstance(value, Item) and cut.item is not None and same_numbers(value.base) is cut.item:
                key = value.key
                if isinstance(key, Operation):
                    return not all(isinstance(bound, Const) for bound in key.operands[:2])
                return not isinstance(key, Const)
    return False
