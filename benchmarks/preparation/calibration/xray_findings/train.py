"""Multi-label reading of small chest films; labels come from the text labeller's table."""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

FINDINGS = ["Cardiomegaly", "Effusion", "Nodule"]

torch.manual_seed(17)
store = np.load("studies.npz")
reports = pd.read_csv("reports.csv").set_index("study")
images = torch.from_numpy(store["image"].astype(np.float32))
images = ((images - 128) / 40).unsqueeze(1)
position = {s: i for i, s in enumerate(store["study"].tolist())}


def part(name):
    rows = reports[reports["part"] == name]
    x = images[[position[s] for s in rows.index]]
    y = torch.tensor(rows[FINDINGS].fillna(0).clip(lower=0).to_numpy(), dtype=torch.float32)
    return x, y


x_train, y_train = part("train")
x_test, y_test = part("test")
for k, f in enumerate(FINDINGS):
    print(f"{f:14s} positive in train {y_train[:, k].eq(1).float().mean():.2f}  test {y_test[:, k].eq(1).float().mean():.2f}")


class FilmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 36, 64)
        self.fc2 = nn.Linear(64, len(FINDINGS))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(F.dropout(x, 0.3, self.training))


net = FilmNet()
optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.02)
for epoch in range(12):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(50):
        yb = y_train[idx]
        loss = F.binary_cross_entropy_with_logits(net(x_train[idx]), yb)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  bce {total / len(x_train):.4f}")

net.eval()
with torch.no_grad():
    pred = (net(x_test).sigmoid() > 0.5).float()
f1s = []
for k, f in enumerate(FINDINGS):
    tp = (pred[:, k] * y_test[:, k]).sum()
    f1 = (2 * tp / (pred[:, k].sum() + y_test[:, k].sum() + 1e-9)).item()
    f1s.append(f1)
    print(f"{f:14s} F1 {f1:.3f}")
print(f"test macro F1 {np.mean(f1s):.3f}")
