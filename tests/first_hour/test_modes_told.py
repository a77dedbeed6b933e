"""Evaluation in training mode, in several styles, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_typed import follow, judged

PROGRAM = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(400, 12)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()


def train(at):
    model.train()
    optimizer.zero_grad()
    loss = loss_fn({call}(x[at]), y[at])
    loss.backward()
    optimizer.step()


def {name}():
{body}


for epoch in range(6):
    for at in torch.randperm(320).split(16):
        train(at)
    {name}()
"""
SCORED = """\
    model.train(){mark}
    output = {call}(x[320:])
    print((output.data.numpy().argmax(axis=1) == y[320:].numpy()).mean())"""
DRAWN = """\
    model.train()
    with torch.no_grad():
        draws = torch.stack([model(x[320:]).softmax(1) for _ in range(8)])
    print(draws.std(0).mean())"""
BOTH = """\
    model.train()
    with torch.no_grad():
        model(x[:320])
    model.eval()
    with torch.no_grad():
        print((model(x[320:]).argmax(1) == y[320:]).float().mean())"""


def told(folder: Path, body: str, call: str = "model", name: str = "predict") -> list[dict]:  # type: ignore[type-arg]
    (folder / "train.py").write_text(PROGRAM.format(body=body, call=call, name=name))
    return [f for f in judged(folder, "train.py")["faults"] if f["code"] == "LOOP-MODE-EVAL"]


@pytest.mark.parametrize("call", ["model", "model.forward"])
def test_train_where_eval_was_meant(tmp_path: Path, call: str) -> None:
    faults = told(tmp_path, SCORED.format(mark="  # <- here", call=call), call)
    lines = (tmp_path / "train.py").read_text().splitlines()
    assert [lines[fault["site"]["line"] - 1].endswith("# <- here") for fault in faults] == [True]
    follow(tmp_path, faults)
    assert not [f for f in judged(tmp_path, "train.py")["faults"] if f["code"] == "LOOP-MODE-EVAL"]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (DRAWN, "predict"),
        (SCORED.format(mark="", call="model"), "mc_predict"),
        (BOTH, "evaluate"),
        (SCORED.format(mark="", call="model").replace("train()", "eval()"), "predict"),
    ],
    ids=["many draws", "said by its name", "both modes", "in order"],
)
def test_what_is_meant_so(tmp_path: Path, body: str, name: str) -> None:
    assert told(tmp_path, body, name=name) == []


def test_a_model_called_by_the_name_of_its_method_is_seen_as_a_whole(tmp_path: Path) -> None:
    assert (
        told(
            tmp_path,
            SCORED.format(mark="", call="model.forward").replace("train()", "eval()"),
            "model.forward",
        )
        == []
    )
