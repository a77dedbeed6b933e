"""Causes in the shape of a network: initial weights, activations, losses, penalties; and data causes that stand back behind them."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from netmend.diagnose.detectors.batches import BatchTooSmall
from netmend.diagnose.detectors.loss_inputs import MarginOnProbabilities
from netmend.diagnose.detectors.regularisation import penalised
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.losses import call, given, run_of, wanted
from netmend.diagnose.examples.networks import net_run
from netmend.localise import diagnose
from netmend.localise.case import Case
from netmend.localise.causes.inputs import InputsNotNormalised
from netmend.localise.causes.regularisation import RegularisationTooStrong
from netmend.localise.causes.targets import ClassesUnbalanced, LabelsDoNotBelong
from netmend.localise.lines.head_lines import hidden_exponentials
from netmend.localise.lines.initialisers import CONSTANT, init_line
from netmend.program.text.sources import Sources
from netmend.vocabulary import LossFact, ModuleFact, Site, Statistics, Symptom, Trace

ZERO = {"initial": Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0), "symmetric_share": 1.0}
SILENT = {1: {"sample_spread": 0.0, "zero_share": 1.0, "silent_share": 1.0}}


def program(folder: Path, text: str) -> Sources:
    (folder / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return Sources(str(folder), "train.py")


def told(trace: Trace) -> list[str]:
    return [fault.cause for fault in diagnose(trace).faults]


def test_zeros_that_nothing_passes_are_told_instead_of_the_labels() -> None:
    assert told(net_run(losses=flat(200), parameters={"model.0.weight": ZERO}, activations=SILENT)) == [
        "ARC-INIT-WEIGHT"
    ]


def test_zeros_that_learned_all_the_same_are_not_told() -> None:
    passing = {1: {"sample_spread": 0.0, "silent_share": 0.4}}
    assert told(net_run(parameters={"model.0.weight": ZERO}, activations=passing)) == []


def test_the_line_that_names_the_layer_is_taken(tmp_path: Path) -> None:
    sources = program(
        tmp_path,
        """
        nn.init.zeros_(model.head.weight)
        nn.init.zeros_(model.conv1.weight)
        nn.init.zeros_(model[2].weight)
        """,
    )
    near = Site("train.py", 1)
    lines = {
        layer: init_line(sources, near, "weight", CONSTANT, 0.0, layer)
        for layer in ("model.head", "model.conv1", "model.2")
    }
    assert {layer: site.line if site else None for layer, site in lines.items()} == {
        "model.head": 2,
        "model.conv1": 3,
        "model.2": 4,
    }


def test_a_sigmoid_among_rectifiers_is_told_where_units_behind_it_died() -> None:
    squeezed = {
        2: {"sample_spread": 0.5},
        3: {"sample_spread": 0.06},
        4: {"sample_spread": 0.05},
        5: {"silent_share": lambda step: min(0.02 + step / 30, 0.9)},
    }
    layers = "Linear(10,64) ReLU Linear(64,64) Sigmoid Linear(64,64) ReLU Linear(64,4)"
    assert told(net_run(layers, losses=flat(200), activations=squeezed))[0] == "ACT-HID-WRONG"
    assert told(net_run(layers, activations={key: squeezed[key] for key in (2, 3, 4)})) == []


EXPONENTIAL = """
    class Net(nn.Module):
        def forward(self, x):
            x = torch.exp(self.first(x))
            x = {second}
            return self.last(x)
"""


@pytest.mark.parametrize(
    ("second", "lines"), [("torch.relu(self.second(x))", [4]), ("torch.exp(0.5 * self.second(x))", [4])]
)
def test_exponentials_of_a_layer_are_read_from_the_source(
    tmp_path: Path, second: str, lines: list[int]
) -> None:
    sources = program(tmp_path, EXPONENTIAL.format(second=second))
    modules = {
        name: ModuleFact(
            name,
            "Linear",
            "net",
            "torch.nn.modules.linear.Linear",
            order=order,
            calls=1,
            input_shapes=((8, 16),),
            output_shapes=((8, 16),),
            created=Site("train.py", 2),
            called=Site("train.py", 4 + order, function="forward"),
        )
        for order, name in enumerate(("net.first", "net.second", "net.last"))
    }
    case = Case(Trace(facts={"module": modules}), (), sources)
    assert [site.line for site, _ in hidden_exponentials(case)] == lines


def test_logarithms_of_what_shares_nothing_are_told_at_the_activation() -> None:
    trace = run_of(
        "nll_loss",
        given(16, 4, "Log", "Clamp", "Sigmoid", low=-0.9, high=-0.5),
        wanted(16),
        call("sigmoid", 16, 4),
        course=[0.3] * 4 + [0.001] * 20,
        constant=1.4,
    )
    first = diagnose(trace).faults[0]
    assert (first.cause, first.site and first.site.line) == ("ACT-OUT-WRONG", 14)


def test_a_margin_on_probabilities_is_the_loss_and_not_the_activation() -> None:
    for run in MarginOnProbabilities.FAULTY:
        assert told(run.trace) == ["LOS-SELECT"], run.title


def test_a_divergence_for_one_class_each_is_the_loss() -> None:
    shares = given(16, 4, "Softmax")
    assert told(run_of("kl_div", shares, wanted(16, 4, high=1, axes=[1]))) == ["LOS-SELECT"]
    assert told(run_of("kl_div", shares, wanted(16, 4, high=0.9, whole=False, axes=[1]))) == ["ACT-OUT-WRONG"]


PENALTY = """
    RATE = 0.1
    STRENGTH = 0.05
    for x, y in loader:
        loss = criterion(model(x), y)
        penalty = model[2].weight.abs().sum()
        loss = loss + STRENGTH * penalty
        loss.backward()
