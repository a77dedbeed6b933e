import torch
from torch import nn

model = nn.LSTM(8, 32, batch_first=True)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(100):
    x = torch.randn(16, 30, 8)
    opt.zero_grad()
    out, _ = model(x)
    loss = (out[:, -1].mean(1) - x.mean((1, 2))).pow(2).mean()
    loss.backward()
    opt.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
