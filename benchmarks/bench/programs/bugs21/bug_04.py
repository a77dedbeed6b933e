import os
import numpy as np
import torch
from torch import nn

seed = int(os.environ.get("SEED", "0"))
rng = np.random.default_rng(seed)
torch.manual_seed(seed)

# recordings come ordered by subject group; the label is the activity (5 classes)
rows, labels = [], []
centres = rng.normal(0, 1.0, (5, 3, 12))
for activity in range(5):
    for variant in range(3):
        rows.append(centres[activity, variant] + rng.normal(0, 0.8, (100, 12)))
        labels += [activity] * 100
x = torch.tensor(np.concatenate(rows), dtype=torch.float32)
y = torch.tensor(labels)

cut = int(0.8 * len(x))
x_train, y_train = x[:cut], y[:cut]
x_val, y_val = x[cut:], y[cut:]

model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
ce = nn.CrossEntropyLoss()
for epoch in range(15):
    model.train()
    for b in torch.randperm(cut).split(40):
        opt.zero_grad()
        loss = ce(model(x_train[b]), y_train[b])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        tr = ce(model(x_train), y_train).item()
        out = model(x_val)
        va = ce(out, y_val).item()
        acc = (out.argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch}: train {tr:.3f} val {va:.3f} val acc {acc:.3f}")
