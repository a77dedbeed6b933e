"""Who does exactly what is told, and nothing else, has a program that learns; what is told is where it stands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from commands_typed import follow, judged, netmend, python

EXAMPLES = Path(__file__).parents[2] / "examples"

PICTURES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def picture(kind):
    x, y = torch.randint(4, 12, (2,)).tolist()
    image = torch.randint(0, 60, (1, 24, 24)).float()
    image[:, y : y + (8 if kind == 1 else 3), x : x + (8 if kind == 2 else 3)] += 180
    return image


def pictures(count):
    images, kinds = [], []
    for kind in range(3):
        for _ in range(count // 3):
            images.append(picture(kind))
            kinds.append(kind)
    return TensorDataset(torch.stack(images), torch.tensor(kinds))


train = DataLoader(pictures(900), batch_size=32)
test = DataLoader(pictures(300), batch_size=100)
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 36, 3),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(4):
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print("accuracy", sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 300)
"""

WATCHED = """\
import torch, netmend
from torch import nn
torch.manual_seed(0)
X = torch.rand(400, 2) * 4 - 2
y = ((X ** 2).sum(1) < 1.5).float()
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
loss_fn = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
with netmend.watch():
    for e in range(300):
        opt.zero_grad(); l = loss_fn(model(X).squeeze(), y); l.backward(); opt.step()
"""

BROADCAST = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(500, 5)
y = x @ torch.tensor([1.0, -2.0, 3.0, 0.5, 0.0])
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1), nn.Identity(), nn.Identity())
crit = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(200):
    opt.zero_grad()
    out = model(x)
    loss = crit(out, y)   # (500, 1) beside (500,)
    loss.backward()
    opt.step()
"""


def accuracy(said: str) -> float:
    return float(said.split("accuracy")[-1].strip(" %\n")) / (100 if "%" in said else 1)


def test_the_example_of_the_readme_learns(tmp_path: Path) -> None:
    """The softmax alone made it worse: the rate was tolerable only behind it."""
    shutil.copy(EXAMPLES / "broken_rings.py", tmp_path)
    follow(tmp_path, judged(tmp_path, "broken_rings.py")["faults"])
    assert accuracy(python(tmp_path, "broken_rings.py").stdout) >= 0.95


def test_a_network_that_died_is_not_to_be_trained_longer(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PICTURES)
    found = judged(tmp_path, "train.py")
    assert "HYP-EPOCH-FEW" not in [fault["code"] for fault in found["faults"]]
    assert "died" in (found.get("headline") or "")
    follow(tmp_path, found["faults"])
    ended = python(tmp_path, "train.py")
    assert accuracy(ended.stdout) > 0.6, ended.stderr


def test_a_layer_made_before_watching_is_told_at_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "cell.py").write_text(WATCHED)
    told = python(tmp_path, "cell.py").stderr
    assert re.search(r"LYR-SOFTMAX-EXTRA.*\n  cell\.py:6\n", told)
    assert "nn.Sigmoid())" in told
    assert re.search(r"model: Sequential.*cell\.py:\d+", told)
    assert re.search(r"Adam, rate 0\.01.*cell\.py:\d+", told)


def test_the_culprit_is_marked_and_the_change_is_a_diff(tmp_path: Path) -> None:
    (tmp_path / "hw1.py").write_text(BROADCAST)
    told = netmend(tmp_path, "run", "hw1.py").stderr
    assert re.search(r"▸ 12 │ .*\n +│ +\^{12}\n", told)
    change = told.partition("  change  ")[2].partition("  wrong if")[0]
    words = re.split(r"\n +[-+] ", change)[0]
    assert "(500, 1) beside" not in words and "hw1.py" not in words
    assert re.search(r"\n +- loss = crit\(out, y\)", change)
    assert re.search(r"\n +\+ .*crit\(out\.squeeze\(1\), y\)", change)


def test_a_long_line_shows_its_culprit(tmp_path: Path) -> None:
    long = "net = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3), nn.Softmax(dim=1))"
    (tmp_path / "long.py").write_text(
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
        f"{long}\nopt = torch.optim.Adam(net.parameters())\n"
        "for step in range(200):\n"
        "    x = torch.randn(32, 5)\n"
        "    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))\n"
        "    opt.zero_grad(); loss.backward(); opt.step()\n"
    )
    told = netmend(tmp_path, "run", "long.py").stderr
    (shown,) = re.findall(r"▸ 4 │ (.*)\n", told)[:1]
    assert shown.rstrip().endswith("nn.Softmax(dim=1))")
    assert max(map(len, told.splitlines())) <= 80
