"""The words that all stages share: frozen data without any framework inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netmend.vocabulary.acting import AgentFact, WorldFact
    from netmend.vocabulary.batch import BatchPrint
    from netmend.vocabulary.cause import LEAVES, Leaf
    from netmend.vocabulary.event import Event
    from netmend.vocabulary.facts import (
        EnvironmentFact,
        Fact,
        FunctionFact,
        GroupFact,
        LoaderFact,
        LossFact,
        ModelFact,
        ModuleFact,
        OperandFact,
        OptimizerFact,
        ParameterFact,
        ProbeFact,
        RunFact,
        SchedulerFact,
        Statistics,
        TargetFact,
        TaskFact,
    )
    from netmend.vocabulary.fault import (
        CRASHED,
        FAULTY,
        HEALTHY,
        UNDECIDED,
        Advice,
        Crash,
        Diagnosis,
        Evidence,
        Fault,
    )
    from netmend.vocabulary.finding import Edit, Finding, Fix, Related
    from netmend.vocabulary.preparation import PreparationFact
    from netmend.vocabulary.protocol import Call, Pattern
    from netmend.vocabulary.site import Site
    from netmend.vocabulary.symptom import Symptom
    from netmend.vocabulary.table import COLUMNS, Table
    from netmend.vocabulary.trace import Trace

__all__ = [
    "COLUMNS",
    "CRASHED",
    "FAULTY",
    "HEALTHY",
    "LEAVES",
    "UNDECIDED",
    "Advice",
    "AgentFact",
    "BatchPrint",
    "Call",
    "Crash",
    "Diagnosis",
    "Edit",
    "EnvironmentFact",
    "Event",
    "Evidence",
    "Fact",
    "Fault",
    "Finding",
    "Fix",
    "FunctionFact",
    "GroupFact",
    "Leaf",
    "LoaderFact",
    "LossFact",
    "ModelFact",
    "ModuleFact",
    "OperandFact",
    "OptimizerFact",
    "ParameterFact",
    "Pattern",
    "PreparationFact",
    "ProbeFact",
    "Related",
    "RunFact",
    "SchedulerFact",
    "Site",
    "Statistics",
    "Symptom",
    "Table",
    "TargetFact",
    "TaskFact",
    "Trace",
    "WorldFact",
]

_PLAIN = (
    "cause",
    "fault",
    "finding",
    "site",
    "symptom",
    "facts",
    "acting",
    "batch",
    "event",
    "protocol",
    "preparation",
)
_WITH_ARRAYS = ("table", "trace")


def __getattr__(name: str) -> Any:
    """Names load on first use: checking source must not wait for what only traces need (numpy)."""
    import importlib

    for module in (*_PLAIN, *_WITH_ARRAYS) if name in __all__ else ():
        found = getattr(importlib.import_module(f"netmend.vocabulary.{module}"), name, None)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module 'netmend.vocabulary' has no attribute {name!r}")
