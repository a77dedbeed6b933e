"""The layers of a model as the trace knows them: in which order they ran, in what they stand, what they take."""

from __future__ import annotations

from collections.abc import Iterable

from netmend.changes.case import Case
from netmend.diagnose.measures.chain import Link, chain
from netmend.library.layers import LAYERS
from netmend.program.text.queries import last_name
from netmend.vocabulary import ModuleFact, Site
from netmend.vocabulary.change import FileEdits

# What a layer says about the width of its input and output, and where: (setting, position)
TAKES = {layer.kind: (layer.takes, layer.place) for layer in LAYERS if layer.takes}


def united(parts: Iterable[FileEdits]) -> FileEdits:
    """All edits of several places, each once: layers that are made in a loop share their line."""
    return tuple(dict.fromkeys(edit for part in parts for edit in part))


def links_of(case: Case, model: str = "") -> list[Link]:
    """What ran in a model, in order; of the first model when none is named."""
    name = model or (case.model.name if case.model is not None else "")
    return [link for link in chain(case.trace) if link.model == name]


def model_of_fault(case: Case) -> str:
    """The model that the fault's component belongs to; "" when it names none."""
    component = "" if case.fault is None else case.fault.component
    fact = case.trace.get(ModuleFact, component)
    if fact is not None:
        return fact.model
    names = [model.name for model in case.trace.models]
    return next((name for name in names if component == name or component.startswith(f"{name}.")), "")


def layers_of(case: Case, model: str = "") -> list[ModuleFact]:
    """Linear layers and convolutions of a model in the order in which they ran."""
    return [
        link.module for link in links_of(case, model) if link.kind == "linear" and link.module is not None
    ]


def holder_of(case: Case, module: ModuleFact) -> ModuleFact | None:
    return case.trace.get(ModuleFact, module.name.rpartition(".")[0])


def in_stack(case: Case, module: ModuleFact) -> bool:
    """Whether a Sequential calls it, so that what is put behind it there is called too."""
    holder = holder_of(case, module)
    return holder is not None and holder.kind == "Sequential" and module.registered


def is_written(case: Case, module: ModuleFact) -> bool:
    """Whether the program itself makes and calls a layer; those inside ready-made blocks cannot be touched."""
    created = case.code.call_at(module.created)
    if created is None or last_name(created[1].func) != module.kind:
        return False
    called = case.code.call_at(module.called)
    own = called is not None and last_name(called[1].func) == module.name.rpartition(".")[2]
    return own or in_stack(case, module)


def made_by(case: Case, site: Site | None) -> list[ModuleFact]:
    """The modules that one line of source creates, in the order in which they ran."""
    found = [module for module in case.trace.layers() if site is not None and module.created == site]
    return [module for module in found if module.order is not None]
