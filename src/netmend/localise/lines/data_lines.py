"""Lines of data: where inputs and targets come from, how large batches are, where labels move and data is split."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.batches import training_loader
from netmend.diagnose.measures.progress import main_progress
from netmend.localise.case import Case
from netmend.program.counted_loops import loops_around
from netmend.program.engine.values import Call, Instance, Item
from netmend.program.makers import made_at, taken_from
from netmend.program.of_run import program_of
from netmend.program.settings import argument_origin, value_origin
from netmend.program.text.queries import inside, last_name, site_of
from netmend.program.text.sources import Sources
from netmend.vocabulary import LossFact, Site


def input_origin(case: Case, inside: bool = True) -> Site | None:
    """The line that makes what the model is fed in training; else the loader, else the call of the model.

    `inside`: where a function of the program makes it, the line inside that function; else the line that calls it.
    """
    model = next(iter(case.trace.models), None)
    called = None if model is None else model.called
    return made_at(program_of(case.sources), called, 0, inside) or _loader_site(case) or called


def evaluated_origin(case: Case) -> Site | None:
    """The line that makes what a model is asked about without gradients; None where it cannot be followed."""
    passes = (call for pattern in case.trace.patterns for call in pattern.calls if call.what == "forward")
    sites = dict.fromkeys(call.site for call in passes if call.detail.endswith("no_grad"))
    trained = input_origin(case)  # a share of the training data may be scored too
    program = program_of(case.sources)
    found = [origin for site in sites if (origin := made_at(program, site, 0)) is not None]
    return next((origin for origin in found if origin != trained), next(iter(found), None))


def prepared_in_loop(case: Case) -> Site | None:
    """The call of the model, or the line before it, that computes its inputs in one phase but not in the other.

    Where training alone prepares them there, it is the call in evaluation: that is where the same is missing.
    """
    model = next(iter(case.trace.models), None)
    calls = [call for pattern in case.trace.patterns for call in pattern.calls if call.what == "forward"]
    evaluated = next(
        (c.site for c in calls if c.detail.endswith("no_grad") or c.detail.startswith("eval")), None
    )
    if model is None or model.called is None or evaluated is None:
        return None
    computed = [_computed(case.sources, site) for site in (model.called, evaluated)]
    if (computed[0] is None) == (computed[1] is None):
        return None
    return computed[1] or evaluated


def _computed(sources: Sources, called: Site) -> Site | None:
    """Where arithmetic makes the first argument of a call: in the call itself, or in an assignment of the same loop."""
    call = sources.call_at(called)
    if call is None or not call.args:
        return None
    if _arithmetic(call.args[0]):
        return site_of(called.file, call)
    loop = sources.loop_around(called)
    for node in ast.walk(loop) if loop is not None else ():
        if isinstance(node, ast.Assign) and node.lineno <= called.line and _arithmetic(node.value):
            names = {last_name(target) for target in node.targets}
            if isinstance(call.args[0], ast.Name) and call.args[0].id in names:
                return site_of(called.file, node)
    return None


def _arithmetic(value: ast.expr) -> bool:
    return any(True for node in inside(value, ast.BinOp))


def target_origin(case: Case) -> Site | None:
    """The line that makes the targets; else the loader, else the call of the loss."""
    loss = next((loss for loss in case.trace.losses if loss.backward is not None), None)
    course = main_progress(case.trace)
    if loss is not None and course is not None and course.loss in loss.settings.get("terms", ()):
        loss = case.trace.get(LossFact, course.loss)  # of a sum, the term that weighs most
    called = None if loss is None else loss.called
    return made_at(program_of(case.sources), called, 1) or _loader_site(case) or called


def target_line(case: Case) -> Site | None:
    """The expression that the targets are cut from; None where it cannot be followed."""
    program = program_of(case.sources)
    for loss in case.trace.losses:
        if loss.backward is not None or loss.operands:
            for event in program.at(loss.called):
                call = event.call
                given = None if call is None else call.argument("target") or call.argument("targets", 1)
                found = None if given is None else program.site(taken_from(program, given))
                if found is not None:
                    return found
    return None


def loader_site(case: Case) -> Site | None:
    """Where training batches are made: the loader, else the line that feeds the model."""
    return _loader_site(case) or _batch_line(case)


def _batch_line(case: Case) -> Site | None:
    """The loop that cuts batches by hand, around the call of the model or of the function that calls it."""
    model = next(iter(case.trace.models), None)
    if model is None or model.called is None:
        return None
    for file, loop in loops_around(program_of(case.sources), model.called):
        return Site(file.file, loop.lineno, loop.col_offset, loop.lineno, None)
    return model.called


def _loader_site(case: Case) -> Site | None:
    loader = training_loader(case.trace)
    return None if loader is None else loader.created


_CUTTING = ("split", "batched")


def batch_size_line(case: Case) -> Site | None:
    """The line that sets how many samples a batch holds; the line that makes batches where that is not found."""
    loader = training_loader(case.trace)
    if loader is not None:
        origin = argument_origin(case.sources, loader.created, "batch_size", 1)
        return loader_site(case) if origin is None else origin.site
    model = next(iter(case.trace.models), None)
    if model is None or model.called is None:
        return loader_site(case)
    loop = case.sources.loop_around(model.called)
    size = _size(loop.iter) if isinstance(loop, ast.For) else None
    return loader_site(case) if size is None else value_origin(case.sources, model.called.file, size)


def _size(iterated: ast.expr) -> ast.expr | None:
    """The batch size in `range(0, n, size)`, `order.split(size)`, `batched(rows, size)`, also inside `tqdm(...)`."""
    if not isinstance(iterated, ast.Call):
        return None
    name = last_name(iterated.func)
    if name == "range":
        return iterated.args[2] if len(iterated.args) == 3 else None
    if name in _CUTTING and iterated.args:
        return iterated.args[1] if len(iterated.args) > 1 else iterated.args[0]
    return next((found for given in iterated.args if (found := _size(given)) is not None), None)


_WRAPPERS = ("Subset", "random_split", "ConcatDataset")
_EVALUATION_WORDS = ("val", "test", "eval", "dev", "hold", "held")


def split_line(case: Case) -> Site | None:
    """The assignment that makes the evaluation part out of the same data as the training part; None when none is found."""
    file = _file(case)
    best: Site | None = None
    for node in case.sources.nodes(file) if file else ():
        if not isinstance(node, ast.Assign):
            continue
        names = [last_name(part).lower() for target in node.targets for part in _parts(target)]
        if not any(
            name.startswith(_EVALUATION_WORDS) or name.endswith(_EVALUATION_WORDS) or "_v" in name
            for name in names
        ):
            continue
        if _cuts(node.value):
            best = best or site_of(file, node)
    return best


def dataset_line(case: Case, loader: Site | None) -> Site | None:
    """The line that makes the data set of a loader; None where it cannot be followed."""
    program = program_of(case.sources)
    for call in program.calls(loader):
        given = call.argument("dataset", 0)
        while isinstance(given, Item) or (
            isinstance(given, Call) and _name(given) in _WRAPPERS and given.args
        ):
            given = given.base if isinstance(given, Item) else given.args[0]
        if isinstance(given, Call | Instance):
            return program.site(given.node)
    return None


def _name(call: Call) -> str:
    return last_name(call.node and call.node.func)


def several_loaders(case: Case, loader: Site | None) -> bool:
    """Whether the file that makes a loader makes others too."""
    return loader is not None and len(list(case.sources.calls_named(loader.file, "DataLoader"))) > 1


def _file(case: Case) -> str:
    places = [loader.created for loader in case.trace.loaders] + [model.called for model in case.trace.models]
    return next((place.file for place in places if place is not None), "")


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _cuts(value: ast.expr) -> bool:
    """Whether an expression takes a part of something, or puts parts together."""
    return any(
        isinstance(node, ast.Subscript)
        or (
            isinstance(node, ast.Call)
            and last_name(node.func)
            in ("cat", "concatenate", "random_split", "Subset", "split", "train_test_split")
        )
        for node in ast.walk(value)
    )


_LABELS_OF_DATA_SETS = ("targets", "labels")  # of torchvision's
_SHUFFLES = ("randperm", "permutation", "shuffle", "shuffled", "roll", "sample")


def label_line(case: Case) -> Site | None:
    """A line that moves labels but not inputs, or cuts the two at different places; None when none is found."""
    for file in case.sources.files(near=_near(case)):
        for node in case.sources.nodes(file):
            if isinstance(node, ast.Assign | ast.Expr | ast.Return) and (
                _cut_differently(node) or _moved_alone(node)
            ):
                return site_of(file, node)
    return None


def _near(case: Case) -> str:
    """The file that calls the model."""
    model = next(iter(case.trace.models), None)
    return model.called.file if model is not None and model.called is not None else ""


def labels_moved(case: Case) -> Site | None:
    """The line that surely moves labels apart: `y = y[torch.randperm(n)]`, an order that nothing else can share.

    Labels are what a data set of the library calls so, or what follows the inputs in a call: `TensorDataset(x, y)`, `zip(x, y)`.
    """
    for file in case.sources.files(near=_near(case)):
        for node in case.sources.nodes(file):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not _drawn_anew(node.value):
                continue
            target, name = node.targets[0], last_name(node.targets[0])
            labels = isinstance(target, ast.Attribute) and name in _LABELS_OF_DATA_SETS
            if labels or (isinstance(target, ast.Name) and _second_argument(case, file, name)):
                return site_of(file, node)
    return None


def _drawn_anew(value: ast.expr) -> bool:
    """`y[torch.randperm(n)]`: indexed by a permutation that has no name."""
    return (
        isinstance(value, ast.Subscript)
        and isinstance(value.slice, ast.Call)
        and last_name(value.slice.func) in ("randperm", "permutation")
    )


def _second_argument(case: Case, file: str, name: str) -> bool:
    return any(
        len(call.args) >= 2
        and isinstance(call.args[1], ast.Name)
        and call.args[1].id == name
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id != name
        for call in case.sources.calls_named(file, "TensorDataset", "zip", "train_test_split")
    )


def _cut_differently(statement: ast.stmt) -> bool:
    """`x[i:i + n], y[i + 1:i + n + 1]`: slices of two names in one statement that do not agree."""
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Yield):
        value = value.value
    if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
        return False
    first, second = value.elts
    if not (isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript)):
        return False
    if not (isinstance(first.slice, ast.Slice) and isinstance(second.slice, ast.Slice)):
        return False
    # The halves of a split differ too; those are cut from one name, or have an open end.
    if ast.dump(first.value) == ast.dump(second.value) or None in (first.slice.lower, second.slice.lower):
        return False
    return ast.dump(first.slice) != ast.dump(second.slice)


def _moved_alone(statement: ast.stmt) -> bool:
    """`y = y[torch.randperm(len(y))]`: an order drawn for one name and used up at once."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.Expr) or value is None:
        return False
    if isinstance(statement, ast.Expr):
        call = statement.value
        return isinstance(call, ast.Call) and last_name(call.func) == "shuffle" and len(call.args) == 1
    return any(
        isinstance(node.slice, ast.Call) and last_name(node.slice.func) in _SHUFFLES
        for node in inside(value, ast.Subscript)
    ) or (isinstance(value, ast.Call) and last_name(value.func) in ("roll", "shuffled"))
