import numpy as np
import torch
from sklearn.preprocessing import scale
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
d = np.load("wrist.npz")

# the bands differ in gain and offset from wearer to wearer
x_train = scale(d["train_signal"].astype("float64"), axis=1)
x_test = scale(d["test_signal"].astype("float64"), axis=1)


def dataset(x, y):
    return TensorDataset(torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y))


train = DataLoader(dataset(x_train, d["train_activity"]), batch_size=50, shuffle=True)
test = DataLoader(dataset(x_test, d["test_activity"]), batch_size=250)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(1, 12, 9, stride=2)
        self.c2 = nn.Conv1d(12, 24, 7, stride=2)
        self.out = nn.Linear(24, 3)

    def forward(self, x):
        x = torch.relu(self.c1(x))
        x = torch.relu(self.c2(x))
        return self.out(x.amax(-1))


net = Conv()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
for epoch in range(10):
    losses = []
    for x, y in train:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"{epoch + 1:2d} {np.mean(losses):.4f}")

net.eval()
with torch.no_grad():
    right = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
print(f"test accuracy {right / len(test.dataset):.3f}")
