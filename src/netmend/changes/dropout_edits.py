"""Dropout in the source: where its rates are given, what they are, another one in their place."""

from __future__ import annotations

from netmend.changes.case import Case
from netmend.changes.network.model_layers import is_written
from netmend.program.source.values import set_argument
from netmend.program.source.writing import united
from netmend.vocabulary import FunctionFact, ModuleFact, Site
from netmend.vocabulary.change import FileEdits


def dropout_sites(case: Case) -> dict[Site, int]:
    """Where rates are given, and as which argument."""
    found: dict[Site, int] = {}
    for module in case.trace.all(ModuleFact):
        ran = module.created is not None and module.order is not None
        if (
            module.kind.startswith("Dropout")
            and ran
            and is_written(case, module)
            and module.created is not None
        ):
            found[module.created] = 0
    for fact in case.trace.all(FunctionFact):
        if fact.function == "dropout" and fact.site is not None:
            found[fact.site] = 1
    return found


def dropout_rates(case: Case) -> list[float]:
    """The rates that are set now, as far as they are known."""
    sites = dropout_sites(case)
    settings = [fact.settings for fact in case.trace.all(ModuleFact) if fact.created in sites]
    settings += [fact.settings for fact in case.trace.all(FunctionFact) if fact.site in sites]
    return [float(rate) for each in settings if isinstance(rate := each.get("p"), int | float)]


def set_dropout(case: Case, rate: str) -> FileEdits:
    """The same rate wherever there is dropout."""
    faces = [
        set_argument(case.code, site, "p", rate, place, case.arguments)
        for site, place in dropout_sites(case).items()
    ]
    return united(face.edits for face in faces) if faces and all(faces) else ()
