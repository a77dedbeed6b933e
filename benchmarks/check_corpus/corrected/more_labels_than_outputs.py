import torch
from torch import nn

labels = torch.randint(0, 10, (1000,))
x = torch.randn(1000, 20)
head = nn.Linear(20, 10)
optimizer = torch.optim.Adam(head.parameters())
for b in torch.randperm(1000).split(100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(head(x[b]), labels[b])
    loss.backward()
    optimizer.step()
