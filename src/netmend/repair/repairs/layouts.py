"""Repairs of the order of axes: images for convolutions, what is flattened behind them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from netmend.changes.case import Case
from netmend.changes.data.data_holders import evaluation_inputs, kind_of, training_inputs
from netmend.changes.data.data_origins import flows
from netmend.changes.data.standardise import own_class
from netmend.program.source.naming import imports, spelled
from netmend.program.source.numbers import literal
from netmend.program.source.writing import insert_before, replace, wrap
from netmend.program.text.file import File
from netmend.program.text.queries import last_name, without_text
from netmend.repair.repair import Repair
from netmend.testing.example import example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import Change, FileEdits

_VIEWS = ("view", "reshape")
_CHANNELS = re.compile(r"expected input\[([\d, ]+)\] to have (\d+) channels")


_image_example = partial(
    example,
    helpers="x, y = torch.randn(8, 9, 6), torch.arange(8) % 4",
    backward="nn.functional.cross_entropy(model(x), y)",
)


class ImageLayout(
    Repair,
    code="R506",
    cures=("TSR-SHAPE", "INP-LAYER-SHAPE", "LYR-IN-SHAPE", "LYR-IN-SAMPLE"),
    explores=True,
):
    """Move axes with permute or transpose where view or reshape only counts the same numbers anew.

    Pictures of height × width × channels become channels × height × width, time and features change places. A convolution that
    refuses pictures because their channels come last gets them permuted.
    """

    few_channels: tuple[int, ...] = (2, 3, 4)  # a grey picture may be made of a row of pixels

    def propose(self, case: Case) -> Iterator[Change]:
        refused = _CHANNELS.search(case.trace.run.exception or "")
        if refused is not None:
            yield from self._channels_last(case, refused)
            return
        if case.fault is not None and case.cause not in ("TSR-SHAPE", "INP-LAYER-SHAPE"):
            return
        found = self._view(case)
        if found is None:
            return
        file, call, order = found
        text = _permuted(case, file, call, order)
        edits = replace(file, call, text) if text else ()
        yield from self.change(case, f"{file.source(call)} → {text}", edits, knob=f"view at {call.lineno}")

    def _view(self, case: Case) -> tuple[File, ast.Call, tuple[int, ...]] | None:
        """The call that counts axes anew, and the order in which they have to be taken instead."""
        if case.fault is not None:
            found = case.code.statement_at(case.site)
            for call in found[0].calls(*_VIEWS, inside=found[1]) if found is not None else ():
                order = _order(case, found[0], call) if found is not None else None
                if found is not None and order is not None:
                    return found[0], call, order
            return None
        # Without a fault only what is on the way of all inputs, and makes pictures of several channels.
        for flow in (*training_inputs(case), *evaluation_inputs(case)):
            for step in flow:
                if isinstance(step.node, ast.Call) and last_name(step.node.func) in _VIEWS:
                    sizes = _sizes(step.file, step.node)
                    known = sizes[1].value if len(sizes) == 4 and isinstance(sizes[1], ast.Constant) else None
                    if known in self.few_channels:
                        return step.file, step.node, (0, 3, 1, 2)
        return None

    def _channels_last(self, case: Case, refused: re.Match[str]) -> Iterator[Change]:
        shape = [int(size) for size in refused[1].split(",")]
        if len(shape) not in (3, 4) or shape[-1] != int(refused[2]) or case.model is None:
            return
        move = ".permute(0, 3, 1, 2)" if len(shape) == 4 else ".transpose(1, 2)"
        own = own_class(case, case.model)
        edits: FileEdits = ()
        if own is not None and len(own[2].args.args) > 1:
            name = own[2].args.args[1].arg
            body = without_text(own[2])
            edits = insert_before(own[0], body[0], f"{name} = {name}{move}") if body else ()
        elif case.model.called is not None and (file := case.code.file(case.model.called.file)) is not None:
            for call in file.calls(case.model.name.rpartition(".")[2]):
                if call.args and isinstance(call.args[0], ast.expr):
                    edits = (*edits, *wrap(file, call.args[0], "", move))
        yield from self.change(case, "channels before height and width", edits, knob="input layout")

    EXAMPLES = {
        "time and features": _image_example(
            data="torch.manual_seed(0)",
            layers="self.conv = nn.Conv1d(6, 4, 3)",
            forward="x = x.⟨view(len(x), 6, 9) → transpose(1, 2)⟩\nreturn self.conv(x).mean(-1)",
        ),
        "viewed again in another function": _image_example(
            data="""
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.conv = nn.Conv1d(6, 4, 3)
                    def forward(self, x):
                        x = x.⟨view(len(x), 6, 9) → transpose(1, 2).contiguous()⟩
                        return self.conv(x).mean(-1)
                def rows(made):
                    return made.view(len(made), -1)
                torch.manual_seed(0)""",
            model="Net()",
            backward="nn.functional.cross_entropy(rows(model(x)), y)",
        ),
        "two views in one line": _image_example(
            data="torch.manual_seed(0)",
            layers="self.conv = nn.Conv1d(6, 4, 3)",
            forward="""
                n = len(x)
                return self.conv(x.⟨view(n, 6, 9) → transpose(1, 2).contiguous()⟩).mean(-1).view(-1, 4)""",
        ),
        "a size that cannot be taken is no order of axes": _image_example(
            data="torch.manual_seed(0)",
            layers="self.conv = nn.Conv1d(6, 4, 3)",
            forward="⟨x = x.view(len(x), 6, 10)⟩\nreturn self.conv(x).mean(-1)",
            raises=True,
        ),
        "an array of pictures": _image_example(
            data="""
                torch.manual_seed(0)
                images = np.random.rand(8, 10, 10, 3).astype(np.float32)
                x, y = torch.from_numpy(images.⟨reshape(8, 3, 10, 10) → transpose(0, 3, 1, 2)⟩), torch.arange(8) % 4""",
            model="nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(256, 4))",
            helpers="",
            cause="INP-LAYER-SHAPE",
        ),
        "refused by the convolution": _image_example(
            data="""
                torch.manual_seed(0)
                images = np.random.rand(8, 10, 10, 3).astype(np.float32)
                x, y = torch.from_numpy(images), torch.arange(8) % 4""",
            model="nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(256, 4))",
            helpers="",
            backward="nn.functional.cross_entropy(model(⟨x → x.permute(0, 3, 1, 2)⟩), y)",
            cause="INP-LAYER-SHAPE",
            raises=True,
        ),
        "permuted already": _image_example(
            data="""
                torch.manual_seed(0)
                images = np.random.rand(8, 10, 10, 3).astype(np.float32)
                ⟨x, y = torch.from_numpy(images.transpose(0, 3, 1, 2))⟩, torch.arange(8) % 4""",
            model="nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(256, 4))",
            helpers="",
        ),
    }


def _sizes(file: File, call: ast.Call) -> list[ast.expr]:
    """The sizes that a view asks for."""
    given = call.args[1:] if _is_function(file, call) else call.args
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = given[0].elts
    return list(given)


def _is_function(file: File, call: ast.Call) -> bool:
    """`torch.reshape(x, …)` and not `x.reshape(…)`."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    return holder is None or (isinstance(holder, ast.Name) and holder.id in imports(file))


