"""Examining trained models: which data is found, what counts as right, what a mutant is judged by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netmend.adapters.torch.subject import examination
from netmend.adapters.torch.subject.answers import (
    BINARY,
    CLASSES,
    COLUMNS,
    POSITIONS,
    VALUES,
    Task,
    judged,
    task_of,
)
from netmend.launch.run import Finished
from netmend.mutate.examined import DATA, Examined
from netmend.mutate.test_sets import TRAINING
from netmend.mutate.test_sets import test_sets as named

HEAD = """
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(60, 3)
y = (x[:, 0] > 0).long()
"""
LOOP = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for start in range(0, 40, 8):
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
BATCHES = LOOP.replace("LOSS", "F.cross_entropy(model(x[start : start + 8]), y[start : start + 8])")
TWO = "model = nn.Linear(3, 2)\n"


def examined(folder: Path, program: str, *tests: str, data: str = "") -> Examined:
    """A program run in this process as a trial would run it."""
    root = folder / "program"
    root.mkdir(parents=True, exist_ok=True)
    wishes: dict[str, Any] = {"tests": [each.as_data() for each in named(tests, str(root))]}
    options = json.dumps(wishes | ({"data": data} if data else {}))
    names: dict[str, Any] = {"__name__": "__main__"}
    examination.begin(options, folder)
    try:
        exec(compile(HEAD + program, str(root / "train.py"), "exec"), names)
    finally:
        assert examination._listener is not None
        examination._listener.remove()
    examination.end(options, Finished(folder, root, names, None))
    found = Examined.read(folder)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "evaluation",
    [
        "with torch.no_grad():\n    print((model(x[40:]).argmax(1) == y[40:]).float().mean())\n",
        "x_test, y_test = x[40:].clone(), y[40:].clone()\nmodel.eval()\nprint((model(x_test).argmax(1) == y_test).sum())\n",
        "test = DataLoader(TensorDataset(x[40:], y[40:]), batch_size=7)\nmodel.eval()\n"
        "with torch.no_grad():\n    for a, b in test:\n        print((model(a).argmax(1) == b).sum())\n",
        "with torch.no_grad():\n    print(F.cross_entropy(model(x[40:]), y[40:]))\n    print(model(x[:40]).shape)\n",
        "def score(inputs, labels):\n    with torch.no_grad():\n        return (model(inputs).argmax(1) == labels).sum()\n"
        "print(score(x[:40], y[:40]), score(x[40:], y[40:]))\n",
    ],
)
def test_what_the_program_evaluates_is_found(tmp_path: Path, evaluation: str) -> None:
    found = examined(tmp_path, TWO + BATCHES + evaluation)
    assert found.meta.get("problem") is None and found.inputs("test") == 20
    assert found.inputs(TRAINING) == 40
    labels = found.labels("test")
    assert labels is not None and 0 < labels.sum() < 20


def test_scores_are_those_of_the_trained_model(tmp_path: Path) -> None:
    program = TWO + BATCHES + "with torch.no_grad():\n    right = (model(x[40:]).argmax(1) == y[40:])\n"
    names: dict[str, Any] = {}
    exec(HEAD + program, names)
    found = examined(tmp_path, program)
    assert found.right("test").tolist() == names["right"].tolist()  # type: ignore[union-attr]
    assert found.score("test") == pytest.approx(names["right"].float().mean().item())


@pytest.mark.parametrize("what", ["x[40:],y[40:]", "pairs", "held", "late=inside,inside_labels"])
def test_named_sets_are_found(tmp_path: Path, what: str) -> None:
    program = TWO + (
        "pairs = TensorDataset(x[40:], y[40:])\nheld = DataLoader(pairs, batch_size=3, shuffle=True)\n"
        "def main():\n    inside, inside_labels = x[40:].numpy(), y[40:].numpy()\n"
        + "".join(f"    {line}\n" for line in BATCHES.strip().splitlines())
        + "main()\n"
    )
    found = examined(tmp_path, program, what)
    name = found.sets[0]
    assert found.inputs(name) == 20 and found.meta.get("problem") is None


def test_files_and_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "program"
    root.mkdir()
    monkeypatch.chdir(root)
    np.savez("held.npz", x=np.zeros((5, 3)), y=np.array([0, 1, 0, 1, 0]))
    Path("more.py").write_text(
        "import torch\ndef load():\n    return torch.ones(4, 3), torch.zeros(4).long()\n"
    )
    found = examined(tmp_path, TWO + BATCHES, "held.npz", "more.py:load")
    assert [found.inputs(name) for name in found.sets] == [5, 4, 40]


@pytest.mark.parametrize(
    ("program", "tests", "words"),
    [
        ("print('nothing')\n", (), "no call of a model"),
        (TWO + BATCHES, (), "evaluates no data"),
        (
            TWO + BATCHES + "with torch.no_grad():\n    print(F.cross_entropy(model(x[:40]), y[:40]))\n",
            (),
            "but its training data",
        ),
        (TWO + BATCHES, ("nowhere",), "no variable 'nowhere'.*data is held by x, y"),
        (TWO + BATCHES, ("model",), "is a Linear"),
        (TWO + BATCHES, ("x[:9],y[:8]",), "different numbers of rows"),
    ],
)
def test_data_that_cannot_be_had_is_told(
    tmp_path: Path, program: str, tests: tuple[str, ...], words: str
) -> None:
    import re

    assert re.search(words, str(examined(tmp_path, program, *tests).meta["problem"]))


def test_a_mutant_is_judged_by_the_data_of_its_original(tmp_path: Path) -> None:
    end = "with torch.no_grad():\n    print(F.cross_entropy(model(x[40:]), y[40:]))\n"
    original = examined(tmp_path / "original", TWO + BATCHES + end)
    wrong_labels = examined(tmp_path / "labels", TWO + "y = 1 - y\n" + BATCHES + end, data="original")
    assert (tmp_path / "original" / DATA).exists() and not (tmp_path / "labels" / DATA).exists()
    assert wrong_labels.score("test") < 0.5 < original.score("test")
    assert (wrong_labels.labels("test") == original.labels("test")).all()  # type: ignore[union-attr]
    # Prepared otherwise, for training and test alike: the test data is taken as the mutant's program prepares it.
    scaled = examined(tmp_path / "scaled", TWO + "x = x * 100\n" + BATCHES + end, data="original")
    exact = (
        TWO
        + "x = x * 100\n"
        + BATCHES
        + end
        + "with torch.no_grad():\n    own = (model(x[40:]).argmax(1) == y[40:])\n"
    )
    names: dict[str, Any] = {}
    exec(HEAD + exact, names)
    assert scaled.right("test").tolist() == names["own"].tolist()  # type: ignore[union-attr]


PACKED = """
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.EmbeddingBag(9, 4), nn.Linear(4, 2)
    def forward(self, text, offsets):
        return self.head(self.words(text, offsets))
