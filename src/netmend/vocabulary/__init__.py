"""The words that all stages share: frozen data without any framework inside."""

from netmend.vocabulary.batch import BatchPrint
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
    RunFact,
    SchedulerFact,
    Statistics,
    TargetFact,
    TaskFact,
)
from netmend.vocabulary.protocol import Call, Pattern
from netmend.vocabulary.site import Site
from netmend.vocabulary.table import COLUMNS, Table
from netmend.vocabulary.trace import Trace

__all__ = [
    "COLUMNS",
    "BatchPrint",
    "Call",
    "EnvironmentFact",
    "Event",
    "Fact",
    "FunctionFact",
    "GroupFact",
    "LoaderFact",
    "LossFact",
    "ModelFact",
    "ModuleFact",
    "OperandFact",
    "OptimizerFact",
    "ParameterFact",
    "Pattern",
    "RunFact",
    "SchedulerFact",
    "Site",
    "Statistics",
    "Table",
    "TargetFact",
    "TaskFact",
    "Trace",
]
