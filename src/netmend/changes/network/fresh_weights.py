"""A good start for weights: which one suits the activations, and giving it to all layers of a model."""

from __future__ import annotations

import ast

from netmend.changes.case import Case
from netmend.changes.network.model_layers import layers_of, model_of_fault, united
from netmend.changes.network.stacks import init_of
from netmend.diagnose.measures.chain import mostly
from netmend.library.activations import SQUASHING
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after
from netmend.program.text.file import File
from netmend.program.text.queries import inside, last_name
from netmend.vocabulary import ModelFact
from netmend.vocabulary.change import FileEdits


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
        init = init_of(owner[1])
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
