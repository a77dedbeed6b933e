"""Neighbours among which the query itself is counted."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.operations import behind, walk
from netmend.program.meaning.rows import made_of
from netmend.program.meaning.scores import KEEPS, MASKED, comparisons
from netmend.program.meaning.sequences import alike
from netmend.vocabulary.finding import Finding

SELF_HEAD = """import torch
from torch import nn
from sklearn.neighbors import NearestNeighbors
x, y = torch.load("x.pt"), torch.load("y.pt")
net = nn.Linear(64, 8)
z = net(x)
"""
_HITS = "print((y[near] == y[:, None]).float().mean())\n"
_PAIRS = frozenset(("cdist", "cosine_similarity", "pairwise_distances", "euclidean_distances", "pairwise_cosine_similarity", "linear_kernel",
                    "pairwise_euclidean_distance", "distance_matrix"))  # fmt: skip
_RANKS = frozenset(("topk", "argsort", "sort", "argmin", "argmax", "min", "max", "kthvalue", "argpartition"))


class QueryAmongItsNeighbours(StaticRule, code="S955", cause="VAL-METRIC"):
    """Every query is looked for among all samples, itself included, and counts as its own nearest neighbour.

    The distance of a sample to itself is 0, so its first neighbour is always itself and has the right label: one of the hits is given
    away, and with one neighbour the score is 1 whatever the network has learned.

    Put the diagonal out of reach (`distances.fill_diagonal_(float("inf"))`), or take one neighbour more and leave the first one out.
    """

    message = "Each sample is among its own nearest neighbours, which always counts as right; put the diagonal out of reach: {0}.fill_diagonal_({1}float('inf'))."
    neighbours = "Each sample is its own nearest neighbour, which always counts as right; ask for one neighbour more and leave out the first: [:, 1:]."
    own_rows = "The neighbours are looked for among the very rows that are asked about, so each row finds itself first; ask about rows that it was not fitted to."
    triggers = (
        "topk(",
        "argsort(",
        "sort(",
        "argmin(",
        "argmax(",
        "kneighbors(",
        "KNeighbors",
        ".min(",
        ".max(",
        "argpartition(",
    )
    patterns = (r"cdist\(|cosine_similarity\(|pairwise_|\.T\b|\.t\(\)|kneighbors\(",)

    GOOD = (
        Snippet("the diagonal is put out of reach", SELF_HEAD + "d = torch.cdist(z, z)\nd.fill_diagonal_(float('inf'))\nnear = d.topk(5, largest=False).indices\n" + _HITS),
        Snippet("masked", SELF_HEAD + "s = z @ z.T\ns = s.masked_fill(torch.eye(len(z)).bool(), -1e9)\nnear = s.topk(5).indices\n" + _HITS),
        Snippet("the first is left out", SELF_HEAD + "near = torch.cdist(z, z).argsort(1)[:, 1:6]\n" + _HITS),
        Snippet("one more is asked for", SELF_HEAD + "near = (z @ z.T).topk(6, dim=1).indices[:, 1:]\n" + _HITS),
        Snippet("one by one, without itself", SELF_HEAD + "hits = 0\nfor i in range(len(z)):\n    near = z @ z[i]\n    near[i] = -1\n    hits += int(y[near.argmax()] == y[i])\n"),
        Snippet("another gallery", SELF_HEAD + "g, t = net(torch.load('g.pt')), torch.load('t.pt')\nnear = torch.cdist(z, g).topk(5, largest=False).indices\nprint((t[near] == y[:, None]).float().mean())\n"),
        Snippet("a graph of neighbours", SELF_HEAD + "near = torch.cdist(z, z).topk(5, largest=False).indices\nprint(z[near].mean(1))\n"),
        Snippet("scikit-learn leaves it out", SELF_HEAD + "near = NearestNeighbors(n_neighbors=5).fit(z).kneighbors()[1]\n" + _HITS),
    )  # fmt: skip
    BAD = (
        Snippet("distances", SELF_HEAD + "d = torch.cdist(z, z)\nnear = d.topk(5, dim=1, largest=False).indices\n" + _HITS, line=7),
        Snippet("products", SELF_HEAD + "z = nn.functional.normalize(z, dim=1)\ns = z @ z.T\n_, near = s.topk(5, dim=1)\n" + _HITS, line=8),
        Snippet("sorted", SELF_HEAD + "near = torch.cdist(z, z).argsort(dim=1)[:, :5]\n" + _HITS, line=7),
        Snippet("the nearest", SELF_HEAD + "near = torch.mm(z, z.t()).argmax(1)\nprint((y[near] == y).float().mean())\n", line=7),
        Snippet("in a function", "import torch\n\n@torch.no_grad()\ndef precision(net, x, y, k=5):\n    z = net(x)\n    near = torch.cdist(z, z).topk(k, largest=False).indices\n    return (y[near] == y[:, None]).float().mean()\n", line=6),
        Snippet("one by one", SELF_HEAD + "hits = 0\nfor i in range(len(z)):\n    best = (z @ z[i]).argmax()\n    hits += int(y[best] == y[i])\n", line=9),
        Snippet("a classifier by neighbours", SELF_HEAD + "from sklearn.neighbors import KNeighborsClassifier\nknn = KNeighborsClassifier(5).fit(z, y)\nprint(knn.score(z, y))\n", line=9),
        Snippet("scikit-learn", SELF_HEAD + "search = NearestNeighbors(n_neighbors=5).fit(z)\n_, near = search.kneighbors(z)\n" + _HITS, line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for compared in comparisons(program):
            for found, own in (compared.sides, compared.sides[::-1]):
                picked = _picked(found)
                if picked is None or not _are_same(program, picked.base, own):
                    continue
                for part in _ranking(picked.key):
                    yield self._at(program, part)

        for event in program.methods_of("score", "predict"):
            made = _made(event.call.receiver)
            data = event.call.argument("X", 0)
            fitted = _fitted(program, event.call.receiver)
            is_search = made.endswith(("KNeighborsClassifier", "KNeighborsRegressor"))
            if is_search and data is not None and fitted is not None and _are_same(program, fitted, data):
                yield self.finding(program, event.node, self.own_rows)

    def _at(self, program: Program, ranking: Call) -> Finding | None:
        if ranking.method == "kneighbors":
            fitted = _fitted(program, ranking.receiver)
            given = ranking.argument("X", 0)
            if fitted is None or given is None or not _are_same(program, fitted, given):
                return None
            return self.finding(program, ranking.node, self.neighbours)
        pairs = _pairs_of_one(program, ranking)
        if pairs is None or pairs.node is None:
            return None
        sign = "" if "dist" in (getattr(pairs, "qualified", "") + getattr(pairs, "method", "")) else "-"
        name = "distances" if not sign else "similarities"
        return self.finding(
            program,
            pairs.node,
            self.message.format(name, sign),
            see=[("The neighbours are taken here.", ranking.node or pairs.node)],
        )


def _picked(value: Value) -> Item | None:
    """`y[near]`, behind conversions."""
    value = same_numbers(value)
    return value if isinstance(value, Item) and not isinstance(resolved(value.key), Const) else None


def _are_same(program: Program, one: Value, other: Value) -> bool:
    one, other = same_numbers(one), same_numbers(other)
    while isinstance(other, Item) and (_adds_axis(other.key) or _is_counter(other.key)):
        other = same_numbers(other.base)
    return one is other or alike(one, other)


def _is_counter(key: Value) -> bool:
    """The number of the query in a loop over all of them."""
    return isinstance(resolved(key), Element)


def _adds_axis(key: Value) -> bool:
    """`[:, None]`"""
    key = resolved(key)
    return isinstance(key, Collection) and all(
        constant(part, 0) is None or (isinstance(part, Operation) and part.operator == "slice")
        for part in map(resolved, key.items)
    )


def _ranking(key: Value) -> Iterator[Call]:
    """The `topk` whose places are used; none where the first place is left out."""
    value = resolved(key)
    for _ in range(8):
        if isinstance(value, Item):
            if _leaves_first(value.key):
                return
            value = resolved(value.base)
        elif isinstance(value, Attribute):
            value = resolved(value.base)
        elif isinstance(value, Call):
            name = (value.method or value.qualified).rpartition(".")[2]
            if name in _RANKS or name == "kneighbors":
                yield value
                return
            if name not in KEEPS or value.subject is None:
                return
            value = resolved(value.subject)
        else:
            return


def _leaves_first(key: Value) -> bool:
    """`[:, 1:]`, `[:, 1]`, `[1:6]`; the number behind a tuple's part is no place."""
    key = resolved(key)
    parts = [resolved(part) for part in key.items] if isinstance(key, Collection) else [key]
    for part in parts:
        if isinstance(part, Operation) and part.operator == "slice":
            start = part.operands[0]
            if not (isinstance(start, Const) and start.value in (None, 0)):
                return not (isinstance(start, Operation) and start.operator == "neg")
    return len(parts) > 1 and isinstance(constant(parts[-1]), int) and constant(parts[-1]) != 0


