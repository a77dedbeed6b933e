"""Places of a program that several operators need: the model once it is made, its layers by name, the objective."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.changes.case import Case
from netmend.changes.loop.loop_code import Spot, spots
from netmend.changes.loss.losses import Criterion, criterion_of
from netmend.changes.network.model_layers import layers_of
from netmend.program.source.names_of_object import known_as
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after, insert_before
from netmend.program.text.file import File
from netmend.vocabulary import LossFact, ModelFact, ModuleFact, ParameterFact
from netmend.vocabulary.change import FileEdits


@dataclass(frozen=True, eq=False)
class ModelPlace:
    """A statement before (or behind) which the model that is trained is complete, and what it is called there."""

    case: Case
    model: ModelFact
    file: File
    statement: ast.stmt
    name: str
    is_before: bool  # the statement makes the optimiser: what is put comes before it

    def put(self, text: str) -> FileEdits:
        place = insert_before if self.is_before else insert_after
        return place(self.file, self.statement, text)

    def path_of(self, module: ModuleFact) -> str:
        return path_of(self.case, self.name, module)

    def for_each(self, layers: Sequence[ModuleFact], line: str) -> FileEdits:
        """A line about `module`, for every layer of the kinds that these layers have."""
        classes = [
            spelled(self.file, f"torch.nn.{kind}") for kind in dict.fromkeys(layer.kind for layer in layers)
        ]
        wanted = classes[0][0] if len(classes) == 1 else f"({', '.join(each for each, _ in classes)})"
        text = f"for module in {self.name}.modules():\n    if isinstance(module, {wanted}):\n        {line}"
        return (*self.put(text), *(edit for _, extra in classes for edit in extra))


def model_place(case: Case) -> ModelPlace | None:
    """Where the model has just been made: before its optimiser is, else behind its own line."""
    model = trained_model(case)
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
            return ModelPlace(case, model, file, statement, name, True)
    place = case.code.statement_at(model.created)
    if place is not None and isinstance(place[1], ast.Assign) and len(place[1].targets) == 1:
        file, statement = place
        target = place[1].targets[0]
        if isinstance(target, ast.Name | ast.Attribute) and isinstance(place[1].value, ast.Call):
            return ModelPlace(case, model, file, statement, file.source(target), False)
    return None


def trained_model(case: Case) -> ModelFact | None:
    """The only model that an optimiser trains, else the first one."""
    trained = {p.name.partition(".")[0] for p in case.trace.parameters if p.optimizer is not None}
    models = [model for model in case.trace.models if model.name.partition(".")[0] in trained]
    return next(iter((*models, *case.trace.models)), None)


def path_of(case: Case, text: str, module: ModuleFact) -> str:
    """A module of a model that is called `text` in the source: `net.blocks[0].fc`; "" when it has no such name."""
    name = module.model
    for part in module.name.removeprefix(name).split(".")[1:]:
        holder = case.trace.get(ModuleFact, name) or case.trace.get(ModelFact, name)
        if part.isdigit() and holder is not None and holder.kind in ("Sequential", "ModuleList"):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}"
        else:
            return ""
        name = f"{name}.{part}"
    return text


def trained_layers(case: Case) -> list[ModuleFact]:
    """Linear layers and convolutions that are trained, of the model that is, in the order in which they ran."""
    model = trained_model(case)
    owners = {p.module for p in case.trace.all(ParameterFact) if p.optimizer is not None}
    return [
        module
        for module in case.trace.layers()
        if model is not None
        and module.model == model.name
        and module.order is not None
        and module.name in owners
        and module.kind in ("Linear", "Conv1d", "Conv2d", "ConvTranspose2d")
    ]


def hidden_layers(case: Case) -> list[ModuleFact]:
    """Linear layers and convolutions of that model but the last, also those that are not trained."""
    model = trained_model(case)
    return layers_of(case, "" if model is None else model.name)[:-1]


def has_bias(case: Case, layer: ModuleFact) -> bool:
    return any(p.module == layer.name and p.name.endswith(".bias") for p in case.trace.parameters)


def backward(case: Case) -> Spot | None:
    """The statement that takes the gradient, where it stands alone."""
    return next((each for each in spots(case, "backward") if each.is_alone), None)


def objective(case: Case) -> tuple[Spot, str] | None:
    """The statement `loss.backward()` and the name of the loss."""
    found = backward(case)
    if found is None or not found.receiver.isidentifier():
        return None
    return found, found.receiver


def training_criterion(case: Case, loss: LossFact) -> Criterion | None:
    """The loss as training has it; where it is a function, its calls elsewhere stay as they are."""
    found = criterion_of(case, loss)
    if found is None or found.created is not None:
        return found
    return Criterion(found.kind, None, found.calls[:1])
