import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

model = nn.Sequential(
    nn.Linear(8, 64),
    nn.ReLU(),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 1),
    nn.Dropout(0.6),
)


def tremors(n):
    x = torch.randn(n, 8)
    amp = 3 + x[:, 0] + 0.8 * x[:, 1] * x[:, 2] + 0.5 * x[:, 3].abs()
    return x, amp.unsqueeze(1)


train_dl = DataLoader(TensorDataset(*tremors(1500)), batch_size=30, shuffle=True)
x_val, y_val = tremors(400)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    model.train()
    running = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        val = criterion(model(x_val), y_val).item()
    print("epoch %d train mse %.3f val mse %.3f" % (epoch + 1, running / len(train_dl), val))
