"""What a user of short scripts feels: bare python, `netmend run` and `netmend run -q`, interleaved; medians of start, loop, end to prompt, CPU and wall.

python benchmarks/short_scripts.py [--repeats 5] [--json benchmarks/results/short-scripts.json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VARIANTS = {"bare": [], "run": ["-m", "netmend", "run"], "run -q": ["-m", "netmend", "run", "-q"]}
STAMPS = "import os, time\nopen(os.environ['STAMPS'], 'a').write(f'{time.time()}\\n')\n"
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
TRAIN = """\
opt = torch.optim.{optimizer}
for step in range({steps}):
    i = torch.randint(0, len(X), (32,))
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
"""
CLASSES = "X = torch.randn(1000, 20); y = (X[:, 0] > 0).long()\n"
IMAGES = "X = torch.randn(512, 1, 16, 16); y = (X.mean((1, 2, 3)) > 0).long()\n"
TOKENS = "X = torch.randint(0, 20, (512, 12)); y = X.roll(-1, 1)\n"
MLP = "net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))\n"
CROSS = "F.cross_entropy(net(X[i]), y[i])"
ADAM = "Adam(net.parameters(), lr=1e-3)"
ACT = "import gymnasium\nenv = gymnasium.make('CartPole-v1')\nnet = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))\n"


def trained(data: str, model: str, steps: int, loss: str = CROSS, optimizer: str = ADAM) -> tuple[str, str]:
    return HEAD + data + model, TRAIN.format(optimizer=optimizer, steps=steps, loss=loss)


PROGRAMS = {
    "mlp": trained(CLASSES, MLP, 2000),
    "mlp, SGD": trained(CLASSES, MLP, 3000, optimizer="SGD(net.parameters(), lr=0.1, momentum=0.9)"),
    "regression": trained(
        "X = torch.randn(1000, 8); y = X @ torch.randn(8, 1)\n",
        "net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))\n", 2000, "F.mse_loss(net(X[i]), y[i])",
    ),
    "wide mlp": trained(CLASSES, "net = nn.Sequential(nn.Linear(20, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 2))\n", 300),
    "cnn": trained(IMAGES, "net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 196, 2))\n", 800),
    "autoencoder": trained(
        CLASSES, "net = nn.Sequential(nn.Linear(20, 5), nn.ReLU(), nn.Linear(5, 20))\n", 2000, "((net(X[i]) - X[i]) ** 2).mean()"
    ),
    "next token": trained(
        TOKENS, "net = nn.Sequential(nn.Embedding(20, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 20))\n", 1500,
        "F.cross_entropy(net(X[i]).flatten(0, 1), y[i].flatten())",
    ),
    "loader": (
        HEAD + CLASSES + MLP + "from torch.utils.data import DataLoader, TensorDataset\nopt = torch.optim.Adam(net.parameters())\n",
        "for epoch in range(30):\n    for a, b in DataLoader(TensorDataset(X, y), 32, shuffle=True):\n"
        "        opt.zero_grad(); loss = F.cross_entropy(net(a), b); loss.backward(); opt.step()\n",
    ),
    "policy gradient": (
        HEAD + ACT + "opt = torch.optim.Adam(net.parameters(), lr=1e-2)\n",
        "for epoch in range(6):\n    seen, done, gains, obs = [], [], [], env.reset(seed=epoch)[0]\n    while len(seen) < 2000:\n"
        "        start, over = len(seen), False\n        while not over:\n            seen.append(torch.as_tensor(obs))\n"
        "            done.append(torch.distributions.Categorical(logits=net(seen[-1])).sample().item())\n"
        "            obs, _, end, cut, _ = env.step(done[-1])\n            over = end or cut\n"
        "        gains += [float(len(seen) - start)] * (len(seen) - start)\n        obs = env.reset()[0]\n"
        "    opt.zero_grad()\n    policy = torch.distributions.Categorical(logits=net(torch.stack(seen)))\n"
        "    loss = -(policy.log_prob(torch.tensor(done)) * torch.tensor(gains)).mean()\n    loss.backward()\n    opt.step()\n",
    ),
    "deep q": (
        HEAD + ACT + "import random\nrandom.seed(0)\nopt = torch.optim.Adam(net.parameters(), lr=1e-3)\nkept = []\n",
        "obs, _ = env.reset(seed=0)\nfor step in range(6000):\n    with torch.no_grad():\n        best = net(torch.as_tensor(obs)).argmax().item()\n"
        "    action = best if random.random() > 0.1 else random.randrange(2)\n    after, gain, end, cut, _ = env.step(action)\n"
        "    kept.append((obs, action, gain, after, float(not end)))\n    obs = env.reset()[0] if end or cut else after\n"
        "    if step > 200 and step % 4 == 0:\n        s, a, r, n, m = (torch.as_tensor(list(c)).float() for c in zip(*[(o.tolist(), x, g, t.tolist(), k) for o, x, g, t, k in random.sample(kept, 32)]))\n"
        "        goal = r + 0.98 * m * net(n).max(1)[0].detach()\n        loss = F.smooth_l1_loss(net(s).gather(1, a.long()[:, None])[:, 0], goal)\n"
        "        opt.zero_grad(); loss.backward(); opt.step()\n",
    ),
}  # fmt: skip


def measured(command: list[str], folder: Path) -> dict[str, float]:
    stamps = folder / "stamps"
    stamps.write_text("", encoding="ascii")
    # Users have compiled files beside an installed package: they are kept here between the runs, too.
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "STAMPS": str(stamps),
        "PYTHONPYCACHEPREFIX": str(folder / "pyc"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    ended, after = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    first, begin, end = (float(line) for line in stamps.read_text(encoding="ascii").split())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "start": first - started,
        "loop": end - begin,
        "end": ended - end,
        "cpu": cpu,
        "wall": ended - started,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--json", type=Path)
    wishes = parser.parse_args()
    results: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, (setup, loop) in PROGRAMS.items():
            if wishes.only not in title:
                continue
            (folder / "train.py").write_text(STAMPS + setup + STAMPS + loop + STAMPS, encoding="utf-8")
            found: dict[str, list[dict[str, float]]] = {variant: [] for variant in VARIANTS}
            for turn in range(wishes.repeats + 1):  # the first warms up
                for variant, words in VARIANTS.items():
                    numbers = measured([sys.executable, *words, "train.py"], folder)
                    found[variant] += [numbers] if turn else []
            middle = {
                v: {k: statistics.median(n[k] for n in all_) for k in all_[0]} for v, all_ in found.items()
            }
            results[title] = middle
            for variant, numbers in middle.items():
                ratio = numbers["loop"] / middle["bare"]["loop"]
                told = "  ".join(f"{key} {value:.2f} s" for key, value in numbers.items())
                print(f"{title:16} {variant:7} {told}  loop {ratio:.2f}x", flush=True)
    if wishes.json:
        wishes.json.write_text(
            json.dumps({"repeats": wishes.repeats, "programs": results}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
