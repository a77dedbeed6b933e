"""Where the data comes from: from the call of the model or the loss back to the line that makes the tensor."""

from __future__ import annotations

import ast

from netmend.diagnose.measures.batches import training_loader
from netmend.diagnose.measures.progress import main_progress
from netmend.localise.case import Case
from netmend.program.counted_loops import loops_around
from netmend.program.makers import made_at, taken_from
from netmend.program.of_run import program_of
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
