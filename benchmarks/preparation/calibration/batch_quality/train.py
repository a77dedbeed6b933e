import sqlite3

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GRADES = {"I": 0, "II": 1, "III": 2}


class PlantDB:
    """Thin wrapper round the plant's SQLite export."""

    def __init__(self, path="plant.db"):
        self.con = sqlite3.connect(path)

    def process_values(self):
        cur = self.con.execute(
            "SELECT temp, ph, stir, feed, minutes FROM batches ORDER BY started_at"
        )
        return np.array(cur.fetchall(), dtype=np.float32)

    def grades(self):
        cur = self.con.execute(
            "SELECT grade FROM quality ORDER BY batch_id"
        )
        return np.array([GRADES[g] for (g,) in cur], dtype=np.int64)


class Batches(Dataset):
    def __init__(self, x, y, mean, std):
        self.x = torch.from_numpy((x - mean) / std)
        self.y = torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def run(seed=3, epochs=30):
    torch.manual_seed(seed)
    db = PlantDB()
    x, y = db.process_values(), db.grades()
    print("batches:", len(x), "grades:", np.bincount(y).tolist())

    # learn on the past, check on the latest quarter
    cut = int(len(x) * 0.75)
    mean, std = x[:cut].mean(0), x[:cut].std(0)
    train = Batches(x[:cut], y[:cut], mean, std)
    test = Batches(x[cut:], y[cut:], mean, std)

    net = nn.Sequential(nn.Linear(5, 40), nn.ELU(), nn.Linear(40, 40), nn.ELU(), nn.Linear(40, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    ce = nn.CrossEntropyLoss()
    for ep in range(epochs):
        run_loss = 0
        for xb, yb in DataLoader(train, batch_size=50, shuffle=True):
            opt.zero_grad()
            loss = ce(net(xb), yb)
            loss.backward()
            opt.step()
            run_loss += loss.item() * len(yb)
        sched.step()
        if ep % 6 == 5:
            print(f"[{ep + 1:02d}] loss={run_loss / len(train):.4f}")

    net.eval()
    good = 0
    with torch.no_grad():
        for xb, yb in DataLoader(test, batch_size=200):
            good += (net(xb).argmax(1) == yb).sum().item()
    print(f"accuracy on the latest {len(test)} batches: {good / len(test):.3f}")
    return net, (mean, std)


if __name__ == "__main__":
    net, stats = run()
