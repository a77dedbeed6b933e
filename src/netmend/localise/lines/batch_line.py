"""Where the size of training batches is set: the loader's argument, or the number with which a loop cuts batches by hand."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.batches import training_loader
from netmend.localise.case import Case
from netmend.localise.lines.data_origin import loader_site
from netmend.localise.lines.follow import argument_origin, value_origin
from netmend.program.text.queries import last_name
from netmend.vocabulary import Site

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
