"""The names that hold training and evaluation data as a whole, and the expressions that all of it goes through."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from netmend.changes.case import Case
from netmend.changes.data.data_origins import Flow, Step, flows
from netmend.program.source.naming import imports
from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside, last_name, uses_of, variables_in
from netmend.vocabulary import Site

_LISTS = (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_TENSOR_MAKERS = ("tensor", "from_numpy", "as_tensor", "FloatTensor", "LongTensor", "Tensor")
_ARRAY_METHODS = ("astype", "to_numpy", "numpy", "fit_transform", "transform")
_TENSOR_METHODS = (
    "float",
    "long",
    "double",
    "unsqueeze",
    "permute",
    "to",
    "cuda",
    "contiguous",
    "sub_",
    "div_",
)


@dataclass(frozen=True)
class Holder:
    """A name outside of all loops that holds data as a whole."""

    file: File
    name: str
    statement: ast.stmt  # gives it its value
    block: list[ast.stmt]  # the statements among which that one stands
    part: ast.Subscript | None  # the part of it that is used, `x[:800]`
    used: ast.stmt | None  # the first statement in the same block that uses it on the way to the model
    flow: Flow

    @property
    def scope(self) -> ast.AST:
        return self.file.function(self.statement) or self.file.tree


_KNOWN: WeakKeyDictionary[Case, dict[str, list[Flow]]] = WeakKeyDictionary()


def training_inputs(case: Case) -> list[Flow]:
    """Where the inputs of training come from."""
    return _remembered(case, "training", lambda: _inputs(case, training=True))


def evaluation_inputs(case: Case) -> list[Flow]:
    """Where the inputs of all other calls of the model come from."""
    return _remembered(case, "evaluation", lambda: _inputs(case, training=False))


def training_targets(case: Case) -> list[Flow]:
    loss = case.loss
    if loss is None or loss.called is None:
        return []
    called = loss.called
    return _remembered(case, "targets", lambda: list(_given(case, called, 1)))


def _inputs(case: Case, training: bool) -> list[Flow]:
    return [flow for site in _forward_sites(case, training) for flow in _given(case, site, 0)]


def _remembered(case: Case, what: str, find: Callable[[], list[Flow]]) -> list[Flow]:
    known = _KNOWN.setdefault(case, {})
    if what not in known:
        known[what] = find()
    return known[what]


def forward_calls(case: Case, training: bool) -> list[tuple[File, ast.Call]]:
    """The lines that call the model, in training or anywhere else."""
    found = [case.code.call_at(site) for site in _forward_sites(case, training)]
    return [item for item in found if item is not None]


def _forward_sites(case: Case, training: bool) -> list[Site]:
    trained: dict[Site, None] = {}
    others: dict[Site, None] = {}
    for pattern in case.trace.patterns:
        whats = [call.what for call in pattern.calls]
        last = max((i for i, what in enumerate(whats) if what == "backward"), default=-1)
        for index, call in enumerate(pattern.calls):
            if call.what != "forward" or call.site is None:
                continue
            learns = index < last and "no_grad" not in call.detail and "eval" not in call.detail
            (trained if learns else others).setdefault(call.site)
    for model in case.trace.models:
        if model.called is not None and not trained:
            trained.setdefault(model.called)
    return list(trained) if training else [site for site in others if site not in trained]


def _given(case: Case, site: Site, position: int) -> Iterator[Flow]:
    found = case.code.call_at(site)
    if found is None:
        return
    file, call = found
    given = call.args[position] if position < len(call.args) else None
    if given is None:
        names = ("input", "x") if position == 0 else ("target", "y")
        given = next((k.value for k in call.keywords if k.arg in names), None)
    if given is not None and not isinstance(given, ast.Starred):
        yield from flows(case.code, file, given)


def holder(flow: Flow) -> Holder | None:
    """The nearest name on the way that is bound outside of loops and holds the data itself."""
    return next(holders(flow), None)


def holders(flow: Flow) -> Iterator[Holder]:
    """All such names, the nearest to the model first."""
    part: ast.Subscript | None = None
    before: Step | None = None
    for step in flow:
        if step.kind == "part" and isinstance(step.node, ast.Subscript) and not step.path:
            part = step.node
        if (
            step.kind == "bound"
            and not step.path
            and step.statement is not None
            and "." not in step.name
            and not _is_list(step.node)
        ):
            block = _block(step.file, step.statement)
            if block is not None:
                used = _statement_in(block, before) if before is not None else None
                own = part if part is not None and _is_part_of(step, part) else None
                yield Holder(step.file, step.name, step.statement, block, own, used, flow)
                part = None
        before = step


def pairs(case: Case) -> list[tuple[Holder, Holder]]:
    """Names that hold the same rows of training inputs and targets in one block, the nearest to the model first."""
    targets = [other for way in training_targets(case) for other in holders(way)]
    names = {other.name for other in targets}
    return [
        (inputs, other)
        for flow in training_inputs(case)
        for inputs in holders(flow)
        if not _looked_up_by(inputs, names)
        for other in targets
        if other.block is inputs.block and _rows_taken(other) == _rows_taken(inputs)
    ]


def _before(held: Holder) -> Iterator[Step]:
    """The stages between the model and a holder."""
    for step in held.flow:
        if step.kind == "bound" and step.statement is held.statement and step.name == held.name:
            return
        yield step


def _looked_up_by(held: Holder, names: set[str]) -> bool:
    """`centres[label]`: rows that are looked up by the labels are not the data itself."""
    return any(
        not names.isdisjoint(variables_in(step.node.slice))
        for step in _before(held)
        if isinstance(step.node, ast.Subscript)
    )


def _rows_taken(held: Holder) -> list[str]:
    """How rows are chosen between a holder and the loop: the same for two names whose rows belong together."""
    found = []
    for step in _before(held):
        if not isinstance(step.node, ast.Subscript) or step.file.loop(step.node) is not None:
            continue
        index = step.node.slice
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        all_rows = isinstance(first, ast.Slice) and first.lower is first.upper is None
        if not all_rows and not isinstance(first, ast.Constant):
            found.append(ast.dump(first))
    return found


def _is_part_of(step: Step, part: ast.Subscript) -> bool:
    """`x[:800]` of `x`, not the batches that a loop cuts."""
    named = isinstance(part.value, ast.Name) and part.value.id == step.name
    return named and step.file.loop(part) is None and holds(step.file.tree, part)


def _is_list(value: ast.expr) -> bool:
    """What samples are gathered in is no array yet: nothing can be computed with it."""
    return isinstance(value, _LISTS) or (
        isinstance(value, ast.Call) and last_name(value.func) in ("list", "dict")
    )


def _block(file: File, statement: ast.stmt) -> list[ast.stmt] | None:
    """The statements of the function or module that a statement is one of; None inside of a loop or a class."""
    above = file.parent(statement)
    if isinstance(above, ast.If) and "__name__" in variables_in(above.test):
        return above.body
    if isinstance(above, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
        if isinstance(above, ast.FunctionDef) and file.owner(above) is not None:
            return above.body if above.name != "__getitem__" else None
        return above.body
    return None


def _statement_in(block: list[ast.stmt], step: Step) -> ast.stmt | None:
    """The statement of a block that a step's expression stands in."""
    for statement in block:
        if holds(statement, step.node):
            return statement
    return None


