# 12-class gesture classifier on flattened joint angles
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
K = 12
poses = torch.randn(K, 21)


def gestures(n):
    k = torch.randint(0, K, (n,))
    return poses[k] + 0.6 * torch.randn(n, 21), k


model = nn.Sequential(nn.Linear(21, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, K))
criterion = nn.L1Loss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
train_x, train_k = gestures(1500)
test_x, test_k = gestures(400)
loader = DataLoader(TensorDataset(train_x, train_k), batch_size=50, shuffle=True)
for epoch in range(10):
    model.train()
    s = 0.0
    for x, k in loader:
        target = nn.functional.one_hot(k, K).float()
        optimizer.zero_grad()
        loss = criterion(torch.softmax(model(x), dim=1), target)
        loss.backward()
        optimizer.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(1) == test_k).float().mean().item()
    print(f"epoch {epoch} loss {s / len(loader):.4f} test acc {acc:.3f}")
