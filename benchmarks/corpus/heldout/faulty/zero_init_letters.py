import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
patterns = (torch.rand(8, 2, 7, 7) < 0.4).float()


def letters(n):
    k = torch.randint(0, 8, (n,))
    font = torch.randint(0, 2, (n,))
    return patterns[k, font].unsqueeze(1) + 0.5 * torch.randn(n, 1, 7, 7), k


def init_weights(m):
    if isinstance(m, (nn.Linear, nn.Conv2d)):
        nn.init.zeros_(m.weight)
        nn.init.zeros_(m.bias)


class LetterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3)
        self.fc1 = nn.Linear(12 * 25, 40)
        self.fc2 = nn.Linear(40, 8)
        self.apply(init_weights)

    def forward(self, x):
        x = F.relu(self.conv(x)).flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


train_set, test_set = TensorDataset(*letters(1600)), letters(400)
net = LetterNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    net.train()
    acc_loss = 0.0
    for xb, yb in DataLoader(train_set, batch_size=32, shuffle=True):
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc_loss += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(test_set[0]).argmax(1) == test_set[1]).float().mean().item()
    print(f"epoch {epoch}: loss {acc_loss / 50:.4f} acc {acc:.3f}")
