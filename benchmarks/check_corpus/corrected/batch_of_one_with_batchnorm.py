import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(
    nn.Linear(16, 64),
    nn.BatchNorm1d(64),
    nn.ReLU(),
    nn.Linear(64, 3),
)
data = TensorDataset(torch.randn(300, 16), torch.randint(0, 3, (300,)))
loader = DataLoader(data, batch_size=32, shuffle=True)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
model.train()
for x, y in loader:
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
