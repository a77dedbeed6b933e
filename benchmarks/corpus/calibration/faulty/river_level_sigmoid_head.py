import os
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(int(os.environ.get("SEED", "0")))

# six rainfall gauges -> level in metres relative to the reference mark
rain = torch.rand(1500, 6) * 2 - 1
level = 2.5 * rain[:, 0] + 1.5 * torch.sin(3 * rain[:, 1]) + 2 * rain[:, 2] * rain[:, 3] + 0.1 * torch.randn(1500)
dataset = TensorDataset(rain, level.unsqueeze(1))
train_ds, val_ds = random_split(dataset, [1200, 300], generator=torch.Generator().manual_seed(1))
train_dl = DataLoader(train_ds, batch_size=40, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=300)

model = nn.Sequential(nn.Linear(6, 50), nn.SiLU(), nn.Linear(50, 50), nn.SiLU(), nn.Linear(50, 1), nn.Sigmoid())
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=0.005)


def evaluate():
    model.eval()
    with torch.no_grad():
        return sum(criterion(model(x), y).item() for x, y in val_dl) / len(val_dl)


for epoch in range(18):
    model.train()
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "val mse %.4f" % evaluate())
