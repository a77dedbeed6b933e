"""Traces of the ordinary programs of this test suite: whole, and consistent within themselves."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import netmend
from netmend.store import read_trace
from netmend.vocabulary import (
    FunctionFact,
    LossFact,
    ModelFact,
    ModuleFact,
    OptimizerFact,
    ParameterFact,
    Site,
    TaskFact,
    Trace,
)

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
NAMES = (
    "amp_bfloat16",
    "attention_pooling",
    "autoencoder",
    "binary_bce",
    "cnn_functional",
    "custom_optimizer",
    "embedding_gru",
    "frozen_backbone",
    "gan",
    "gradient_accumulation",
    "handwritten_loss",
    "layers_in_plain_list",
    "lbfgs_closure",
    "lstm_regression",
    "mlp_classifier",
    "module_list",
    "multi_task",
    "multilabel",
    "one_cycle",
    "reduce_on_plateau",
    "scheduler_and_clipping",
    "several_phases",
    "shared_modules",
    "sparse_gradients",
    "transformer_encoder",
    "triplet_metric",
    "update_by_hand_data",
    "update_by_hand_no_grad",
    "vae",
)


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    """Programs set what they like; the next test starts from the same settings."""
    threads, kind = torch.get_num_threads(), torch.get_default_dtype()
    yield
    torch.set_num_threads(threads)
    torch.set_default_dtype(kind)
    torch.use_deterministic_algorithms(False)


def trace_of(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    monkeypatch.syspath_prepend(PROGRAMS)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    watch = netmend.watch(directory=folder, quiet=True, every=2)
    with watch, contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    return read_trace(watch.path)


@pytest.mark.parametrize("name", NAMES)
def test_traces_are_whole_and_consistent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_of(name, tmp_path, monkeypatch)
    assert not [event.message for event in trace.events if event.kind == "part switched off"]
    assert trace.run.status == "finished" and trace.run.steps > 0 and not trace.run.missing
    assert trace.models and trace.losses and trace.parameters
    _check_names(trace)
    _check_steps(trace)
    _check_sites(trace)


def _check_names(trace: Trace) -> None:
    """Whatever has numbers is known by the same name among the facts."""
    parameters = {fact.name for fact in trace.all(ParameterFact)}
    layers = {fact.name for fact in trace.all(ModuleFact)} | {fact.name for fact in trace.all(FunctionFact)}
    losses = {fact.name for fact in trace.all(LossFact)}
    models = {fact.name for fact in trace.all(ModelFact)}
    known = {
        "activation": layers,
        "gradient": parameters,
        "weight": parameters,
        "update": parameters,
        "progress": losses,
        "evaluation": losses | models,
        "input": models,
        "step": {fact.name for fact in trace.all(OptimizerFact)} | {""},
    }
    for kind, component in trace.tables:
        assert component in known.get(kind, {component}), f"{kind} of {component}, which is no fact"
    assert {fact.name for fact in trace.all(TaskFact)} == losses
    held = [name for fact in trace.optimizers for group in fact.groups for name in group.parameters]
    assert set(held) <= parameters
    for fact in trace.parameters:
        if fact.tied_to is None:
            assert (fact.optimizer is not None) == (fact.name in held), f"{fact.name} and its optimiser"
        else:
            assert fact.tied_to in parameters


def _check_steps(trace: Trace) -> None:
    """Every step has one row and one pattern; rows come in order."""
    rows = sorted(step for table in trace.tables_of("step") for step in table.steps.tolist())
    assert rows == list(range(trace.run.steps))
    for table in trace.tables_of("step"):
        # Two optimisers may share one backward pass: the second step has no loss of its own.
        assert ((table.column("backwards") > 0) == np.isfinite(table.column("loss"))).all()
    stepping = [
        p for p in trace.patterns if p.calls[-1].what != "end"
    ]  # the rest: what followed the last step
    covered = sorted(step for p in stepping for a, b in p.spans for step in range(a, b + 1))
    assert covered == list(range(trace.run.steps))
    for table in trace.tables.values():
        assert (table.steps[1:] >= table.steps[:-1]).all()
    for pattern in stepping:
        # The last call of its step, but for what a closure calls within it.
        (step,) = [index for index, call in enumerate(pattern.calls) if call.what == "step"]
        assert step == len(pattern.calls) - 1 or pattern.calls[step].detail == "closure"


def _check_sites(trace: Trace) -> None:
    """Every line that is named exists, in a file of the program."""
    lines = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in PROGRAMS.glob("*.py")}
    sites: dict[str, Site | None] = {}
    for pattern in trace.patterns:
        sites.update(
            {
                f"{call}": call.site
                for call in pattern.calls
                if call.what not in ("batch", "gap", "end") and call.detail != "found clear"
            }
        )
    for module in trace.all(ModuleFact):
        sites[f"creation of {module.name}"] = module.created
        if module.order is not None:
            sites[f"call of {module.name}"] = module.called
    sites.update({fact.name: fact.site for fact in trace.all(FunctionFact)})
    sites.update({fact.name: fact.created for fact in trace.all(OptimizerFact)})
    for what, site in sites.items():
        assert site is not None and 1 <= site.line <= lines.get(site.file, 0), f"{what}: {site}"
