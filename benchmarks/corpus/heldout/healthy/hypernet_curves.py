# A hypernetwork writes the weights of a small regressor from a task descriptor.
import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "0")))

H = 12
SIZES = [(H, 1), (H,), (1, H), (1,)]
N_W = sum(torch.Size(s).numel() for s in SIZES)


class HyperNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, N_W)

    def forward(self, task, x):
        w = self.head(self.body(task))
        parts = torch.split(w, [torch.Size(s).numel() for s in SIZES], dim=1)
        w1, b1, w2, b2 = (p.view(-1, *s) for p, s in zip(parts, SIZES))
        h = torch.tanh(torch.bmm(x, w1.transpose(1, 2)) + b1.unsqueeze(1))
        return torch.bmm(h, w2.transpose(1, 2)) + b2.unsqueeze(1)


def tasks(n, points=16):
    ab = torch.rand(n, 2) * 2 - 1
    x = torch.rand(n, points, 1) * 2 - 1
    a, b = ab[:, :1, None], ab[:, 1:, None]
    y = torch.sin(3 * x * (1 + a)) + b * x**2
    return ab, x, y


hyper = HyperNet()
optimizer = torch.optim.Adam(hyper.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=500)
test_ab, test_x, test_y = tasks(200)
for step in range(1, 501):
    ab, x, y = tasks(48)
    loss = nn.functional.mse_loss(hyper(ab, x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 100 == 0:
        with torch.no_grad():
            t = nn.functional.mse_loss(hyper(test_ab, test_x), test_y).item()
        print(f"step {step}  loss {loss.item():.4f}  unseen tasks {t:.4f}  (variance {test_y.var().item():.3f})")
