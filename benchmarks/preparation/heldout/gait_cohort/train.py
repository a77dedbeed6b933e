import json
import numpy as np
import torch
from torch import nn

torch.manual_seed(77)
gen = np.random.default_rng(77)

with open("subjects.json") as fh:
    subjects = json.load(fh)
with np.load("gait.npz") as z:
    windows = z["windows"].astype(np.float32)
    subject = z["subject"]
faller = np.array([subjects[s]["faller"] for s in subject], dtype=np.float32)
print(f"{len(windows)} walking windows of {len(set(subject))} people, {faller.mean():.0%} from fallers")

pick = gen.permutation(len(windows))
n_test = len(pick) // 4
test_idx, train_idx = pick[:n_test], pick[n_test:]

mean = windows[train_idx].mean(axis=(0, 1))
std = windows[train_idx].std(axis=(0, 1))
x = torch.from_numpy((windows - mean) / std).transpose(1, 2).contiguous()
y = torch.from_numpy(faller)


class Block(nn.Sequential):
    def __init__(self, a, b, k):
        super().__init__(nn.Conv1d(a, b, k, padding=k // 2), nn.BatchNorm1d(b), nn.ReLU(), nn.MaxPool1d(2))


net = nn.Sequential(Block(3, 16, 7), Block(16, 32, 5), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 12, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1.5e-3, weight_decay=1e-3)
for epoch in range(1, 13):
    net.train()
    gen.shuffle(train_idx)
    running = 0.0
    for i in range(0, len(train_idx), 50):
        b = train_idx[i:i + 50]
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(b)
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} loss {running / len(train_idx):.4f}")

net.eval()
with torch.no_grad():
    guess = (net(x[test_idx]).squeeze(1) > 0).float()
print(f"test accuracy {(guess == y[test_idx]).float().mean().item():.3f}")