def _order(case: Case, file: File, call: ast.Call) -> tuple[int, ...] | None:
    for probe in case.trace.probes("axis order"):
        near = probe.site is not None and case.sources.path(probe.site.file) == case.sources.path(file.file)
        if (
            near
            and probe.site is not None
            and call.lineno <= probe.site.line <= (call.end_lineno or call.lineno)
        ):
            order = _moved(tuple(probe.values["before"]), tuple(probe.values["after"]))
            if order is not None and _makes_axes(file, call, len(order)):
                return order
    if case.cause == "TSR-SHAPE" and case.trace.run.exception:
        return None  # sizes that cannot be taken do not say that axes were to be moved
    return {4: (0, 3, 1, 2), 3: (0, 2, 1)}.get(len(_sizes(file, call)))


def _makes_axes(file: File, call: ast.Call, count: int) -> bool:
    """Of two views in one line, the one that makes so many axes; sizes in a variable may be any."""
    sizes = _sizes(file, call)
    return len(sizes) == count or len(sizes) == 1 or any(isinstance(size, ast.Starred) for size in sizes)


def _moved(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes of `before` in the order of `after`; equal sizes stay in their order, the first axis where it can."""
    if sorted(before) != sorted(after):
        return None
    left = list(range(len(before)))
    order = []
    for size in after:
        axis = next(axis for axis in left if before[axis] == size)
        left.remove(axis)
        order.append(axis)
    return tuple(order) if tuple(order) != tuple(range(len(before))) else None


def _permuted(case: Case, file: File, call: ast.Call, order: tuple[int, ...]) -> str:
    function = _is_function(file, call)
    data = (
        call.args[0]
        if function and call.args
        else call.func.value
        if isinstance(call.func, ast.Attribute)
        else None
    )
    if data is None:
        return ""
    ways = flows(case.code, file, data)
    array = kind_of(ways[0]) if ways else None
    text = file.source(data)
    if not isinstance(data, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        text = f"({text})"
    axes = ", ".join(map(str, order))
    if array:
        if function:
            return f"{spelled(file, 'numpy.transpose')[0]}({text}, ({axes}))"
        return f"{text}.transpose({axes})"
    swapped = [place for place, axis in enumerate(order) if place != axis]
    moved = f"transpose({swapped[0]}, {swapped[1]})" if len(swapped) == 2 else f"permute({axes})"
    # A view behind it, in whatever function, needs the numbers to lie in their new order.
    later = any(other is not call for each in case.code.files(file.file) for other in each.calls("view"))
    return f"{text}.{moved}{'.contiguous()' if later else ''}"


_ROWS = re.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_SIZE = re.compile(r"is invalid for input of size (\d+)")


_flatten_example = partial(
    example, loss="nn.functional.cross_entropy(model(torch.randn(4, 1, 6, 6)), torch.arange(4) % 3)"
)


class FlattenSize(Repair, code="R315", cures=("TSR-SHAPE",)):
    """Let flattening keep the samples apart, and the layer behind take as many numbers as a sample has.

    `view(-1, n)` with a wrong n makes more or fewer rows than there are samples: the program stops there, or in the loss.
    """

    def propose(self, case: Case) -> Iterator[Change]:
        for file, call in self._views(case):
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            number = literal(call.args[1])
            old = None if number is None else int(number)
            samples = case.model.input_shapes[0][0] if case.model and case.model.input_shapes else 0
            size = _per_sample(case.trace.run.exception or "", old, samples)
            if holder is None or not isinstance(holder, ast.Name) or not size or old is None:
                continue
            edits = (
                *replace(file, call.args[0], f"{holder.id}.size(0)"),
                *replace(file, call.args[1], "-1"),
                *(self._layer(case, old, size) if size != old else ()),
            )
            title = f"flatten each sample to {size} numbers"
            yield from self.change(case, title, edits, knob="flattening")
            return

    @staticmethod
    def _views(case: Case) -> Iterator[tuple[File, ast.Call]]:
        """`x.view(-1, n)` on the fault's line and on that of the exception."""
        sites = (case.site, case.trace.run.exception_site)
        for site in sites:
            found = case.code.statement_at(site)
            for call in found[0].calls("view", "reshape", inside=found[1]) if found is not None else ():
                if (
                    found is not None
                    and len(call.args) == 2
                    and isinstance(call.args[0], ast.UnaryOp | ast.Constant)
                ):
                    yield found[0], call

    @staticmethod
    def _layer(case: Case, old: int, size: int) -> FileEdits:
        """The linear layer that was made for the old number."""
        for module in case.trace.all(ModuleFact):
            if module.kind == "Linear" and module.settings.get("in_features") == old:
                found = case.code.call_at(module.created)
                value = None if found is None else case.sources.argument(found[1], "in_features", 0)
                if found is not None and value is not None and last_name(found[1].func) == "Linear":
                    return replace(found[0], value, str(size))
        return ()

    EXAMPLES = {
        "a number that does not divide": _flatten_example(
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨2 * 5 * 5 → 32⟩, 3)",
            forward="""
                x = self.conv(x)
                x = x.view(⟨-1, 2 * 5 * 5 → x.size(0), -1⟩)
                return self.fc(x)""",
            mark="x.view",
            raises=True,
        ),
        "samples are torn apart": _flatten_example(
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(⟨16 → 32⟩, 3)",
            forward="""
                x = self.conv(x)
                x = x.reshape(⟨-1, 16 → x.size(0), -1⟩)
                return self.fc(x)""",
            mark="x.reshape",
            raises=True,
        ),
        "a size that fits": _flatten_example(
            layers="self.conv = nn.Conv2d(1, 2, 3)\nself.fc = nn.Linear(32, 3)",
            forward="""
                x = self.conv(x)
                x = ⟨x.view(-1, 32)⟩
                return self.fc(x)""",
        ),
    }


def _per_sample(text: str, old: int | None, samples: int) -> int:
    """How many numbers a sample has, told from the exception; 0 when it cannot be told."""
    rows, size = _ROWS.search(text), _SIZE.search(text)
    if rows is not None and old is not None:
        total, count = int(rows[1]) * old, int(rows[2])
    elif size is not None:
        total, count = int(size[1]), samples
    else:
        return 0
    return total // count if count and total % count == 0 else 0
