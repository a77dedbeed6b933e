"""What is known about a training program: plain frozen data, no framework inside.

Each class is one kind of fact; a trace holds many facts of a kind, told apart by `name`. New fields get a default,
so that traces written by an older version still open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netmend.vocabulary.acting import AgentFact, WorldFact
from netmend.vocabulary.crash import CrashFact
from netmend.vocabulary.preparation import PreparationFact
from netmend.vocabulary.site import Site

Settings = Mapping[str, Any]  # hyperparameters by name: numbers, strings, booleans, lists of these
Shape = tuple[int, ...]


@dataclass(frozen=True)
class RunFact:
    """The run as a whole: what was started, how it ended, what watching it cost."""

    name: str  # the run's id
    script: str
    arguments: tuple[str, ...] = ()
    working_directory: str = ""
    started: float = 0.0  # seconds since the epoch
    ended: float | None = None
    status: str = "running"  # running | finished | failed | interrupted | stopped (by --stop-on); readers also say killed
    exit_code: int | None = None
    exception: str | None = None  # "ValueError: …", if the script raised
    exception_site: Site | None = None
    steps: int = 0  # optimiser steps (hand-written updates count too)
    seconds: float = 0.0  # wall time between the first and the last step seen
    own_seconds: float = 0.0  # time spent in netmend's own code meanwhile
    overhead: float | None = None  # estimated slow-down of the training loop, as a share (0.01 = 1 %)
    overhead_budget: float = 0.01
    steady_overhead: float | None = None  # the same since the allowance for the first steps was used up
    judge_seconds: float | None = None  # what judging took at the end; known where it has just been done
    every: int | None = None  # all statistics at every n-th step, as asked for; the budget does not hold then
    full_steps: int = 0  # steps on which all statistics were taken
    light_steps: int = 0  # steps on which nothing was recorded, to keep the budget
    missing: tuple[str, ...] = ()  # what could not be seen, and why, in plain sentences
    netmend_version: str = ""


@dataclass(frozen=True)
class EnvironmentFact:
    """Where the program ran."""

    name: str = "environment"
    python: str = ""
    framework: str = ""  # "torch 2.13.0"
    numpy: str = ""
    platform: str = ""
    device: str = ""  # "cpu", "cuda: NVIDIA H200"
    default_dtype: str = ""
    threads: int | None = None
    autocast: str | None = None  # dtype of automatic mixed precision, if used
    grad_scaler: bool = False
    compiled: bool = False
    deterministic: bool = False
    rank: int = 0
    world_size: int = 1


@dataclass(frozen=True)
class Statistics:
    """Moments of one tensor; shares are in 0..1. None where not measured."""

    mean: float | None = None
    std: float | None = None
    rms: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    zero_share: float | None = None
    nonfinite: int | None = None


@dataclass(frozen=True)
class ModelFact:
    """One outermost module that the program calls (a GAN has two)."""

    name: str  # the user's own name for it where it can be found: "model", "net", "self.encoder"
    kind: str  # class name
    modules: tuple[str, ...] = ()
    parameters: int = 0  # numbers of elements
    trainable: int = 0
    device: str = ""
    dtype: str = ""
    compiled: bool = False
    wrapper: str | None = None  # "DistributedDataParallel", "DataParallel", "OptimizedModule"
    created: Site | None = None
    called: Site | None = None
    input_shapes: tuple[Shape, ...] = ()
    output_shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class ModuleFact:
    """One module inside a model, or a layer that is called but registered nowhere."""

    name: str  # "model.fc1"
    kind: str  # class name: "Linear"
    model: str = ""
    qualified: str = ""  # "torch.nn.modules.linear.Linear"
    settings: Settings = field(default_factory=dict)
    # "relu", "sigmoid", … when the module is an elementwise non-linearity or softmax
    activation: str | None = None
    leaf: bool = True
    # False: executed inside the model but not among its modules (a layer in a plain list)
    registered: bool = True
    training: bool = True
    order: int | None = None  # position in the first observed forward pass; None if never called
    calls: int = 0  # calls within that forward pass (shared modules are called several times)
    input_shapes: tuple[Shape, ...] = ()
    output_shapes: tuple[Shape, ...] = ()
    output_dtype: str = ""
    created: Site | None = None
    called: Site | None = None


@dataclass(frozen=True)
class FunctionFact:
    """A functional operation that matters to learning, inside a model's forward or between model and loss."""

    name: str  # "relu@train.py:23"
    function: str  # "relu", "softmax", "dropout", "detach", …
    kind: str  # "activation" | "dropout" | "norm" | "graph cut" | "loss path" | "pair scores"
    model: str = ""
    inside: str = ""  # module whose forward made the call; "" when outside any module
    after: str = ""  # module that produced the input, if seen
    settings: Settings = field(default_factory=dict)
    order: int | None = None
    output_shape: Shape = ()
    site: Site | None = None