def settled(held: Holder) -> ast.stmt:
    """The last statement that still fills a holder's value in place, `x[3] = …`; the one that makes it where none does."""
    last = held.statement
    behind = held.block[held.block.index(last) + 1 :] if last in held.block else []
    for statement in behind:
        for node in inside(statement, ast.Name, ast.Subscript):
            if isinstance(node, ast.Name) and node.id == held.name and isinstance(node.ctx, ast.Store):
                return last
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == held.name
            ):
                last = statement
    return last


def first_use(block: list[ast.stmt], after: ast.stmt, name: str) -> ast.stmt | None:
    """The first statement of a block behind another one that reads a name."""
    behind = block[block.index(after) + 1 :] if after in block else []
    for statement in behind:
        if uses_of(statement, name):
            return statement
    return None


def read_before(held: Holder, limit: ast.stmt) -> bool:
    """Whether a name is read between the line that gives it its values and another one that comes later."""
    use = first_use(held.block, settled(held), held.name)
    return use is not None and use.lineno <= limit.lineno and use is not limit


def is_array(flow: Flow, of: Holder) -> bool | None:
    """Whether a holder's value is a numpy array (False: a tensor; None: cannot be told)."""
    there = False
    for step in flow:
        there = there or (step.kind == "bound" and step.statement is of.statement and step.name == of.name)
        if there and not step.path:
            known = _kind(step.file, step.node)
            if known is not None:
                return known
    # Something nearer to the model turns it into a tensor.
    for step in flow:
        if step.kind == "bound" and step.statement is of.statement:
            break
        if isinstance(step.node, ast.Call) and last_name(step.node.func) in ("from_numpy",):
            return True
    return None


def kind_of(flow: Flow) -> bool | None:
    """Whether a value is a numpy array (False: a tensor; None: cannot be told), by the nearest call that tells."""
    known = (_kind(step.file, step.node) for step in flow if not step.path)
    return next((kind for kind in known if kind is not None), None)


def _kind(file: File, node: ast.expr) -> bool | None:
    if not isinstance(node, ast.Call):
        return None
    name = last_name(node.func)
    if name == "map" and node.args:
        return False if last_name(node.args[0]) in _TENSOR_MAKERS else None
    if name in _TENSOR_MAKERS:
        return False
    if name in _ARRAY_METHODS:
        return True
    root: ast.expr = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    package = imports(file).get(root.id, "") if isinstance(root, ast.Name) else ""
    if package.partition(".")[0] in ("torch", "numpy", "pandas"):
        return not package.startswith("torch")
    return False if name in _TENSOR_METHODS else None
