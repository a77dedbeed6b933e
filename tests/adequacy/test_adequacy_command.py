"""`netmend adequacy` as a user types it."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from command_server import netmend
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from netmend.adequacy.torch.names import Names
from netmend.cli import main
from netmend.errors import UsageError

SCRIPT = """\
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    epochs = parser.parse_args().epochs
    torch.manual_seed(0)
    x = torch.randn(400, 6)
    y = (x[:, 0] > 0).long()
    train_loader = DataLoader(TensorDataset(x[:200], y[:200]), 32, shuffle=True)
    test_loader = DataLoader(TensorDataset(x[200:300], y[200:300]), 32)
    spare = {"more": x[300:]}
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for epoch in range(epochs):
        for bx, by in train_loader:
            optimizer.zero_grad()
            nn.CrossEntropyLoss()(net(bx), by).backward()
            optimizer.step()
        print("epoch", epoch, evaluate(net, test_loader))


if __name__ == "__main__":
    main()
"""

PARTS = """\
import torch
from torch import nn

x = torch.randn(90, 4, generator=torch.Generator().manual_seed(0))


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def ready():
    return model(), x[:50], x[50:70], x[70:]


def named():
    return {"model": model(), "train": [x[:50]], "test": x[50:], "forward": lambda net, batch: net(batch)}


def short():
    return model(), x


def odd():
    return {"model": model(), "train": x, "test": x, "valid": x}


def fails():
    raise ValueError("no data here")
"""


def test_a_script_with_everything_inside_main(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    data = ("--train", "train_loader", "--test", "test_loader", "--pool", "spare.more")
    files = ("--json", "out.json", "--save", "next.csv")
    done = netmend(tmp_path, "adequacy", "train.py", *data, *files, "--count", "5", "--", "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert "epoch 1" in done.stdout and "epoch 2" not in done.stdout and "netmend  " in done.stdout
    data = json.loads((tmp_path / "out.json").read_text())
    assert [one["looked"] for one in data["sets"]] == [200, 100, 100] and data["task"] == "classes"
    assert data["source"] == "pool" and data["trace_of"] == "input of layer 2"
    with (tmp_path / "next.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} >= {"DeepGini", "CoreSet"} and len(rows) == 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "train.py").write_text("print('not run')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.delitem(sys.modules, "parts", raising=False)
    return tmp_path


def test_a_function_that_returns_the_parts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["adequacy", "parts.py:ready", "--json", "out.json", "--layer", "1", "--seed", "3"])
    out = capsys.readouterr().out
    assert "train  50 inputs" in out and "pool   20 inputs" in out and "output of layer 1" in out
    assert json.loads((folder / "out.json").read_text())["sets"][2]["name"] == "pool"
    main(["adequacy", "parts.py:named", "-q"])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the program: netmend adequacy train.py --train"),
        (["train.py"], "say what the data is called in the program: --train"),
        (["train.py", "--train", "a"], "say what the data is called"),
        (["none.py", "--train", "a", "--test", "b"], "there is no file none.py"),
        (["none.py:ready"], "there is no file none.py"),
        (["parts.py:ready", "--test", "x"], "returns the model and the data itself; leave out --test"),
        (["parts.py:absent"], "parts.py has no function absent"),
        (["parts.py:short"], "returned 2 values; it must return (model, train, test)"),
        (["parts.py:odd"], "returned unknown names: valid"),
        (["parts.py:ready", "--json", "no/such/folder.json"], "create it first"),
        (["parts.py:ready", "--save", "."], "that is a directory; name a file"),
        (["parts.py:ready", "--layer", "head"], "the model has no layer 'head'; it has 0, 1, 2"),
        (["parts.py:ready", "--task", "sorting"], "task must be one of classes, binary, numbers"),
        (["parts.py:ready", "--limit", "1"], "limit"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["adequacy", *arguments])
    told = capsys.readouterr().err
    assert leaving.value.code == 2 and words in told and told.count("\n") == 1 and "Traceback" not in told


def test_an_exception_of_the_users_stays_his(folder: Path) -> None:
    with pytest.raises(ValueError, match="no data here"):
        main(["adequacy", "parts.py:fails"])


# -- names -------------------------------------------------------------------------------------------------------------


def listened(program: Any, *wanted: str) -> Names:
    """Run a function of this file as if it were the user's program."""
    names = Names(wanted, __file__)
    reading = DataLoader.__iter__
    names.listen()
    try:
        program()
    finally:
        names.stop()
    assert DataLoader.__iter__ is reading
    return names


def test_names_inside_functions_are_found_while_they_are_used() -> None:
    def program() -> None:
        x_test, y_test = torch.zeros(3, 2), torch.zeros(3)
        network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
        network(x_test).sum() + y_test.sum()
        loader = DataLoader(TensorDataset(x_test, y_test))
        list(loader)

    names = listened(program, "loader", "x_test,y_test")
    x, y = names.value("x_test, y_test", {}, "--test")
    assert (
        x.shape == (3, 2) and y.shape == (3,) and isinstance(names.value("loader", {}, "--test"), DataLoader)
    )
    assert names.value("loader.dataset", {}, "--test").tensors[0] is x
    assert type(names.model({})) is nn.Sequential and len(names.models) == 1


def test_a_model_that_is_used_late_is_still_found() -> None:
    def program() -> None:
        network = nn.Linear(2, 1)
        for _ in range(100):
            network(torch.zeros(1, 2))
        late = torch.ones(5, 2)
        with torch.no_grad():
            network(late)

    assert listened(program, "late").value("late", {}, "--test").shape == (5, 2)


def test_among_several_models_the_user_chooses() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 1)

    def program() -> None:
        nn.CrossEntropyLoss(weight=torch.ones(2))(first(torch.zeros(1, 2)), torch.zeros(1).long())
        second(torch.zeros(1, 2))

    names = listened(program, "x")
    with pytest.raises(UsageError, match=r"called 2 models \(one, a Linear\); name one with --model"):
        names.model({"one": first})
    with pytest.raises(UsageError, match="called no model"):
        listened(lambda: None, "x").model({})


def test_a_name_that_is_not_there_offers_those_that_are() -> None:
    held = {"test_loader": DataLoader(TensorDataset(torch.zeros(2, 1))), "epochs": 3, "net": nn.Linear(1, 1)}
    names = Names(["x"], __file__)
    with pytest.raises(UsageError, match=r"--test tset: the program has no tset; it has test_loader$"):
        names.value("tset", held, "--test")
    with pytest.raises(UsageError, match=r"no model; it has net$"):
        names.value("model", held, "--model")
    with pytest.raises(UsageError, match="there is no samples in a DataLoader"):
        names.value("test_loader.samples", held, "--test")
    with pytest.raises(UsageError, match="write names of the program"):
        names.value("x,", held, "--test")
