import torch
import torch.nn as nn

model = nn.GRU(4, 16, batch_first=True)
head = nn.Linear(16, 1)
params = list(model.parameters()) + list(head.parameters())
optimizer = torch.optim.RMSprop(params, lr=1e-3)
mse = nn.MSELoss()


def train_step(seq, target):
    optimizer.zero_grad()
    _, h = model(seq)
    loss = mse(head(h[-1]), target)
    loss.backward()
    optimizer.step()
    return loss.item()


for step in range(100):
    seq = torch.randn(8, 12, 4)
    train_step(seq, seq.sum((1, 2)).unsqueeze(1))
