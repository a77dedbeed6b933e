import os
import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", 0)))


def make_points(n):
    radius = torch.where(torch.rand(n) < 0.5, 0.5, 1.2)
    angle = torch.rand(n) * 6.2832
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1) + 0.12 * torch.randn(n, 2)
    return points, (radius < 1).float().unsqueeze(1)


class Moat(nn.Module):
    def __init__(self):
        super(Moat, self).__init__()
        self.layer1 = nn.Linear(2, 24)
        self.act1 = nn.ReLU()
        self.layer2 = nn.Linear(24, 12)
        self.act2 = nn.ReLU()
        self.output = nn.Linear(12, 1)
        self.final = nn.Sigmoid()

    def forward(self, x):
        x = self.act1(self.layer1(x))
        x = self.act2(self.layer2(x))
        return self.final(self.output(x))


X, Y = make_points(1500)
X_test, Y_test = make_points(400)
net = Moat()
bce = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.005)

for epoch in range(25):
    order = torch.randperm(len(X))
    for i in range(0, len(X), 50):
        rows = order[i : i + 50]
        optimizer.zero_grad()
        loss = bce(net(X[rows]), Y[rows])
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            acc = ((net(X_test) > 0.5).float() == Y_test).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy {acc:.3f}")
