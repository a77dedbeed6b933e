import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))


def terrain(n):
    x = torch.randn(n, 8)
    cls = (x[:, 0] * x[:, 1] > 0).long() + 2 * (x[:, 2] + x[:, 3].abs() > 0.7).long()
    return x, cls


class Amp:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16)

    def step(self, x, y):
        self.opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = self.model(x)
        loss = nn.functional.cross_entropy(logits.float(), y)
        self.scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.opt)
        self.scaler.update()
        return loss.item()


x, y = terrain(1600)
xt, yt = terrain(400)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
runner = Amp(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)), lr=0.05)
for epoch in range(10):
    runner.model.train()
    m = sum(runner.step(xb, yb) for xb, yb in loader) / len(loader)
    runner.model.eval()
    with torch.no_grad():
        acc = (runner.model(xt).argmax(1) == yt).float().mean().item()
    print(f"epoch {epoch} loss {m:.4f} test acc {acc:.3f}")