def _pairs_of_one(program: Program, ranking: Call) -> Value | None:
    """The distances or products of all pairs of one set of samples that are ranked; None where the diagonal is taken care of."""
    ranked = ranking.subject
    chain = list(walk(ranked, into=lambda part: _pair(program, part) is None))
    if any(
        isinstance(part, Call) and (part.method or part.qualified).rpartition(".")[2] in MASKED
        for part in made_of(program, ranked)
    ):
        return None
    ids = {id(part) for part in chain} | {id(same_numbers(part)) for part in chain}
    for event in program.calls:
        name = (event.call.method or event.call.qualified).rpartition(".")[2]
        if name in ("fill_diagonal_", "fill_diagonal", "fill_", "setdiag") and any(
            id(part) in ids for part in (*walk(event.call.receiver), *event.call.args[:1])
        ):
            return None
    for store in program.stores:
        if store.target.base is not None and id(resolved(store.target.base)) in ids:
            return None
    return next((part for part in chain if _pair(program, part) is not None), None)


def _pair(program: Program, value: Value) -> Value | None:
    """`z` for `torch.cdist(z, z)`, `z @ z.T`, `cosine_similarity(z)`."""
    sides: list[Value] = []
    if isinstance(value, Operation) and value.operator == "@" and len(value.operands) == 2:
        sides = list(value.operands)
    elif isinstance(value, Call) and value.result is None:
        name = (value.method or value.qualified).rpartition(".")[2]
        if name in _PAIRS:
            sides = list(value.args[:2])
            sides = (
                sides * 2
                if len(sides) == 1 and value.qualified.startswith(("sklearn.", "torchmetrics."))
                else sides
            )
        elif name in ("mm", "matmul", "dot", "inner"):
            sides = (
                [value.receiver, *value.args[:1]]
                if value.method and value.receiver is not None
                else list(value.args[:2])
            )
    if len(sides) != 2:
        return None
    one, other = (behind(side, _turned) for side in sides)
    for whole, row in ((one, other), (other, one)):  # `z @ z[i]`
        if isinstance(row, Item) and _is_counter(row.key) and same_numbers(row.base) is whole:
            return whole
    return one if one is other or alike(one, other) else None


def _turned(value: Value) -> Value | None:
    if isinstance(value, Attribute) and value.name in ("T", "mT"):
        return value.base
    if isinstance(value, Call) and value.method in ("t", "transpose", "unsqueeze", "permute"):
        return value.receiver
    if isinstance(value, Item) and _adds_axis(value.key):
        return value.base
    before = same_numbers(value)
    return before if before is not value else None


def _made(value: Value | None) -> str:
    """The class of a search for neighbours, also behind `.fit(…)`."""
    made = resolved(value)
    while isinstance(made, Call) and made.method == "fit":
        made = resolved(made.receiver)
    return made.qualified if isinstance(made, Call) else ""


def _fitted(program: Program, search: Value | None) -> Value | None:
    """What a search for neighbours was fitted to."""
    made = resolved(search)
    if isinstance(made, Call) and made.method == "fit" and made.args:
        return made.args[0]
    for event in program.methods_of("fit"):
        if made is not None and resolved(event.call.receiver) is made and event.call.args:
            return event.call.args[0]
    return None
