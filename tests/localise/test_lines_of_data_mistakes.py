"""Lines that a user edits when labels were moved, the wrong part was loaded, or one phase prepares its inputs in the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.localise.case import Case
from netmend.localise.causes.targets import LabelsDoNotBelong
from netmend.localise.lines.data_lines import (
    dataset_line,
    labels_moved,
    prepared_in_loop,
    several_loaders,
)
from netmend.localise.lines.objective_terms import added_term_line
from netmend.localise.lines.values import rewritten_argument
from netmend.program.text.sources import Sources
from netmend.vocabulary import Call, LossFact, ModelFact, Pattern, Site, Trace

PARTS = """\
train_set = Subset(MNIST("data", train=False), range(100))
test_set = MNIST("data", train=False)
train_loader = DataLoader(dataset=train_set, batch_size=8)
test_loader = DataLoader(test_set)
"""


def case_of(folder: Path, text: str, trace: Trace | None = None) -> tuple[Case, str]:
    script = folder / "train.py"
    script.write_text(text)
    return Case(trace or Trace(), sources=Sources(str(folder), str(script))), str(script)


def test_a_loader_leads_to_the_line_of_its_data_set(tmp_path: Path) -> None:
    case, file = case_of(tmp_path, PARTS)
    made = [dataset_line(case, Site(file, line)) for line in (3, 4)]
    assert [site.line if site is not None else None for site in made] == [1, 2]
    assert several_loaders(case, Site(file, 3))


def test_the_line_that_made_the_labels_anew_comes_before_the_loss(tmp_path: Path) -> None:
    text = "for x, y in loader:\n    order = torch.randperm(len(y))\n    y = y[order]\n    loss = criterion(model(x), y)\n"
    case, file = case_of(tmp_path, text)
    call = next(call for call in case.sources.calls_named(file, "criterion"))
    exact = Site(file, 4, call.col_offset, 4, call.end_col_offset)
    site = rewritten_argument(case.sources, exact, 1)
    assert site is not None and site.line == 3


@pytest.mark.parametrize(
    ("trained", "evaluated", "line"),
    [
        ("model(x)", "model(x * 255)", 4),
        ("model(x / 255)", "model(x)", 4),
        ("model(x / 255)", "model(x / 255)", None),
        ("model(x)", "model(x)", None),
    ],
)
def test_inputs_that_one_phase_alone_computes(
    tmp_path: Path, trained: str, evaluated: str, line: int | None
) -> None:
    text = f"for x, y in train:\n    out = {trained}\nfor x, y in test:\n    out = {evaluated}\n"
    _, file = case_of(tmp_path, text)
    calls = (Call("forward", "model", "eval, no_grad", Site(file, 4)),)
    facts = {"model": {"model": ModelFact("model", "Net", called=Site(file, 2))}}
    case, _ = case_of(tmp_path, text, Trace(facts, patterns=(Pattern(calls, ((0, 1),)),)))
    found = prepared_in_loop(case)
    assert (found.line if found is not None else None) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(a, b):\n    e = mse(a, b)\n    k = 0.5 * b.sum()\n    return e + k\n", 3),
        ("def f(a, b):\n    e = mse(a, b)\n    k = -0.5 * b.sum()\n    return e - k\n", 4),
        ("def f(a, b):\n    e = mse(a, b)\n    k = b.sum()\n    total = e + beta * k\n    return total\n", 3),
        ("def f(a, b):\n    e = mse(a, b)\n    return e\n", None),
    ],
)
def test_the_sign_of_a_term_is_at_its_line_or_at_the_sum(tmp_path: Path, text: str, line: int | None) -> None:
    _, file = case_of(tmp_path, text)
    loss = LossFact("mse@2", "mse_loss", called=Site(file, 2))
    objective = LossFact("objective@9", settings={"terms": ("mse@2",)})
    case, _ = case_of(tmp_path, text, Trace({"loss": {loss.name: loss, objective.name: objective}}))
    found = added_term_line(case, objective)
    assert (found.line if found is not None else None) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("train_set.targets = train_set.targets[torch.randperm(len(train_set))]\n", 1),
        ("y = y[np.random.permutation(len(y))]\nset = TensorDataset(x, y)\n", 1),
        ("order = torch.randperm(9)\ny = y[order]\nx = x[order]\nset = TensorDataset(x, y)\n", None),
        ("x = x[torch.randperm(9)]\nmodel(x)\n", None),
        ("np.random.shuffle(order)\nset = TensorDataset(x, y)\n", None),
        ("windows = torch.roll(windows, 1)\nset = TensorDataset(x, windows)\n", None),
    ],
)
def test_labels_that_the_source_plainly_moves_apart(tmp_path: Path, text: str, line: int | None) -> None:
    case, _ = case_of(tmp_path, text)
    found = labels_moved(case)
    assert (found.line if found is not None else None) == line


def test_a_short_run_that_learned_nothing_with_labels_moved_apart(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("y = y[torch.randperm(len(y))]\nset = TensorDataset(x, y)\nmodel(x)\n")
    for course, told in (([1.1, 1.0, 1.0, 1.0], True), ([1.1, 0.9, 0.5, 0.2], False)):
        trace = run_of("cross_entropy", given(16, 4), wanted(16), course=course, constant=1.0)
        case = Case(trace, sources=Sources(str(tmp_path), str(script)))
        found = [fault.site.line for fault in LabelsDoNotBelong().accuse(case) if fault.site is not None]
        assert found == ([1] if told else [])
