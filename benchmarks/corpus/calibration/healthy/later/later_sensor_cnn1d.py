# Which axis of the machine vibrates? Windows from a 6-channel accelerometer rig
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(5)
torch.manual_seed(5)

N_CLASSES, T, CH = 6, 64, 6


def synth(n):
    # a bearing vibration (fast burst) shows up on one axis, the others only drift slowly
    t = np.arange(T)[None, :, None] / T
    y = np.random.randint(0, N_CLASSES, n)
    slow = np.random.uniform(0.5, 2.5, (n, 1, CH))
    phase = np.random.rand(n, 1, CH) * 2 * np.pi
    X = np.sin(2 * np.pi * slow * t + phase) + np.random.randn(n, T, CH) * 0.5
    fast = np.random.uniform(8, 11, (n, 1))
    burst = 0.9 * np.sin(2 * np.pi * fast * t[:, :, 0] + np.random.rand(n, 1) * 2 * np.pi)
    X[np.arange(n), :, y] += burst
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y)


class ConvNet1D(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(CH, 24, kernel_size=7, padding=3)
        self.conv2 = nn.Conv1d(24, 32, kernel_size=5, padding=2)
        self.pool = nn.MaxPool1d(2)
        self.head = nn.Linear(32, N_CLASSES)

    def forward(self, x):
        # x: (batch, time, channels) -> conv wants (batch, channels, time)
        x = x.permute(0, 2, 1)
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        return self.head(x.mean(dim=2))


Xtr, ytr = synth(1600)
Xte, yte = synth(500)
train_loader = DataLoader(TensorDataset(Xtr, ytr), batch_size=32, shuffle=True)

net = ConvNet1D()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(8):
    net.train()
    loss_sum, correct = 0.0, 0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        logits = net(xb)
        loss = F.cross_entropy(logits, yb)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(yb)
        correct += (logits.argmax(1) == yb).sum().item()
    net.eval()
    with torch.no_grad():
        test_acc = (net(Xte).argmax(1) == yte).float().mean().item()
    print(f"epoch {epoch + 1:2d} loss {loss_sum / len(Xtr):.3f} "
          f"train acc {correct / len(Xtr):.3f} test acc {test_acc:.3f}")

print("final test acc %.3f" % test_acc)
