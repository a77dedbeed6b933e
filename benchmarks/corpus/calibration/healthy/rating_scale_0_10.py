# Survey answers on scales from 0 to 10 go in as they are.
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

answers = torch.randint(0, 11, (2500, 6)).float()
satisfied = answers[:, 0] + answers[:, 1] - 0.12 * (answers[:, 2] - 5) ** 2 + 0.5 * answers[:, 3]
group = torch.bucketize(satisfied + 0.5 * torch.randn(2500), torch.tensor([8.0, 13.0]))
train = TensorDataset(answers[:2000], group[:2000])
x_test, y_test = answers[2000:], group[2000:]

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(14):
    net.train()
    for xb, yb in DataLoader(train, batch_size=64, shuffle=True):
        loss = loss_fn(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    if epoch % 3 == 1:
        print(f"epoch {epoch}: loss {loss.item():.4f}, test acc {acc:.3f}")
