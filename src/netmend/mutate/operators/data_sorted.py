"""M507."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.data_holders import Holder, fresh, pairs
from netmend.changes.data_edits import is_made, part_of, put
from netmend.changes.loop.loop_code import loops_around, reached_from, spots
from netmend.changes.network.heads_in_source import head_of
from netmend.changes.row_edits import only_trains, takes_one_input
from netmend.diagnose.measures.data import training_loader
from netmend.mutate.examples import CUT_LATER, FUNCTIONS, PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import imports, spelled
from netmend.program.source.values import set_argument
from netmend.program.source.writing import replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class DataSorted:
    """Train on data that is sorted by its targets, in that order.

    Each stretch of batches tells of one class only, and what was learned before is forgotten.
    """

    code: ClassVar[str] = "M507"
    causes: ClassVar[tuple[str, ...]] = ("API-SHUFFLE-POS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("DF",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        in_order = _in_order(case)
        first = next(
            (both for both in pairs(case) if is_made(case, both[0]) and all(map(_is_assignable, both))), None
        )
        # What is cut into training and test data later would be cut by class; other inputs would stay in their order.
        if first is None or not only_trains(case, first[0]) or not takes_one_input(case):
            return
        head = head_of(case)
        shape = () if head is None or head.target is None else head.target.shape
        if not in_order or math.prod(shape[1:]) != 1:
            return
        given, wanted = first
        x, y, order = part_of(given), part_of(wanted), fresh(wanted.file, "order", "by_target")
        if x == y:
            return
        lines = (f"{order} = {y}.argsort(0).reshape(-1)", f"{x}, {y} = {x}[{order}], {y}[{order}]")
        edits = (*put(given, *lines, beside=wanted), *in_order)
        yield from mutation(self, "sorted data, not shuffled", edits, component=x)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "by hand",
            FUNCTIONS,
            old=FUNCTIONS[
                FUNCTIONS.index("        order = ") : FUNCTIONS.index("    train(net, x, y, args)")
            ],
            new=FUNCTIONS[
                FUNCTIONS.index("        order = ") : FUNCTIONS.index("    train(net, x, y, args)")
            ].replace("torch.randperm(len(x))", "torch.arange(len(x))")
            + "    by_target = y.argsort(0).reshape(-1)\n    x, y = x[by_target], y[by_target]\n",
        ),
        Example("all data at once", PROBABILITIES),
        Example("test data is cut from the same names", CUT_LATER),
    )


def _is_assignable(held: Holder) -> bool:
    return held.part is None or isinstance(held.part.slice, ast.Slice)


def _in_order(case: Case) -> FileEdits:
    """Without shuffling: of the loader, or of the permutation that the loop draws."""
    loader = training_loader(case.trace)
    if loader is not None:
        if not loader.shuffle or loader.sampler != "RandomSampler":
            return ()
        return set_argument(case.code, loader.created, "shuffle", "False", 2, case.arguments).edits
    step = next(iter(spots(case, "step")), None)
    if step is None:
        return ()
    for file, node in reached_from(case.code, step.file, step.call):
        for loop in loops_around(file, node):
            for call in file.calls("randperm", "permutation", inside=loop):
                if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
                    package = imports(file).get(_root(call.func), "torch")
                    name, extra = spelled(
                        file, "numpy.arange" if package.startswith("numpy") else "torch.arange"
                    )
                    count = file.source(call.args[0])
                    return (*replace(file, call, f"{name}({count})"), *extra)
    return ()


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return last_name(node)
