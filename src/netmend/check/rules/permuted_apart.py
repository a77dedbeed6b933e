from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import RETURN, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, resolved
from netmend.program.meaning.arrays import SPLIT, same_numbers
from netmend.program.meaning.losses import losses
from netmend.program.meaning.operations import walk
from netmend.program.text.queries import inside

HEAD = "import numpy as np\nimport torch\nfrom torch.utils.data import Dataset, TensorDataset\nX, y = np.load('x.npy'), np.load('y.npy')\n"
PAIR = "data = TensorDataset(torch.tensor(X), torch.tensor(y))\n"
_MEANT = re.compile(
    "rand|perm|null|control|neg|shuff|scrambl|noise|corrupt|mismatch|mixup|mix_", re.IGNORECASE
)
LOOP = "net, opt = torch.nn.Linear(4, 3), make()\nfor {} in loader:\n    opt.zero_grad()\n{}    torch.nn.functional.cross_entropy(net({}), {}).backward()\n    opt.step()\n"
PARTS = (
    HEAD + "from sklearn.model_selection import train_test_split\nX1, X2, y1, y2 = train_test_split(X, y)\n"
)
SCORED = (
    "inputs, labels = torch.from_numpy(X1).float(), torch.from_numpy(y1)\nnet = torch.nn.Linear(4, 3)\n"
    "for i in range(0, len(inputs), 32):\n    torch.nn.functional.cross_entropy(net(inputs[i : i + 32]), labels[i : i + 32]).backward()\n"
)
_IN_PLACE = ("numpy.random.shuffle", "random.shuffle")
_SEEDS = (
    "numpy.random.seed",
    "random.seed",
    "numpy.random.set_state",
    "torch.manual_seed",
    "random.setstate",
)


