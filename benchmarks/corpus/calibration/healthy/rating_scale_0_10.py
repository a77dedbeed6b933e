# Survey answers on scales from 0 to 10 go in as they are.
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

answers = torch.randint(0, 11, (3500, 6)).float()
satisfied = answers[:, 0] + answers[:, 1] + 0.8 * (answers[:, 2] - 5).abs() + 0.5 * answers[:, 3]
group = torch.bucketize(satisfied + 0.3 * torch.randn(3500), torch.tensor([11.5, 17.0]))
train = TensorDataset(answers[:2800], group[:2800])
x_test, y_test = answers[2800:], group[2800:]

net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    net.train()
    for xb, yb in DataLoader(train, batch_size=64, shuffle=True):
        loss = loss_fn(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch}: loss {loss.item():.4f}, test acc {acc:.3f}")
