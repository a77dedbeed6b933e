# Survey answers on scales from 0 to 10 go in as they are; predict whether the person would recommend the shop.
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))

answers = torch.randint(0, 11, (3500, 6)).float()
weight = torch.tensor([1.0, 0.8, -0.7, 0.5, -0.4, 0.0])
mood = answers @ weight + 2.0 * (torch.minimum(answers[:, 0], answers[:, 1]) > 5).float()
recommend = (mood + 0.6 * torch.randn(3500) > mood.median()).long()
train = TensorDataset(answers[:2800], recommend[:2800])
x_test, y_test = answers[2800:], recommend[2800:]

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(10):
    net.train()
    total = 0.0
    for xb, yb in DataLoader(train, batch_size=70, shuffle=True):
        loss = loss_fn(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {total / 40:.4f}, test acc {acc:.3f}")
