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

_PLACES = {
    "COLUMNS": "table",
    "CRASHED": "fault",
    "FAULTY": "fault",
    "HEALTHY": "fault",
    "LEAVES": "cause",
    "UNDECIDED": "fault",
    "Advice": "fault",
    "AgentFact": "acting",
    "BatchPrint": "batch",
    "Call": "protocol",
    "Crash": "fault",
    "Diagnosis": "fault",
    "Edit": "finding",
    "EnvironmentFact": "facts",
    "Event": "event",
    "Evidence": "fault",
    "Fact": "facts",
    "Fault": "fault",
    "Finding": "finding",
    "Fix": "finding",
    "FunctionFact": "facts",
    "GroupFact": "facts",
    "Leaf": "cause",
    "LoaderFact": "facts",
    "LossFact": "facts",
    "ModelFact": "facts",
    "ModuleFact": "facts",
    "OperandFact": "facts",
    "OptimizerFact": "facts",
    "ParameterFact": "facts",
    "Pattern": "protocol",
    "ProbeFact": "facts",
    "Related": "finding",
    "RunFact": "facts",
    "SchedulerFact": "facts",
    "Site": "site",
    "Statistics": "facts",
    "Symptom": "symptom",
    "Table": "table",
    "TargetFact": "facts",
    "TaskFact": "facts",
    "Trace": "trace",
    "WorldFact": "acting",
}


def __getattr__(name: str) -> Any:
    """Names load on first use: checking source must not wait for what only traces need (numpy)."""
    if name in _PLACES:
        import importlib

        found = getattr(importlib.import_module(f"netmend.vocabulary.{_PLACES[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'netmend.vocabulary' has no attribute {name!r}")
