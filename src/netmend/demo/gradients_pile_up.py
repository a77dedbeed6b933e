import torch
from torch import nn

torch.manual_seed(1)
x = torch.randn(600, 8)
y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).long()

model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for epoch in range(20):
    for batch in torch.randperm(600).split(50):
        loss = criterion(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1:2d}  loss {loss.item():.3f}")
