import torch
from torch import nn


class ChargebackNet(nn.Module):
    def __init__(self, n_inputs):
        super().__init__()
        self.norm = nn.BatchNorm1d(n_inputs)
        self.hidden = nn.Linear(n_inputs, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(self.norm(x)))).squeeze(1)


def fit(net, x, y, epochs, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        net.train()
        total = 0.0
        for i in torch.randperm(len(x)).split(64):
            loss = nn.functional.binary_cross_entropy_with_logits(net(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(i)
        if epoch % 4 == 0:
            print(f"epoch {epoch}: {total / len(x):.4f}")
    return net.eval()
