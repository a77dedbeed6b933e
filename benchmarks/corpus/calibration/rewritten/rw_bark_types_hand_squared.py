import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
centres = torch.randn(5, 8) * 1.5
y = torch.randint(0, 5, (800,))
x = centres[y] + torch.randn(800, 8)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5), nn.Softmax(dim=1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
for epoch in range(12):
    for rows in torch.randperm(600).split(30):
        optimizer.zero_grad()
        probs = model(x[rows])
        one_hot = F.one_hot(y[rows], 5).float()
        loss = ((probs - one_hot) ** 2).sum(1).mean()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(x[600:]).argmax(1) == y[600:]).float().mean()
    print(f"epoch {epoch} val acc {acc.item():.3f}")
