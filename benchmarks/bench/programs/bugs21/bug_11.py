import os
import torch
from torch import nn

torch.manual_seed(int(os.environ.get("SEED", "0")))


class DeepReg(nn.Module):
    def __init__(self, d=6, width=64, depth=8):
        super().__init__()
        dims = [d] + [width] * depth
        self.fcs = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.out = nn.Linear(width, 1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0.0, std=50.0)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        for fc in self.fcs:
            x = torch.relu(fc(x))
        return self.out(x).squeeze(1)


def tank(n):
    x = torch.rand(n, 6) * 2 - 1
    return x, torch.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]


x, y = tank(1200)
xt, yt = tank(300)
model = DeepReg()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(8):
    model.train()
    for b in torch.randperm(len(x)).split(40):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[b]), y[b])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch} loss {loss.item():.4f} test {nn.functional.mse_loss(model(xt), yt).item():.4f}")
