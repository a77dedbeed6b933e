"""Graphs that outlive their step, states that are loaded, and how classes are met."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recording import Recorded, record

LOOP = """
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.arange(32) % 2
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept, total = [], 0.0
for step in range({steps}):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    {keep}
"""


def graphs(done: Recorded) -> np.ndarray:
    (table,) = done.trace.tables_of("graphs")
    return np.column_stack([table.steps, table.values])


@pytest.mark.parametrize(
    "keep", ["kept.append(loss.item())", "kept.append(loss.detach())", "total += float(loss)"]
)
def test_graphs_are_freed(tmp_path: Path, keep: str) -> None:
    rows = graphs(record(tmp_path, LOOP.format(steps=12, keep=keep)))
    assert rows[-1].tolist() == [11, 8, 0, 0]


@pytest.mark.parametrize("keep", ["kept.append(loss)", "total += loss", "total = total + loss"])
def test_graphs_that_stay(tmp_path: Path, keep: str) -> None:
    rows = graphs(record(tmp_path, LOOP.format(steps=12, keep=keep)))
    assert rows[-1].tolist() == [11, 8, 8, 8]


def test_only_some_graphs_are_watched(tmp_path: Path) -> None:
    rows = graphs(record(tmp_path, LOOP.format(steps=80, keep="kept.append(loss)")))
    assert rows[-1].tolist() == [79, 40, 40, 40]


def test_state_that_is_carried_on_keeps_the_inside_alive(tmp_path: Path) -> None:
    program = """
    x, y = torch.randn(8, 4), torch.randn(8, 2)
    net, average = nn.Linear(4, 2), 0.0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    for step in range(10):
        optimizer.zero_grad()
        average = 0.9 * average + 0.1 * net(x)
        F.mse_loss(average, y).backward(retain_graph=True)
        optimizer.step()
    """
    assert graphs(record(tmp_path, program))[-1].tolist() == [9, 6, 0, 6]
    detached = program.replace("0.9 * average", "0.9 * (average.detach() if step else 0.0)")
    (tmp_path / "detached").mkdir()
    assert graphs(record(tmp_path / "detached", detached))[-1].tolist() == [9, 6, 0, 0]


def test_loaded_states(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        saved = {"module." + name: value.clone() for name, value in net.state_dict().items()}
        net.load_state_dict(saved, strict=False)  # <- nothing
        own = {name.removeprefix("module."): value for name, value in saved.items()}
        net.load_state_dict(own)  # <- all
        for _ in range(3):
            net.load_state_dict(net.state_dict())  # <- itself
        """,
    )
    events = [event for event in done.trace.events if event.kind == "state loaded"]
    nothing, everything, itself = events
    assert (
        done.at("nothing", nothing.site)
        and done.at("all", everything.site)
        and done.at("itself", itself.site)
    )
    assert nothing.detail["matched"] == 0 and nothing.detail["missing"] == nothing.detail["unexpected"] == 4
    assert nothing.detail["strict"] is False and everything.detail["strict"] is True
    assert everything.detail["matched"] == 4 and everything.detail["aliased"] == 0
    assert itself.detail["aliased"] == 4 and nothing.component == "net"


def test_classes_that_are_predicted_and_missed(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
        x = torch.eye(3).repeat(20, 1)
        y = torch.tensor([0, 1, 1] * 20)
        net = nn.Linear(3, 3)
        with torch.no_grad():
            net.weight.copy_(10 * torch.eye(3)), net.bias.zero_()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(2):
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            with torch.no_grad():
                for part in range(3):
                    F.cross_entropy(net(x[part * 20:][:20]), y[part * 20:][:20])
        """,
    )
    third, shares = np.log(3), np.array([1 / 3, 2 / 3])
    for kind in ("progress", "evaluation"):
        (table,) = done.trace.tables_of(kind)
        assert table.column("predicted_entropy") == pytest.approx([third] * 2)
        assert table.column("label_entropy") == pytest.approx([-(shares * np.log(shares)).sum()] * 2)
        assert table.column("worst_recall") == pytest.approx([0.5] * 2)


def test_yes_and_no_are_classes_too(tmp_path: Path) -> None:
    done = record(
        tmp_path,
        """
        x, y = torch.ones(24, 2), (torch.arange(24) % 4 == 0).float()[:, None]
        net = nn.Linear(2, 1)
        nn.init.constant_(net.bias, -9.0)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(2):
            F.binary_cross_entropy_with_logits(net(x), y).backward()
            optimizer.step()
        """,
    )
    (table,) = done.trace.tables_of("progress")
    assert table.column("predicted_entropy").tolist() == [0.0, 0.0]
    assert table.column("label_entropy") == pytest.approx([0.5623351446] * 2)
    assert table.column("worst_recall").tolist() == [
        1.0,
        1.0,
    ]  # six samples of the other class are too few to say