class PermutedApart(StaticRule, code="S505", cause="DAT-LABEL"):
    """Inputs and labels are shuffled by two different permutations, or only one of the two is shuffled.

    Each input then gets the label of another one. The network can only learn the average label; the loss stays at the level of
    guessing and nothing complains.

    Draw one permutation and use it for both: `order = rng.permutation(len(X)); X, y = X[order], y[order]`.
    """

    message = (
        "Inputs and labels are shuffled separately, which mixes up the labels; use one permutation for both."
    )
    triggers = ("shuffle(", "permutation(", "randperm(")

    GOOD = (
        Snippet("one permutation", HEAD + "order = np.random.permutation(len(X))\nX, y = X[order], y[order]\n" + PAIR),
        Snippet("the same seed before each", HEAD + "np.random.seed(1)\nnp.random.shuffle(X)\nnp.random.seed(1)\nnp.random.shuffle(y)\n" + PAIR),
        Snippet("another part's labels", PARTS + "np.random.shuffle(y2)\n" + SCORED),
        Snippet("pairs in one table", HEAD + "kind = np.random.randint(0, 3, 500)\ntable = np.empty((500, 5))\nfor i, k in enumerate(kind):\n    table[i] = k\n"
                "np.random.shuffle(table)\ndata = TensorDataset(torch.tensor(table[:, :4]), torch.tensor(table[:, 4]))\n"),
        Snippet("two datasets", HEAD + "a = A[np.random.permutation(len(A))]\nb = B[np.random.permutation(len(B))]\n"
                "first, second = TensorDataset(a), TensorDataset(b)\n"),
        Snippet("both parts of the batch", HEAD + LOOP.format("x, y", "    order = torch.randperm(len(y))\n    x, y = x[order], y[order]\n", "x", "y")),
        Snippet("labels without meaning, as a control", HEAD + LOOP.format("x, y", "    random_y = y[torch.randperm(len(y))]\n", "x", "random_y")),
        Snippet("a test of permutation", HEAD + LOOP.format("x, y", "    if permute_labels:\n        y = y[torch.randperm(len(y))]\n", "x", "y")),
        Snippet("labels of other data", HEAD + LOOP.format("x", "    y = labels[torch.randperm(len(labels))]\n", "x", "y")),
    )  # fmt: skip
    BAD = (
        Snippet("shuffled in place", HEAD + "np.random.shuffle(X)\nnp.random.shuffle(y)\n" + PAIR, line=6),
        Snippet("only the labels of a split, in place", PARTS + "np.random.shuffle(y1)\n" + SCORED, line=7),
        Snippet("two permutations", HEAD + "rng = np.random.default_rng(0)\nX = X[rng.permutation(len(X))]\ny = y[rng.permutation(len(y))]\n" + PAIR, line=7),
        Snippet("in a dataset", HEAD + "class Data(Dataset):\n    def __init__(self, x, y):\n        self.x = x[torch.randperm(len(x))]\n"
                "        self.y = y[torch.randperm(len(y))]\n\n    def __getitem__(self, i):\n        return self.x[i], self.y[i]\n", line=8),
        Snippet("inputs filled label by label", HEAD + "kind = np.random.randint(0, 3, 500)\nseries = np.empty((500, 24))\nfor i, k in enumerate(kind):\n"
                "    series[i] = np.sin(k * np.arange(24))\nnp.random.shuffle(series)\ndata = TensorDataset(torch.from_numpy(series)[:400], torch.from_numpy(kind)[:400])\n", line=9),
        Snippet("inputs computed from labels", HEAD + "label = np.random.randint(0, 3, 500)\nrows = centres[label] + np.random.randn(500, 4)\nrng = np.random.default_rng(0)\n"
                "rng.shuffle(rows)\ndata = TensorDataset(torch.tensor(rows), torch.tensor(label))\n", line=8),
        Snippet("only the labels of a pair", HEAD + "X, y = load()\ny = y[np.random.permutation(len(y))]\n" + PAIR, line=6),
        Snippet("only the inputs", HEAD + "X, y = load()\nnp.random.shuffle(X)\n" + PAIR, line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        shuffled = list(_shuffled_in_place(program))
        for one, other in _pairs(program):
            problem = _two_permutations(one, other)
            if problem is None:
                problem = _two_shuffles(program, one, other, shuffled)
            if problem is None:
                problem = _inputs_alone(one, other, shuffled) or _labels_alone(program, one, other)
            if problem is None:
                problem = _labels_in_place(program, one, other, shuffled)
            if problem is None:
                problem = _made_for_labels(program, one, other, shuffled)
            if problem is not None:
                yield self.finding(program, problem.node)


def _pairs(program: Program) -> Iterator[tuple[Value, Value]]:
    """Inputs and labels that belong together row by row."""
    for event in program.calls:
        call = event.call
        if call.open:
            continue
        if call.qualified in ("torch.utils.data.TensorDataset", SPLIT) or (
            call.method == "fit" and len(call.args) >= 2
        ):
            given = [resolved(value) for value in call.args]
            if len(given) >= 2:
                yield given[0], given[1]
    for use in losses(program):
        if use.prediction is not None and use.target is not None and use.kind != "kl_div":
            yield use.prediction, use.target
    for given_back in program.events:
        value = given_back.value
        if given_back.kind == RETURN and isinstance(value, Collection) and value.kind == "tuple":
            items = [resolved(item) for item in value.items]
            for one, other in combinations(items, 2):
                if isinstance(one, Item) and isinstance(other, Item) and one.key is other.key:
                    yield one.base, other.base


def _permutations(value: Value) -> list[tuple[Value, Call]]:
    """Arrays that are put into a drawn order on the way to a value, each with the draw."""
    found: list[tuple[Value, Call]] = []
    for part in walk(value):
        if isinstance(part, Item):
            draw = same_numbers(part.key)
            if isinstance(draw, Call) and (draw.qualified or draw.method).rpartition(".")[2] in (
                "permutation",
                "randperm",
            ):
                found.append((part, draw))
    return found


def _two_permutations(one: Value, other: Value) -> Value | None:
    first, second = _permutations(one), _permutations(other)
    if len(first) != 1 or len(second) != 1:
        return None
    draw, again = first[0][1], second[0][1]
    if draw is again or _is_seeded_anew(draw) or _is_seeded_anew(again) or _nested(first[0][0], second[0][0]):
        return None
    return second[0][0]


def _is_seeded_anew(draw: Call) -> bool:
    """`RandomState(0).permutation(n)` or `randperm(n, generator=…)`: the order may be the same on purpose."""
    if "generator" in draw.keywords:
        return True
    return (
        draw.receiver is not None
        and draw.node is not None
        and isinstance(resolved(draw.receiver), Call)
        and (resolved(draw.receiver).node is not None and _is_inside(resolved(draw.receiver), draw))
    )


def _is_inside(inner: Value, outer: Call) -> bool:
    return any(part is inner.node for part in inside(outer.node, ast.AST))


def _nested(one: Value, other: Value) -> bool:
    return any(part is one for part in walk(other)) or any(part is other for part in walk(one))


def _shuffled_in_place(program: Program) -> Iterator[tuple[Event, Value]]:
    for event in program.calls:
        call = event.call
        if not call.args:
            continue
        if call.qualified in _IN_PLACE or (call.method == "shuffle" and len(call.args) == 1):
            yield event, resolved(call.args[0])


def _two_shuffles(
    program: Program, one: Value, other: Value, shuffled: list[tuple[Event, Value]]
) -> Value | None:
    """The second of two in-place shuffles right after another, of what both sides are computed from."""
    for (first, left), (second, right) in pairwise(shuffled):
        if left is right or first.block is not second.block:
            continue
        ids = (same_numbers(one), same_numbers(other))
        if {id(left), id(right)} != {id(value) for value in ids}:
            continue
        between = (event for event in first.block.events() if first.order < event.order < second.order)
        if any(event.call is not None and event.call.qualified in _SEEDS for event in between):
            continue
        return Value(second.node)
    return None


def _inputs_alone(inputs: Value, labels: Value, shuffled: list[tuple[Event, Value]]) -> Value | None:
    """The shuffle of the inputs, where `x, y = load()` came as a pair and the labels kept their order."""
    held, kept = same_numbers(inputs), same_numbers(labels)
    if not isinstance(held, Item) or not isinstance(kept, Item):
        return None
    if resolved(held.base) is not resolved(kept.base):
        return None
    if held.key is kept.key or any(value is kept for _, value in shuffled):
        return None
    if not isinstance(held.key, Const) or not isinstance(kept.key, Const) or held.key.value == kept.key.value:
        return None
    return next((Value(event.node) for event, value in shuffled if value is held), None)


def _labels_alone(program: Program, inputs: Value, labels: Value) -> Value | None:
    """`y[torch.randperm(len(y))]` of a batch or pair whose inputs keep their order."""
    drawn = _permutations(labels)
    if len(drawn) != 1 or _permutations(inputs) or _is_seeded_anew(drawn[0][1]):
        return None
    mixed = drawn[0][0]
    if not isinstance(mixed, Item) or mixed.node is None or _is_meant(program, mixed.node):
        return None
    kept = same_numbers(mixed.base)
    if not isinstance(kept, Item) or not isinstance(kept.key, Const):
        return None
    pair = resolved(kept.base)
    partners = (part for part in walk(inputs) if isinstance(part, Item) and resolved(part.base) is pair)
    return mixed if any(_is_other(part.key, kept.key) for part in partners) else None


def _labels_in_place(
    program: Program, inputs: Value, labels: Value, shuffled: list[tuple[Event, Value]]
) -> Value | None:
    """The shuffle of labels that came beside their inputs, as from a split, where the inputs kept their order."""
    kept = _whole(labels)
    if not isinstance(kept, Item) or not isinstance(kept.key, Const):
        return None
    event = next((event for event, value in shuffled if value is kept), None)
    if event is None or _is_meant(program, event.node):
        return None
    pair = resolved(kept.base)
    partners = [part for part in walk(inputs) if isinstance(part, Item) and resolved(part.base) is pair]
    partners = [part for part in partners if _is_other(part.key, kept.key)]
    moved = any(value is part for _, value in shuffled for part in partners)
    return Value(event.node) if partners and not moved else None


def _is_other(key: Value, known: Const) -> bool:
    return isinstance(key, Const) and key.value != known.value


def _is_meant(program: Program, node: ast.AST) -> bool:
    """Labels without meaning on purpose: a control, a permutation test, negative pairs."""
    statement = node
    while (above := program.parent(statement)) is not None and not isinstance(statement, ast.stmt):
        statement = above
    names = [getattr(above, "name", "") for above in program.above(node)]
    stored = [part.id for part in inside(statement, ast.Name) if isinstance(part.ctx, ast.Store)]
    tests = [ast.unparse(above.test) for above in program.above(node) if isinstance(above, ast.If)]
    return any(_MEANT.search(word) for word in (*names, *stored, *tests))


def _made_for_labels(
    program: Program, inputs: Value, labels: Value, shuffled: list[tuple[Event, Value]]
) -> Value | None:
    """The shuffle of inputs that were computed row by row from the labels, which kept their order."""
    kept = _whole(labels)
    if not shuffled or isinstance(kept, Const) or any(value is kept for _, value in shuffled):
        return None
    used = {id(part) for part in walk(inputs)}
    for event, value in shuffled:
        if id(value) not in used or value is kept or any(part is value for part in walk(labels)):
            continue
        if any(_takes(part, kept) for part in walk(value)) or _is_filled_along(program, value, kept, event):
            return Value(event.node)
    return None


def _takes(part: Value, labels: Value) -> bool:
    """Is it the labels, or looked up with them: `centres[labels]`?"""
    return part is labels or (isinstance(part, Item) and same_numbers(part.key) is labels)


def _whole(value: Value) -> Value:
    """The array behind conversions and slices."""
    value = same_numbers(value)
    while isinstance(value, Item) and not isinstance(value.key, Const):
        value = same_numbers(value.base)
    return value


def _is_filled_along(program: Program, array: Value, labels: Value, before: Event) -> bool:
    """`for i, label in enumerate(labels): array[i] = …`."""
    for event in program.events:
        target = event.target
        if target is None or target.base is None or resolved(target.base) is not array:
            continue
        for loop in event.loops():
            source = resolved(loop.iterable)
            is_counted = isinstance(source, Call) and source.qualified == "enumerate" and bool(source.args)
            if is_counted and isinstance(source, Call) and same_numbers(source.args[0]) is labels:
                return event.order < before.order
    return False
