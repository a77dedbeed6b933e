import torch
from torch import nn


class Churn(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.body(x))


model = Churn(11)
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters())
x = torch.randn(256, 11)
y = torch.randint(0, 2, (256,))
for idx in torch.randperm(256).split(32):
    opt.zero_grad()
    loss = loss_fn(model(x[idx]), y[idx])
    loss.backward()
    opt.step()
