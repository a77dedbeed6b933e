"""First values of weights and biases in the source: where they are written, and lines that give usual ones to all layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.network.model_layers import layers_of, model_of_fault
from netmend.diagnose.measures.chain import mostly
from netmend.library.activations import SQUASHING
from netmend.localise.lines.initialisers import CONSTANT, RANDOM, SCALING
from netmend.program.source.naming import spelled
from netmend.program.source.writing import delete_statement, insert_after, replace, united
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name, methods
from netmend.vocabulary import ModelFact
from netmend.vocabulary.change import FileEdits

NAMES = (*CONSTANT, *RANDOM, *SCALING, "eye_", "sparse_", "exponential_", "add_")
_BLOCKS = (ast.For, ast.While, ast.With, ast.If)


@dataclass(frozen=True)
class Write:
    """One statement that writes to a parameter."""

    file: File
    statement: ast.stmt
    call: ast.Call | None  # None: an assignment
    target: str  # "layer.weight"
    how: str  # "normal_", "="

    @property
    def part(self) -> str:
        """weight | bias | any"""
        has = [word for word in ("weight", "bias") if word in self.target.rpartition(".")[2]]
        return has[0] if len(has) == 1 else "any"


def write_at(case: Case) -> Write | None:
    """The write on the line that the fault stands on."""
    found = case.code.statement_at(case.site)
    return None if found is None else _write(*found)


def constant_weights(file: File) -> Iterator[Write]:
    """Writes of one and the same value to all weights of a layer; of each scope and kind the first, as they go together."""
    known: set[int] = set()
    for node in inside(file.tree, ast.stmt):
        write = _write(file, node)
        if write is None or write.part != "weight" or write.how not in CONSTANT or _is_of_norm(write):
            continue
        if id(write.statement) not in known:
            known.update(id(other.statement) for other in writes_like(write))
            yield write


def writes_like(write: Write) -> list[Write]:
    """The writes of the same kind to the same part, in the same function or the same class; normalisations are left out."""
    file = write.file
    scope: ast.AST = file.owner(write.statement) or file.function(write.statement) or file.tree
    found = [one for node in inside(scope, ast.stmt) if (one := _write(file, node))]
    same = [
        one for one in found if one.part == write.part and _kind(one) == _kind(write) and not _is_of_norm(one)
    ]
    return same if any(one.statement is write.statement for one in same) else [write]


def _kind(write: Write) -> str:
    return "constant" if write.how in CONSTANT else write.how


def _write(file: File, statement: ast.stmt) -> Write | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        name = last_name(call.func)
        if _is_chosen(call):  # INITIALISERS[kind](layer.weight)
            return Write(file, statement, call, _bare(file, call.args[0]), "chosen")
        if name not in NAMES:
            return None
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        is_library = holder is None or last_name(holder) in ("init", "I", "weight_init")
        target = call.args[0] if is_library and call.args else holder
        return None if target is None else Write(file, statement, call, _bare(file, target), name)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        text = _bare(file, statement.targets[0])
        changes = isinstance(statement.targets[0], ast.Attribute) and text.endswith(("weight", "bias"))
        return Write(file, statement, None, text, "=") if changes else None
    if isinstance(statement, ast.AugAssign):
        text = _bare(file, statement.target)
        whole = file.source(statement.target)
        is_parameter = text.endswith(("weight", "bias")) or whole.endswith(".data")
        return Write(file, statement, None, text, "*=") if is_parameter else None
    return None


def _is_chosen(call: ast.Call) -> bool:
    """A function from a table, or one that was looked up by its name, that is given a parameter."""
    looked_up = isinstance(call.func, ast.Subscript) or (
        isinstance(call.func, ast.Call) and last_name(call.func.func) == "getattr"
    )
    if not looked_up or not call.args:
        return False
    given = (
        call.args[0].value
        if last_name(call.args[0]) == "data" and isinstance(call.args[0], ast.Attribute)
        else call.args[0]
    )
    return isinstance(given, ast.Attribute) and given.attr in ("weight", "bias")


def _bare(file: File, target: ast.expr) -> str:
    """`layer.weight.data[:]` → "layer.weight"."""
    while isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr == "data"):
        target = target.value
    return file.source(target)


def _is_of_norm(write: Write) -> bool:
    """Under `isinstance(m, nn.BatchNorm2d)`: ones are right there."""
    return any("Norm" in test and "Linear" not in test and "Conv" not in test for test in conditions(write))


def conditions(write: Write) -> Iterator[str]:
    """The texts of the conditions that a write stands under."""
    below: ast.AST = write.statement
    for above in write.file.parents(write.statement):
        if isinstance(above, ast.If) and below in above.body:
            yield write.file.source(above.test)
        below = above


def without(file: File, statements: list[ast.stmt]) -> tuple[FileEdits, bool]:
    """Edits that take statements away, with loops and conditions that hold nothing else; and whether no `pass` is left."""
    gone, clean = list(dict.fromkeys(statements)), True
    edits: list[FileEdits] = []
    changed = True
    while changed:
        changed = False
        for statement in gone:
            above = file.parent(statement)
            whole = isinstance(above, _BLOCKS) and not getattr(above, "orelse", None)
            if whole and isinstance(above, ast.stmt) and all(inner in gone for inner in _body(above)):
                inside = _body(above)
                gone = [*dict.fromkeys([*(one for one in gone if one not in inside), above])]
                changed = True
                break
    for statement in gone:
        block = _block(file, statement)
        alone = bool(block) and all(other in gone for other in block)
        if alone and not isinstance(file.parent(statement), ast.Module):
            clean = False
            edits.append(
                replace(file, statement, "pass")
                if statement is block[0]
                else delete_statement(file, statement)
            )
        else:
            edits.append(delete_statement(file, statement))
    return (tuple(edit for part in edits for edit in part), clean) if all(edits) else ((), False)


def _body(statement: ast.stmt) -> list[ast.stmt]:
    body: list[ast.stmt] = getattr(statement, "body", [])
    return body


def _block(file: File, statement: ast.stmt) -> list[ast.stmt]:
    above = file.parent(statement)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def suited(case: Case) -> tuple[str, str, str]:
    """Title, function and further arguments of what suits the activations."""
    if mostly(case.trace, SQUASHING) is not None:
        return "Xavier's", "xavier_uniform_", ""
    return "He's", "kaiming_uniform_", ', nonlinearity="relu"'


def everywhere(case: Case) -> FileEdits:
    """At the end of the model's `__init__`, or behind the line that makes it."""
    name = model_of_fault(case)
    model = next((m for m in case.trace.all(ModelFact) if not name or m.name == name), None)
    kinds = dict.fromkeys(layer.kind for layer in layers_of(case, name))
    if model is None or not kinds:
        return ()
    owner = case.code.definition(model.kind, ast.ClassDef)
    if owner is not None and isinstance(owner[1], ast.ClassDef):
        init = methods(owner[1]).get("__init__")
        return () if init is None else _loop(case, owner[0], init.body[-1], "self", list(kinds))
    last = model.name.rpartition(".")[2]
    for file in case.code.files():
        for node in inside(file.tree, ast.Assign):
            if isinstance(node.value, ast.Call):
                target = node.targets[0]
                makes = isinstance(target, ast.Name | ast.Attribute) and last_name(target) == last
                if makes and _makes(case, file, node.value, model):
                    return _loop(case, file, node, file.source(target), list(kinds))
    return ()


def _loop(case: Case, file: File, last: ast.stmt, model: str, kinds: list[str]) -> FileEdits:
    _, function, more = suited(case)
    init, extra = spelled(file, f"torch.nn.init.{function}")
    classes = [spelled(file, f"torch.nn.{kind}") for kind in kinds]
    wanted = classes[0][0] if len(classes) == 1 else f"({', '.join(name for name, _ in classes)})"
    text = (
        f"for module in {model}.modules():\n    if isinstance(module, {wanted}):\n"
        f"        {init}(module.weight{more})"
    )
    return united([insert_after(file, last, text), extra, *(more for _, more in classes)])


def _makes(case: Case, file: File, call: ast.Call, model: ModelFact) -> bool:
    """Whether a call makes the model: it stands at its place, or calls the function that does."""
    if model.created is None:
        return False
    if model.created.file == file.file and call.lineno <= model.created.line <= (
        call.end_lineno or call.lineno
    ):
        return True
    around = case.sources.function_around(model.created)
    return around is not None and last_name(call.func) == around.name