"""


def test_a_penalty_on_one_layer_is_told_at_its_strength(tmp_path: Path) -> None:
    sources = program(tmp_path, PENALTY)
    (fault,) = diagnose(penalised(0.05)).faults
    assert (fault.cause, fault.component) == ("LOS-REG-EXTRA", "model.2")
    symptoms = tuple(s for s in diagnose(penalised(0.05)).symptoms if s.code == "D117")
    (placed,) = RegularisationTooStrong().accuse(Case(penalised(0.05), symptoms, sources))
    assert placed.site is not None and placed.site.line == 3
    assert "LOS-REG-EXTRA" not in told(penalised(1.1))


SKEWED = Symptom("D307", "40% are class 0.", detail={"majority": 0.4})
COLLAPSED = Symptom("D511", "One class for all.")


@pytest.mark.parametrize(
    ("symptoms", "sure"),
    [
        ((replace(SKEWED, detail={"majority": 0.95}), COLLAPSED), True),
        ((SKEWED, COLLAPSED), False),  # classes that are not rare are lost too
        ((replace(SKEWED, detail={"majority": 0.95}), COLLAPSED, Symptom("D104", "Dead units.")), False),
    ],
)
def test_imbalance_is_told_of_networks_that_work(symptoms: tuple[Symptom, ...], sure: bool) -> None:
    (fault,) = ClassesUnbalanced().accuse(Case(Trace(), symptoms))
    assert (fault.confidence > 0.7) is sure


def test_labels_are_not_accused_where_the_input_does_not_reach_the_output() -> None:
    stuck = Symptom("D501", "Nothing was learned.")
    (alone,) = LabelsDoNotBelong().accuse(Case(Trace(), (stuck,)))
    (unheard,) = LabelsDoNotBelong().accuse(Case(Trace(), (stuck, Symptom("D602", "The input is ignored."))))
    assert unheard.confidence < 0.3 < alone.confidence


def test_a_term_that_others_may_outweigh_says_nothing_about_labels() -> None:
    stuck = Symptom("D501", "Nothing was learned.", "mse_loss@train.py:9")
    whole = LossFact("objective@train.py:12", settings={"terms": ("mse_loss@train.py:9",)})
    term = LossFact("mse_loss@train.py:9", criterion="mse_loss")
    among_others = Trace(facts={"loss": {loss.name: loss for loss in (term, whole)}})
    assert list(LabelsDoNotBelong().accuse(Case(among_others, (stuck,)))) == []
    by_itself = Trace(facts={"loss": {term.name: term}})
    assert len(list(LabelsDoNotBelong().accuse(Case(by_itself, (stuck,))))) == 1


@pytest.mark.parametrize(
    ("kinds", "told"),
    [(("Conv2d", "ReLU"), True), (("Conv2d", "BatchNorm2d"), False), (("Linear", "BatchNorm1d"), True)],
)
def test_pixels_of_any_unit_suit_a_convolution_that_is_normalised_at_once(
    kinds: tuple[str, ...], told: bool
) -> None:
    layers = [ModuleFact(f"net.{place}", kind, order=place) for place, kind in enumerate(kinds)]
    trace = Trace(facts={"module": {layer.name: layer for layer in layers}})
    large = Symptom("D302", "The inputs are large.", "net", observed=145.0, limit=10.0)
    (fault,) = InputsNotNormalised().accuse(Case(trace, (large, Symptom("D501", "Nothing was learned."))))
    assert (fault.confidence >= 0.9) is told


def test_an_activation_that_stands_in_a_stack_several_times_is_between_its_layers() -> None:
    trace = net_run("Linear(10,64) ReLU Linear(64,64) ReLU Linear(64,64) ReLU Linear(64,4)", losses=flat(100))
    modules = dict(trace.facts["module"])
    modules["model.1"] = replace(modules["model.1"], calls=3)
    del modules["model.3"], modules["model.5"]
    shared = replace(trace, facts={**trace.facts, "module": modules})
    assert "ACT-HID-MISSING" not in told(shared)
    modules["model.1"] = replace(modules["model.1"], calls=1)
    assert "ACT-HID-MISSING" in told(replace(trace, facts={**trace.facts, "module": modules}))


def test_single_samples_are_told_only_where_the_loss_swings() -> None:
    (alone,) = [run.trace for run in BatchTooSmall.FAULTY if run.title == "single samples"]
    assert "HYP-BATCH-SMALL" not in told(alone)
    swinging = net_run(losses=[1.0 + 0.8 * math.sin(step / 12) for step in range(600)])
    tables = {
        **alone.tables,
        **{key: table for key, table in swinging.tables.items() if key[0] in ("step", "progress")},
    }
    loss = dict(swinging.facts["loss"])
    assert "HYP-BATCH-SMALL" in told(replace(alone, tables=tables, facts={**alone.facts, "loss": loss}))
