import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class PlanetNet(nn.Module):
    def __init__(self, n_features=7, n_types=5):
        super().__init__()
        self.hidden = nn.Linear(n_features, 32)
        self.out = nn.Linear(32, n_types)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


torch.manual_seed(int(os.environ.get("SEED", "0")))
centres = 2 * torch.randn(6, 7)
kind = torch.randint(0, 6, (900,))
obs = centres[kind] + torch.randn(900, 7)
loader = DataLoader(TensorDataset(obs[:700], kind[:700]), batch_size=35, shuffle=True)

net = PlanetNet()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    print("test acc %.3f" % (net(obs[700:]).argmax(1) == kind[700:]).float().mean().item())
