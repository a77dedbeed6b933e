"""What a loader's workers see of preparation reaches the run, and where a loader's data come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import Recorded, record

from netmend.vocabulary import PreparationFact

pytest.importorskip("pandas")

TRAINED = """
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(net(x.float())[:, 0], y.float()).backward()
    optimizer.step()
"""
FOLDER = """
import pandas
from torch.utils.data import DataLoader, Dataset

class Readings(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        row = pandas.read_csv({file!r}).iloc[index]  # <- read
        return torch.tensor([row["a"], row["b"]]), torch.tensor(row["y"])

loader = DataLoader(Readings(), batch_size=4, num_workers={workers})
"""
TABLE = """
import pandas
from torch.utils.data import DataLoader, TensorDataset
table = pandas.read_csv({file!r})
kept = table.dropna()  # <- dropped
x, y = torch.tensor(kept[["a", "b"]].to_numpy(copy=True)), torch.tensor(kept["y"].to_numpy(copy=True))
loader = DataLoader(TensorDataset(x, y), batch_size=4)
"""


def data(folder: Path) -> str:
    file = folder / "readings.csv"
    lines = [f"{number},{number % 3},{number / 2}" for number in range(16)]
    file.write_text("\n".join(["a,b,y", *lines, ",1,2"]) + "\n")
    return str(file)


def loader_of(recorded: Recorded) -> PreparationFact:
    return next(fact for fact in recorded.trace.all(PreparationFact) if fact.kind == "loader")


@pytest.mark.parametrize("workers", [0, 2])
def test_lines_that_run_while_a_batch_is_made_belong_to_its_loader(tmp_path: Path, workers: int) -> None:
    recorded = record(tmp_path, FOLDER.format(file=data(tmp_path), workers=workers) + TRAINED)
    facts = [recorded.trace.get(PreparationFact, name) for name in loader_of(recorded).takes]
    (read,) = [fact for fact in facts if fact is not None and fact.kind == "read"]
    assert recorded.at("read", read.site)
    assert read.seen["files"] == ("readings.csv",) or read.seen["files"][0].endswith("readings.csv")


def test_a_loader_knows_the_line_that_made_its_numbers(tmp_path: Path) -> None:
    recorded = record(tmp_path, TABLE.format(file=data(tmp_path)) + TRAINED)
    made = [recorded.trace.get(PreparationFact, name) for name in loader_of(recorded).takes]
    assert any(fact is not None and recorded.at("dropped", fact.site) for fact in made)


def test_every_loader_knows_the_lines_that_ran_for_it(tmp_path: Path) -> None:
    second = "again = DataLoader(Readings(), batch_size=8)\nfor x, y in again:\n    net(x.float())\n"
    recorded = record(tmp_path, FOLDER.format(file=data(tmp_path), workers=0) + TRAINED + second)
    loaders = [fact for fact in recorded.trace.all(PreparationFact) if fact.kind == "loader"]
    assert [bool(fact.takes) for fact in loaders] == [True, True]
