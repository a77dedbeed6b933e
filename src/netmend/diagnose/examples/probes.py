"""Small literal runs for the examples of detectors that read the outcomes of experiments."""

from __future__ import annotations

from typing import Any

from netmend.diagnose.examples.curves import trace_of
from netmend.vocabulary import FunctionFact, ModuleFact, OptimizerFact, ProbeFact, RunFact, Site, Trace
from netmend.vocabulary.facts import Fact

MODEL = Site("model.py", 12)
LINE = Site("model.py", 20)


def probed(what: str, *others: Fact, step: int = 1, **values: Any) -> Trace:
    """A run of 100 steps in which one experiment was made on `model`, with what came out of it."""
    probe = ProbeFact(f"{what}@model", what, "model", step, values, LINE)
    run = RunFact("example", "train.py", steps=100, status="finished")
    return trace_of(run, probe, *others)


def mixed(
    others: float = 0.2,
    *,
    operation: str = "view",
    given: tuple[int, ...] = (32, 10, 6),
    output: tuple[int, ...] = (32, 3),
    target: tuple[int, ...] = (32,),
    loader: int = 32,
    optimizers: int = 1,
    **more: Any,
) -> Trace:
    """An experiment on whether samples are mixed."""
    values = {
        "others": others,
        "own": 0.5,
        "batch": given[0],
        "rows": 7,
        "input_shape": given,
        "output_shape": output,
        "target_shape": target,
        "loader_batch": loader,
        "operation": operation,
        "module": "model",
        "kind": "Net",
        "batch_first": None,
        "module_input": (),
    }
    stepped = [OptimizerFact(f"optimizer{n}", "Adam", stepped=Site("train.py", 9)) for n in range(optimizers)]
    return probed("batch independence", *stepped, **{**values, **more})


def recurrent(others: float = 0.2, **more: Any) -> Trace:
    """The same where a recurrent layer takes the first axis for time."""
    layer = ModuleFact("model.lstm", "LSTM", "model", created=MODEL, called=LINE)
    values: dict[str, Any] = {
        "operation": "stack",
        "module": "model.lstm",
        "kind": "LSTM",
        "batch_first": False,
        "module_input": (32, 10, 6),
        "loader": 0,
    }
    trace = mixed(others, **(values | more))
    return trace_of(layer, onto=trace)


def swapped(
    before: tuple[int, ...] = (32, 30, 6), after: tuple[int, ...] = (32, 6, 30), classes: bool = False
) -> Trace:
    """A view in the forward pass; `classes`: between the network and its loss."""
    return probed("axis order", before=before, after=after, operation="view", module="model", classes=classes)


def dropped(difference: float = 0.4, operation: str = "bernoulli") -> Trace:
    """A model with a functional dropout, run twice in eval mode."""
    dropout = FunctionFact("model.dropout@model.py:20", "dropout", "dropout", "model", site=LINE)
    return probed("eval determinism", dropout, difference=difference, operation=operation)
