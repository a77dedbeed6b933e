import os
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(os.environ.get("SEED", "0")))


def windows(n, sensors=6, T=16):
    """Data logger layout: (time, sample, sensor). Label: which sensor leads."""
    y = torch.randint(0, sensors, (n,))
    base = torch.randn(T + 4, n).cumsum(0) * 0.5
    x = torch.stack([base[:T]] * sensors, -1)
    lead = base[4:]
    x[:, torch.arange(n), y] = lead
    return x + 0.1 * torch.randn(T, n, sensors), y


class LeadNet(nn.Module):
    def __init__(self, sensors=6, T=16):
        super().__init__()
        self.fc1 = nn.Linear(T * sensors, 96)
        self.fc2 = nn.Linear(96, 48)
        self.fc3 = nn.Linear(48, sensors)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def to_rows(log):
    T, n, s = log.shape
    return log.view(n, T, s).flatten(1)


train_log, train_y = windows(2000)
test_log, test_y = windows(500)
train_x, test_x = to_rows(train_log), to_rows(test_log)
net = LeadNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(12):
    net.train()
    tot = 0.0
    for b in torch.randperm(len(train_x)).split(50):
        opt.zero_grad()
        loss = F.cross_entropy(net(train_x[b]), train_y[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {tot / 40:.4f} test acc {acc:.3f}")
