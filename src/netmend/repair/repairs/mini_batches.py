"""R409."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from netmend.changes.case import Case
from netmend.changes.loop.batch_places import loader_of
from netmend.changes.loop.loop_code import Spot, assigned_names, loops_around, names_in, spot, spots
from netmend.diagnose.measures.batches import batch_size, training_samples
from netmend.library.operations import AXES, FLOATS, INTEGERS, MOVES
from netmend.program.source.moving import has_long_text, text_of
from netmend.program.source.naming import spelled
from netmend.program.text.file import File, block_of, in_block
from netmend.program.text.queries import holds, inside, last_name
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary.change import SHORT_SEARCH, Change, FileEdits

_SAME = (*MOVES, *FLOATS, *INTEGERS, *AXES, "view", "reshape", "contiguous")


_TURNED = ("T", "mT", "H", "mH")  # their first axis is not that of the samples


@dataclass(frozen=True, eq=False)
class Update:
    """The statements of one update, and the data that they use whole."""

    file: File
    block: list[ast.stmt]
    first: int
    last: int
    data: list[ast.expr]
    loss: set[str]

    @property
    def statements(self) -> list[ast.stmt]:
        return self.block[self.first : self.last + 1]


_example = partial(example, model="nn.Linear(3, 1)", optimizer="torch.optim.SGD(model.parameters(), lr=0.01)")


class MiniBatches(
    Repair,
    code="R409",
    cures=("HYP-BATCH-NONE", "HYP-BATCH-LARGE"),
    effort=SHORT_SEARCH,
    explores=True,  # but only after a run of few updates
):
    """Make the update of each epoch for one random part of the samples after the other.

    A program that feeds all samples at once makes one update per epoch. With parts of some ten samples it makes many for the same
    work. What is computed from all samples after the update is computed again.
    """

    few: int = 200  # updates in the whole run
    many: int = 256  # samples in each of them
    updates: int = 100  # in an epoch, about

    def propose(self, case: Case) -> Iterator[Change]:
        samples = batch_size(case.trace)
        update = self._update(case) if loader_of(case) is None else None
        if samples is None or samples < 64 or update is None:
            return
        every = training_samples(case.trace)
        if every is not None and samples < 0.9 * every:
            return  # there are batches already
        if case.fault is None and (case.trace.run.steps > self.few or samples < self.many):
            return
        usual = 2 ** round(math.log2(max(1.0, samples / self.updates)))
        first = min(max(usual, 16), 256)
        for size in (first, 4 * first):
            if 2 * size <= samples:
                cost = min(10.0, 1 + samples / size / 20)
                edits = self._looped(case, update, size)
                title = f"an update for every {size} samples"
                yield from self.change(case, title, edits, knob="batch size", cost=cost)

    def _update(self, case: Case) -> Update | None:
        step, backward = next(iter(spots(case, "step")), None), next(iter(spots(case, "backward")), None)
        forward = next(iter(spots(case, "forward", training=True)), None)
        if step is None or backward is None or forward is None or not forward.is_beside(step):
            return None
        file, block = step.file, block_of(step.file, step.statement)
        cleared = [each for each in spots(case, "zero_grad") if each.is_beside(step)]
        parts = [in_block(file, block, each.call) for each in (step, backward, forward, *cleared)]
        if any(part is None for part in parts[:3]) or not isinstance(backward.call.func, ast.Attribute):
            return None
        places = [index for index, own in enumerate(block) if any(own is part for part in parts)]
        loss = {file.source(backward.call.func.value)}
        own = block[min(places) : max(places) + 1]
        data = self._data(case, forward, own)
        if not data:
            return None
        return Update(file, block, min(places), max(places), data, loss)

    def _data(self, case: Case, forward: Spot, statements: list[ast.stmt]) -> list[ast.expr]:
        """The tensors of all samples: what the model is given and what its answers are compared with."""
        shapes = [shape for model in case.trace.models[:1] for shape in model.input_shapes]
        if len(case.trace.models) != 1 or not shapes or any(shape[:1] != shapes[0][:1] for shape in shapes):
            return []
        if len(shapes) > 1 and any(len(shape) == 2 and shape[0] == shape[1] for shape in shapes):
            return []  # a graph: its samples belong together
        if any(shape[:1] != shapes[0][:1] for shape in self._compared(case)):
            return []  # only some of the answers count: the others are needed all the same
        loops = loops_around(forward.file, forward.call)[-1:]
        made = {name for part in (*statements, *loops) for name in assigned_names(part)}
        inputs = [_whole(given) for given in (*forward.call.args, *(k.value for k in forward.call.keywords))]
        targets = [_whole(value) for value in self._targets(case, forward, statements)]
        found = [value for value in (*inputs, *targets) if value is not None and not names_in(value) & made]
        # Every input has to be cut, and something that it is compared with.
        complete = inputs and targets and all(value in found for value in (*inputs, *targets))
        return [value for value in found if value is not None] if complete else []

    def _compared(self, case: Case) -> list[tuple[int, ...]]:
        return [
            operand.shape
            for loss in case.trace.losses
            if loss.backward is not None
            for operand in loss.operands
            if operand.role in ("prediction", "target") and operand.shape
        ]

    def _targets(self, case: Case, forward: Spot, statements: list[ast.stmt]) -> list[ast.expr]:
        """What the loss compares the model's answers with."""
        answers = {
            name
            for statement in statements
            if holds(statement, forward.call) and isinstance(statement, ast.Assign)
            for name in assigned_names(statement)
        }

        def is_answer(node: ast.expr) -> bool:
            return bool(names_in(node) & answers) or holds(node, forward.call)

        for loss in case.trace.losses:
            place = spot(case.code, loss.called)
            if place is not None and loss.backward is not None and place.is_beside(forward):
                given = [
                    *place.call.args,
                    *(k.value for k in place.call.keywords if k.arg in ("input", "target")),
                ]
                if any(is_answer(value) for value in given) and loss.form != "expression":
                    return [value for value in given[:2] if not is_answer(value)]
        for statement in statements:
            for node in inside(statement, ast.BinOp):
                if isinstance(node.op, ast.Sub):
                    sides = (node.left, node.right)
                    others = [side for side in sides if not is_answer(side)]
                    if len(others) == 1:
                        return others
        return []

    def _looped(self, case: Case, update: Update, size: int) -> FileEdits:
        file, lines = update.file, update.file.lines
        first, last = update.statements[0], update.statements[-1]
        place, end = file.place(first), file.place(last)
        indentation = lines.content(place.line)[: place.column]
        if indentation.strip() or any(has_long_text(statement) for statement in update.statements):
            return ()
        used = {name for node in (file.function(first) or file.tree,) for name in names_in(node)}
        index = next(name for name in ("index", "batch_index", "chosen", "part_index") if name not in used)
        permutation, extra = spelled(file, "torch.randperm")
        start, stop = lines.start(place.line), lines.end(end.end_line)
        text = file.text[start:stop]
        wanted = {file.source(value) for value in update.data}
        cuts = sorted(
            file.span(node)[1]
            for statement in update.statements
            for node in inside(statement, ast.Name, ast.Attribute, ast.Subscript)
            if isinstance(node.ctx, ast.Load) and file.source(node) in wanted
        )
        for cut in reversed(cuts):
            text = f"{text[: cut - start]}[{index}]{text[cut - start :]}"
        unit = "\t" if indentation.startswith("\t") else "    "
        body = "\n".join(unit + line if line.strip() else line for line in text.split("\n"))
        head = f"{indentation}for {index} in {permutation}(len({file.source(update.data[0])})).split({size}):"
        again = "".join(f"\n{indentation}{line}" for line in self._again(update))
        return (*file.edits(lines.edit(start, stop, f"{head}\n{body}{again}")), *extra)

    def _again(self, update: Update) -> list[str]:
        """Lines that compute once more, for all samples, what is used after the update."""
        rest = update.block[update.last + 1 :]
        needed = {name for statement in rest for name in _loaded_first(statement)} - update.loss
        found: list[str] = []
        for statement in reversed(update.statements):
            names = assigned_names(statement)
            if isinstance(statement, ast.Assign) and names & needed and not names & update.loss:
                found[:0] = text_of(update.file, statement).split("\n")
                needed |= names_in(statement.value)
        return found

    EXAMPLES = {
        "all samples at once": _example(
            setup="x, y = torch.randn(4000, 3), torch.randn(4000, 1)",
            loop="⟨for epoch in range(5)⟩",
            step="""
                model.train()
                - optimizer.zero_grad()
                - loss = nn.functional.mse_loss(model(x), y)
                - loss.backward()
                - optimizer.step()
                + for index in torch.randperm(len(x)).split(32):
                +     optimizer.zero_grad()
                +     loss = nn.functional.mse_loss(model(x[index]), y[index])
                +     loss.backward()
                +     optimizer.step()
                print(loss.item())""",
        ),
        "the answers are used afterwards": example("""
                class Trainer:
                    def __init__(self, x, y):
                        self.x, self.y, self.model = x, y, nn.Linear(3, 2)
                        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
                        self.criterion = nn.CrossEntropyLoss()
                    def epoch(self):
                        + for index in torch.randperm(len(self.x)).split(32):
                        +     scores = self.model(self.x[index].float())
                        +     loss = self.criterion(scores, self.y[index])
                        +     self.opt.zero_grad()
                        +     loss.backward()
                        +     self.opt.step()
                        scores = self.model(self.x.float())
                        - loss = self.criterion(scores, self.y)
                        - self.opt.zero_grad()
                        - loss.backward()
                        - self.opt.step()
                        return (scores.argmax(1) == self.y).float().mean().item()
                trainer = Trainer(torch.randn(4000, 3), torch.randint(0, 2, (4000,)))
                ⟨for epoch in range(5)⟩:
                    print(trainer.epoch())"""),
        "a loss written out": _example(
            setup="x, y, share = torch.randn(1600, 3), torch.randn(1600, 1), 0.5",
            loop="⟨for epoch in range(5)⟩",
            step="""
                - out = model(x)
                - loss = share * ((out - y) ** 2).mean()
                - optimizer.zero_grad()
                - loss.backward()
                - optimizer.step()
                + for index in torch.randperm(len(x)).split(16):
                +     out = model(x[index])
                +     loss = share * ((out - y[index]) ** 2).mean()
                +     optimizer.zero_grad()
                +     loss.backward()
                +     optimizer.step()""",
        ),
        "data that is made anew for each step": _example(
            loop="⟨for epoch in range(5)⟩",
            outputs="x = torch.randn(500, 3)",
            loss="nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))",
        ),
    }


def _whole(value: ast.expr) -> ast.expr | None:
    """`x` of `x`, `x.to(device)`, `x.float()`; None when it is no plain tensor."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
    return value if plain and last_name(value) not in _TURNED else None


def _loaded_first(statement: ast.stmt) -> set[str]:
    """Names that a statement reads."""
    return {node.id for node in inside(statement, ast.Name) if isinstance(node.ctx, ast.Load)}
