"""Evaluation passes, told from training passes, with their loss, metric, size and modes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from recording import Recorded, record

from netmend.vocabulary import Table

PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset
x, y = torch.randn(30, 4), torch.arange(30) % 3
train = DataLoader(TensorDataset(x[:20], y[:20]), batch_size=5)
held_out = DataLoader(TensorDataset(x[20:], y[20:]), batch_size=4)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
rule = nn.CrossEntropyLoss()
losses, scores, training = [], [], []

def evaluate():
    {mode}
    total = right = 0
    {guard}
        for inputs, labels in held_out:
            out = net(inputs)
            loss = rule(out, labels)  # <- check
            total += loss.item() * len(labels)
            right += (out.argmax(1) == labels).sum().item()
    losses.append(total / 10)
    scores.append(right / 10)
    net.train()

for epoch in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = rule(net(inputs), labels)  # <- loss
        training.append(loss.item())
        loss.backward()
        optimizer.step()
    evaluate()
"""


def program(mode: str = "net.eval()", guard: str = "with torch.no_grad():") -> str:
    return PROGRAM.format(mode=mode, guard=guard)


def only_table(done: Recorded) -> Table:
    (table,) = done.trace.tables_of("evaluation")
    return table


@pytest.mark.parametrize("guard", ["with torch.no_grad():", "with torch.inference_mode():"])
def test_evaluation_passes(tmp_path: Path, guard: str) -> None:
    done = record(tmp_path, program(guard=guard))
    table = only_table(done)
    assert table.steps.tolist() == [4, 8, 12]
    assert table.column("loss") == pytest.approx(done.variables["losses"], rel=1e-5)
    assert table.column("metric") == pytest.approx(done.variables["scores"])
    assert table.column("samples").tolist() == [10] * 3 and table.column("batches").tolist() == [3] * 3
    assert table.column("training_mode").tolist() == [0] * 3
    assert table.column("grad_enabled").tolist() == [0] * 3
    assert table.column("constant_loss")[-1] == pytest.approx(1.0889, abs=1e-3)
    assert table.component == f"cross_entropy@train.py:{done.line('check')}"
    assert done.trace.loss[1] == pytest.approx(done.variables["training"], rel=1e-6)


def test_a_forgotten_eval_shows_in_the_mode(tmp_path: Path) -> None:
    done = record(tmp_path, program(mode="pass"))
    table = only_table(done)
    assert table.column("training_mode").tolist() == [1] * 3
    assert table.column("loss") == pytest.approx(done.variables["losses"], rel=1e-5)


@pytest.mark.parametrize("mode", ["net.eval()", "pass"])
def test_evaluation_with_gradients_enabled_is_not_training(tmp_path: Path, mode: str) -> None:
    done = record(tmp_path, program(mode=mode, guard="if True:"))
    assert done.trace.loss[1] == pytest.approx(done.variables["training"], rel=1e-6)
    assert done.trace.run.steps == 12
    training = f"cross_entropy@train.py:{done.line('loss')}"
    assert done.trace.series("progress", training, "loss")[1] == pytest.approx(done.variables["training"])
    if mode == "net.eval()":
        table = only_table(done)
        assert table.column("loss") == pytest.approx(done.variables["losses"], rel=1e-5)
        assert table.column("grad_enabled").tolist() == [1] * 3
        phases = {fact.name: fact.phase for fact in done.trace.loaders}
        assert phases == {"train": "training", "held_out": "evaluation"}


def test_gradients_that_nobody_uses_leave_the_statistics_of_training_alone(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        program(mode="net.eval()", guard="if True:").replace(
            "net(inputs)\n            loss = rule", "net(inputs * 1000)\n            loss = rule"
        ),
    )
    # The evaluation feeds huge inputs: they must not appear among the activations of training steps.
    assert done.trace.series("activation", "net.0", "maximum")[1].max() < 50


def test_an_evaluation_before_any_training(tmp_path: Path) -> None:
    text = program().replace("for epoch in range(3):", "evaluate()\nfor epoch in range(1):")
    done = record(tmp_path, text)
    table = only_table(done)
    assert table.steps.tolist() == [0, 4]
    assert table.column("loss") == pytest.approx(done.variables["losses"], rel=1e-5)


def test_an_evaluation_without_a_loss_belongs_to_the_model(tmp_path: Path) -> None:
    text = program().replace("loss = rule(out, labels)  # <- check", "loss = torch.zeros(())")
    done = record(tmp_path, text)
    table = only_table(done)
    assert table.component == "net"
    assert table.column("batches").tolist() == [3] * 3


def test_evaluation_and_training_through_one_function_are_told_apart(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
x, y = torch.randn(30, 4), torch.arange(30) % 3
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
training, checked = [], []

def run(inputs, labels, train):
    net.train(train)
    with torch.set_grad_enabled(train):
        loss = F.cross_entropy(net(inputs), labels)
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()

for epoch in range(3):
    training.append(run(x[:20], y[:20], True))
    checked.append(run(x[20:], y[20:], False))
""",
    )
    assert only_table(done).column("loss") == pytest.approx(done.variables["checked"], rel=1e-6)
    assert done.trace.series("progress", done.loss.name, "loss")[1] == pytest.approx(
        done.variables["training"]
    )
    assert {batch.phase for batch in done.trace.batches} == {"training", "evaluation"}


def test_a_summed_loss_is_recorded_beside_the_best_constant_over_a_batch(tmp_path: Path) -> None:
    """As large as its batches are on average, whatever the last one holds: the ratio is that of the means."""
    source = program().replace(
        "rule(out, labels)", "nn.functional.cross_entropy(out, labels, reduction='sum')"
    )
    done = record(tmp_path, source.replace("loss.item() * len(labels)", "loss.item()"))
    table = only_table(done)
    per_batch = 10 / 3
    assert table.column("loss") == pytest.approx(
        [per_batch * loss for loss in done.variables["losses"]], rel=1e-5
    )
    ratio = table.column("loss") / table.column("constant_loss")
    labels = torch.bincount(torch.arange(20, 30) % 3) / 10
    assert ratio == pytest.approx(
        np.array(done.variables["losses"]) / float(-(labels * labels.log()).sum()), rel=1e-4
    )