texts = [torch.randint(0, 9, (2 + number % 3,)) for number in range(60)]
labels = torch.tensor([int(text[0]) % 2 for text in texts])
def collate(rows):
    chosen = [texts[row] for row in rows]
    starts = torch.tensor([0, *(len(text) for text in chosen[:-1])]).cumsum(0)
    return labels[list(rows)], torch.cat(chosen), starts
training = DataLoader(range(40), batch_size=8, shuffle=True, collate_fn=collate)
held = DataLoader(range(40, 60), batch_size=7, collate_fn=collate)
model = Bag()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for label, text, offsets in training:
        loss = F.cross_entropy(model(text, offsets), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
right = []
with torch.no_grad():
    for label, text, offsets in held:
        right += (model(text, offsets).argmax(1) == label).tolist()
"""


@pytest.mark.parametrize("tests", [(), ("held",)])
def test_texts_beside_offsets_are_samples_too(tmp_path: Path, tests: tuple[str, ...]) -> None:
    """Labels stand first in these batches, where only the loss of training tells what they are."""
    names: dict[str, Any] = {}
    exec(HEAD + PACKED, names)
    found = examined(tmp_path, PACKED, *tests)
    assert found.meta.get("problem") is None and found.inputs(TRAINING) == 40
    assert found.right(found.sets[0]).tolist() == names["right"]  # type: ignore[union-attr]
    assert found.labels(found.sets[0]).tolist() == names["labels"][40:].tolist()  # type: ignore[union-attr]


def test_shuffled_texts_are_the_same_data(tmp_path: Path) -> None:
    about = [
        examined(
            tmp_path / str(seed), PACKED.replace("model = Bag()", f"torch.manual_seed({seed})\nmodel = Bag()")
        )
        for seed in (1, 2)
    ]
    assert about[0].meta["sets"][TRAINING]["digest"] == about[1].meta["sets"][TRAINING]["digest"]


def test_time_may_come_before_samples(tmp_path: Path) -> None:
    program = """
class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(1, 4), nn.Linear(4, 2)
    def forward(self, steps, state):
        return self.head(self.rnn(steps, state)[0][-1])
model = Last()
steps = x.t().unsqueeze(-1)
def state(count):
    return torch.zeros(1, count, 4)
""" + LOOP.replace(
        "LOSS", "F.cross_entropy(model(steps[:, start : start + 8], state(8)), y[start : start + 8])"
    )
    end = "with torch.no_grad():\n    print(F.cross_entropy(model(steps[:, 40:], state(20)), y[40:]))\n"
    found = examined(tmp_path, program + end)
    assert found.meta.get("problem") is None and found.inputs("test") == 20 and found.inputs(TRAINING) == 40


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = torch.nn.Module.__call__, torch.nn.functional.cross_entropy, torch.autograd.backward
    examined(tmp_path, TWO + BATCHES, "x[40:],y[40:]")
    assert (torch.nn.Module.__call__, torch.nn.functional.cross_entropy, torch.autograd.backward) == before


def out(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows)


@pytest.mark.parametrize(
    ("criterion", "relation", "output", "label", "kind", "answers"),
    [
        ("cross_entropy", "same", out([1, 2], [3, 0]), [1, 1], CLASSES, [1, 0]),
        ("mse_loss", "same", out([1, 2], [3, 0]), [[0.0, 1.0], [1.0, 0.0]], CLASSES, [1, 1]),
        ("binary_cross_entropy_with_logits", "same", out([0.2], [-0.2]), [1.0, 1.0], BINARY, [1, 0]),
        ("binary_cross_entropy", "same", out([0.2], [0.8]), [1.0, 0.0], BINARY, [0, 0]),
        ("binary_cross_entropy", "sigmoid", out([0.2], [-0.8]), [1.0, 0.0], BINARY, [1, 1]),
        ("", "", out([0.2], [0.8]), [0, 1], BINARY, [1, 1]),
        ("mse_loss", "same", out([2.0], [float("nan")]), [5.0, 1.0], VALUES, [9.0, float("inf")]),
        ("l1_loss", "same", out([2.0], [1.5]), [5.0, 1.0], VALUES, [3.0, 0.5]),
        ("binary_cross_entropy_with_logits", "same", out([1, 1], [1, 1]), [[1.0, 1.0], [1.0, 0.0]], COLUMNS, [0, 0.5]),
        ("cross_entropy", "same", torch.eye(2)[None].repeat(2, 1, 1), [[0, 1], [1, 1]], POSITIONS, [0, 0.5]),
    ],
)  # fmt: skip
def test_right_and_wrong(
    criterion: str, relation: str, output: torch.Tensor, label: Any, kind: str, answers: list[float]
) -> None:
    labels = np.array(label, dtype=np.int64 if "." not in str(label) else np.float32)
    task = task_of(criterion, relation, 0, output, labels)
    assert task.kind == kind
    assert judged(task, output, labels).tolist() == answers


def test_answers_that_are_not_numbers_are_wrong() -> None:
    assert judged(Task(CLASSES), out([float("nan"), 1.0]), np.array([1])).tolist() == [0.0]


def test_half_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "examination.npz").write_bytes(b"PK half")
    assert Examined.read(tmp_path) is None and Examined.read(tmp_path / "nowhere") is None
