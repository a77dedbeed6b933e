"""Places of a program that several operators need: the model once it is made, its layers by name, the objective."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, spots
from netmend.program.source.names_of_object import known_as
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, insert_before
from netmend.program.text.file import File
from netmend.vocabulary import ModelFact, ModuleFact, ParameterFact
from netmend.vocabulary.change import FileEdits


@dataclass(frozen=True, eq=False)
class Made:
    """A statement before (or behind) which a model is complete, and what the model is called there."""

    file: File
    statement: ast.stmt
    name: str
    is_before: bool  # the statement makes the optimiser: what is put comes before it

    def put(self, text: str) -> FileEdits:
        place = insert_before if self.is_before else insert_after
        return place(self.file, self.statement, text)


def made(case: Case, model: ModelFact | None) -> Made | None:
    """Where a model has just been made: before its optimiser is, else behind its own line."""
    if model is None:
        return None
    for optimizer in case.trace.optimizers:
        held = {name for group in optimizer.groups for name in group.parameters}
        found = case.code.call_at(optimizer.created)
        if found is None or not any(name.startswith(f"{model.name}.") for name in held):
            continue
        file, call = found
        name, statement = known_as(case.code, model.created, file, call), file.statement(call)
        if name and statement is not None:
            return Made(file, statement, name, True)
    place = case.code.statement_at(model.created)
    if place is not None and isinstance(place[1], ast.Assign) and len(place[1].targets) == 1:
        file, statement = place
        target = place[1].targets[0]
        if isinstance(target, ast.Name | ast.Attribute) and isinstance(place[1].value, ast.Call):
            return Made(file, statement, file.source(target), False)
    return None


def trained_model(case: Case) -> ModelFact | None:
    """The only model that an optimiser trains, else the first one."""
    trained = {p.name.partition(".")[0] for p in case.trace.parameters if p.optimizer is not None}
    models = [model for model in case.trace.models if model.name.partition(".")[0] in trained]
    return next(iter((*models, *case.trace.models)), None)


def reached(case: Case, place: Made, model: ModelFact, module: str) -> str:
    """A module of a model as the source names it: `net.blocks[0].fc`; "" when it has no such name."""
    path = module.removeprefix(f"{model.name}.") if module != model.name else ""
    text, name = place.name, model.name
    for part in path.split(".") if path else []:
        holder = case.trace.get(ModuleFact, name)
        indexed = name == model.name and model.kind in ("Sequential", "ModuleList")
        indexed = indexed or (holder is not None and holder.kind in ("Sequential", "ModuleList"))
        if part.isdigit() and indexed:
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}"
        else:
            return ""
        name = f"{name}.{part}"
    return text


def weighted(case: Case, model: ModelFact | None) -> list[ModuleFact]:
    """Linear layers and convolutions of a model that are trained, in the order in which they ran."""
    if model is None:
        return []
    owners = {p.module for p in case.trace.all(ParameterFact) if p.optimizer is not None}
    return [
        module
        for module in case.trace.layers()
        if module.model == model.name
        and module.order is not None
        and module.name in owners
        and module.kind in ("Linear", "Conv1d", "Conv2d", "ConvTranspose2d")
    ]


def biased(case: Case) -> set[str]:
    """Names of the modules with a bias."""
    return {parameter.module for parameter in case.trace.parameters if parameter.name.endswith(".bias")}


def every_layer(place: Made, kinds: list[str], line: str) -> FileEdits:
    """A line about `module`, for every layer of some kinds."""
    classes = [spelled(place.file, f"torch.nn.{kind}") for kind in dict.fromkeys(kinds)]
    wanted = classes[0][0] if len(classes) == 1 else f"({', '.join(each for each, _ in classes)})"
    text = f"for module in {place.name}.modules():\n    if isinstance(module, {wanted}):\n        {line}"
    return (*place.put(text), *(edit for _, extra in classes for edit in extra))


def backward(case: Case) -> Spot | None:
    """The statement that takes the gradient, where it stands alone."""
    return next((each for each in spots(case, "backward") if each.is_alone), None)


def objective(case: Case) -> tuple[Spot, str] | None:
    """The statement `loss.backward()` and the name of the loss."""
    found = backward(case)
    if found is None or not found.receiver.isidentifier():
        return None
    return found, found.receiver
