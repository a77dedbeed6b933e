"""Where a model is put into training and evaluation mode."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import (
    Loop,
    Spot,
    body_start,
    callers,
    holds,
    is_repeated,
    loops_around,
    model_at,
    spots,
    training_nodes,
)
from netmend.program.source.moving import combined, taken_out
from netmend.program.source.writing import insert_after, insert_before, replace
from netmend.program.text.file import File, block_of, in_block
from netmend.program.text.queries import Function, variables_in
from netmend.vocabulary.change import FileEdits


def training_pass(case: Case, model: str) -> Spot | None:
    """The call of the model that is trained from, else any call with gradients."""
    found = spots(case, "forward", model, training=True) or spots(case, "forward", training=True)
    trained = training_nodes(case)
    return next((each for each in found if _shares_loop(each, trained)), next(iter(found), None))


def _shares_loop(each: Spot, trained: list[tuple[File, ast.AST]]) -> bool:
    loop = each.file.loop(each.call)
    return loop is not None and holds(each.file, loop, trained)


def in_training_mode(case: Case, model: str) -> FileEdits:
    """`model.train()` where every epoch begins; what stands before the loop over epochs is moved there."""
    call = training_pass(case, model)
    name = "" if call is None else model_at(case, model, call)
    if call is None or not name:
        return ()
    file, loops = call.file, loops_around(call.file, call.call)
    text = f"{name}.train()"
    # A helper for one batch: its caller has the loop.
    if not loops:
        for caller in callers(case.code, file, call.call):
            around = loops_around(caller.file, caller.call)
            other = model_at(case, model, caller)
            if around and other:
                return _at_epoch(case, caller.file, around, f"{other}.train()", caller)
        function = file.function(call.call)
        statement = body_start(function) if function is not None else call.statement
        return insert_before(file, _bound_before(file, statement, call, name), text)
    return _at_epoch(case, file, loops, text, call)


def _at_epoch(case: Case, file: File, loops: list[Loop], text: str, call: Spot) -> FileEdits:
    inner = loops[0]
    if len(loops) > 1 or is_repeated(case.code, file, inner):
        wrong = _switched_off(file, inner, text)
        if wrong is not None:
            return replace(file, wrong, text)
        put = insert_before(file, inner, text)
        return _moved(file, loops[1], text, put) if len(loops) > 1 else put
    first = inner.body[0]
    wrong = _switched_off(file, inner, text)
    evaluated = any(
        each.file.file == file.file and in_block(file, inner.body, each.call) for each in spots(case, "eval")
    )
    if wrong is not None and not evaluated:
        return replace(file, wrong, text)
    return _moved(file, inner, text, insert_before(file, first, text))


def _moved(file: File, loop: Loop, text: str, put: FileEdits) -> FileEdits:
    """The same call before the loop goes away, as it is made in the loop now."""
    block = block_of(file, loop)
    for statement in block[: block.index(loop)][-3:]:
        if isinstance(statement, ast.Expr) and file.source(statement) == text:
            return combined(file, taken_out(file, statement), put, False)
    return put


def _switched_off(file: File, loop: Loop, text: str) -> ast.expr | None:
    """`model.eval()` or `model.train(False)` right before a loop, where `model.train()` belongs."""
    block = block_of(file, loop)
    name = text.removesuffix(".train()")
    for statement in reversed(block[: block.index(loop)][-4:]):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            source = file.source(statement).replace(" ", "")
            if source in (f"{name}.eval()", f"{name}.train(False)", f"{name}.train(mode=False)"):
                return statement.value
        if isinstance(statement, Loop | ast.With):
            return None
    return None


def evaluation_part(case: Case, call: Spot) -> ast.stmt:
    """The outermost statement around an evaluation pass that trains nothing: a loop or a `with torch.no_grad()`."""
    trained = training_nodes(case)
    found = call.statement
    for above in call.file.parents(call.statement):
        if isinstance(above, Function | ast.ClassDef | ast.Module) or holds(call.file, above, trained):
            break
        if isinstance(above, Loop | ast.With | ast.AsyncWith):
            found = above
    return found


def evaluation_start(case: Case, call: Spot, name: str) -> ast.stmt:
    """Where an evaluation begins: its function, when that knows the model from the start, else its first loop."""
    part = evaluation_part(case, call)
    function = call.file.function(call.call)
    trained = training_nodes(case)
    if function is None or holds(call.file, function, trained) or function.name in ("main", "__init__"):
        return part
    first = body_start(function)
    return _bound_before(call.file, first, call, name) if block_of(call.file, part)[0] is not part else part


def _bound_before(file: File, statement: ast.stmt, call: Spot, name: str) -> ast.stmt:
    """The earliest statement from `statement` on at which a local name is known."""
    block = block_of(file, statement)
    here = in_block(file, block, call.call)
    root = name.partition(".")[0]
    found = statement
    for index, each in enumerate(block):
        if each is here:
            break
        assigns = isinstance(each, ast.Assign) and any(
            root in variables_in(target) for target in each.targets
        )
        if assigns and index + 1 < len(block):
            found = block[index + 1]
    return found


def trains_afterwards(case: Case, call: Spot) -> bool:
    """Whether the program goes on training after an evaluation pass."""
    for pattern in case.trace.patterns:
        for each in pattern.calls:
            is_it = each.what == "forward" and each.site is not None and each.site.line == call.call.lineno
            if is_it and any(later.what == "step" for later in pattern.calls):
                return True
    return False


def within_batches(case: Case, call: Spot) -> tuple[File, ast.stmt] | None:
    """The statement of the loop over batches from which an evaluation is made; None when it comes between epochs."""
    passed = training_pass(case, "")
    loop = None if passed is None else passed.file.loop(passed.call)
    if passed is None or loop is None:
        return None
    outer = len(loops_around(passed.file, passed.call)) > 1
    candidates: list[tuple[File, ast.AST]] = [(call.file, call.call)]
    candidates += [(each.file, each.call) for each in callers(case.code, call.file, call.call)]
    for file, node in candidates:
        if file.file == passed.file.file:
            statement = in_block(file, loop.body, node)
            if statement is not None and (outer or file.loop(passed.call) is loop):
                return file, statement
    return None


def back_to_training(case: Case, model: str, call: Spot) -> FileEdits:
    """Training mode again after an evaluation: behind it within the loop over batches, else where epochs begin."""
    inside = within_batches(case, call)
    if inside is None:
        return in_training_mode(case, model)
    file, statement = inside
    passed = training_pass(case, model)
    if call.file.file == file.file and in_block(file, block_of(file, statement), call.call) is statement:
        statement = in_block(file, block_of(file, statement), evaluation_part(case, call)) or statement
    name = model_at(case, model, passed) if passed is not None else ""
    return insert_after(file, statement, f"{name}.train()") if name else ()
