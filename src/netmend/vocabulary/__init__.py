"""The words that all stages share: frozen data without any framework inside."""

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
from netmend.vocabulary.fault import FAULTY, HEALTHY, UNDECIDED, Advice, Diagnosis, Evidence, Fault
from netmend.vocabulary.protocol import Call, Pattern
from netmend.vocabulary.site import Site
from netmend.vocabulary.symptom import Symptom
from netmend.vocabulary.table import COLUMNS, Table
from netmend.vocabulary.trace import Trace

__all__ = [
    "COLUMNS",
    "FAULTY",
    "HEALTHY",
    "LEAVES",
    "UNDECIDED",
    "Advice",
    "BatchPrint",
    "Call",
    "Diagnosis",
    "EnvironmentFact",
    "Event",
    "Evidence",
    "Fact",
    "Fault",
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
    "RunFact",
    "SchedulerFact",
    "Site",
    "Statistics",
    "Symptom",
    "Table",
    "TargetFact",
    "TaskFact",
    "Trace",
]