@dataclass(frozen=True)
class ParameterFact:
    """One parameter tensor, at the first step."""

    name: str  # "model.fc1.weight"
    module: str = ""
    shape: Shape = ()
    dtype: str = ""
    device: str = ""
    trainable: bool = True
    optimizer: str | None = None  # None: no optimiser holds it
    group: int | None = None
    initial: Statistics = Statistics()
    symmetric_share: float | None = None  # share of output units whose incoming weights equal another unit's
    tied_to: str | None = None  # name of the parameter that shares its storage


@dataclass(frozen=True)
class GroupFact:
    settings: Settings = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    unknown_parameters: int = 0  # tensors that belong to no model that was seen


@dataclass(frozen=True)
class OptimizerFact:
    name: str
    kind: str
    groups: tuple[GroupFact, ...] = ()
    created: Site | None = None
    stepped: Site | None = None


@dataclass(frozen=True)
class SchedulerFact:
    name: str
    kind: str
    optimizer: str = ""
    settings: Settings = field(default_factory=dict)
    created: Site | None = None
    stepped: Site | None = None


@dataclass(frozen=True)
class OperandFact:
    """One tensor that a loss was given, on the first batch it was seen."""

    role: str  # "prediction" | "target" | "weight" | "other"
    shape: Shape = ()
    dtype: str = ""
    requires_grad: bool = False
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    integral: bool | None = None  # every value is a whole number
    rows_sum_to_one: bool | None = None  # along the class axis
    distinct: int | None = None  # number of distinct values, counted up to a limit
    normalised_axes: tuple[int, ...] = ()  # along which the values are not negative and sum to one
    log_normalised_axes: tuple[int, ...] = ()  # along which their exponentials sum to one
    path: tuple[str, ...] = ()  # autograd nodes that made it, the last one first, along the first branch


@dataclass(frozen=True)
class LossFact:
    """A training objective: a loss function or module, or the expression on which backward() was called."""

    name: str  # "cross_entropy@train.py:31"
    # "cross_entropy", "mse_loss", …; "expression" when hand-written and unrecognised
    criterion: str = "expression"
    form: str = "expression"  # "module" | "function" | "expression"
    settings: Settings = field(default_factory=dict)
    operands: tuple[OperandFact, ...] = ()
    # autograd nodes between the objective and the model's output, objective first
    operations: tuple[str, ...] = ()
    created: Site | None = None
    called: Site | None = None
    backward: Site | None = None

    @property
    def line(self) -> Site | None:
        """The line to change: where it is made, else where it is called."""
        return self.created or self.called

    @property
    def prediction(self) -> OperandFact | None:
        return next((operand for operand in self.operands if operand.role == "prediction"), None)

    @property
    def target(self) -> OperandFact | None:
        return next((operand for operand in self.operands if operand.role == "target"), None)


@dataclass(frozen=True)
class LoaderFact:
    name: str
    dataset: str = ""  # class name
    samples: int | None = None
    batch_size: int | None = None
    shuffle: bool | None = None
    sampler: str = ""
    drop_last: bool = False
    workers: int = 0
    phase: str = "unknown"  # training | evaluation | unknown
    created: Site | None = None
    iterated: Site | None = None
    part: str = ""  # "train" or "test", where the data set itself says which part of the data it holds


@dataclass(frozen=True)
class TaskFact:
    """What kind of problem is being learned, with the evidence for saying so."""

    name: str  # the loss it was read from
    kind: str  # classification | binary | multi-label | regression | sequence | other
    classes: int | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetFact:
    """The targets of one loss, gathered over the batches that were looked at."""

    name: str  # the loss
    samples: int = 0
    class_counts: Mapping[str, int] = field(default_factory=dict)
    mean: float | None = None
    std: float | None = None
    constant_loss: float | None = None  # loss of the best constant prediction


@dataclass(frozen=True)
class ProbeFact:
    """The outcome of a small experiment on a copy or a replay: what was tried, and the numbers that came out."""

    name: str  # "batch independence@model"
    what: str  # "batch independence", "affine", …; see adapters/torch/probes; or what was looked at once: "collation", "worker seeds"
    component: str = ""  # model, module or function it was made on
    step: int = 0
    values: Settings = field(default_factory=dict)
    site: Site | None = None


Fact = (
    RunFact
    | EnvironmentFact
    | ModelFact
    | ModuleFact
    | FunctionFact
    | ParameterFact
    | OptimizerFact
    | SchedulerFact
    | LossFact
    | LoaderFact
    | TaskFact
    | TargetFact
    | ProbeFact
    | WorldFact
    | AgentFact
    | CrashFact
    | PreparationFact
)

FACT_KINDS: dict[str, type[Any]] = {
    "run": RunFact,
    "environment": EnvironmentFact,
    "model": ModelFact,
    "module": ModuleFact,
    "function": FunctionFact,
    "parameter": ParameterFact,
    "optimizer": OptimizerFact,
    "scheduler": SchedulerFact,
    "loss": LossFact,
    "loader": LoaderFact,
    "task": TaskFact,
    "target": TargetFact,
    "probe": ProbeFact,
    "world": WorldFact,
    "agent": AgentFact,
    "crash": CrashFact,
    "preparation": PreparationFact,
}
KIND_OF_FACT: dict[type[Any], str] = {cls: kind for kind, cls in FACT_KINDS.items()}
