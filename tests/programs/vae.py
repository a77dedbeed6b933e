"""Variational autoencoder: sampling inside forward, a sum of two hand-written terms."""

import torch
import torch.nn.functional as F
from common import finish, seed_everything
from torch import nn


class VAE(nn.Module):
    def __init__(self, features=12, latent=3):
        super().__init__()
        self.fc1 = nn.Linear(features, 16)
        self.mean = nn.Linear(16, latent)
        self.log_variance = nn.Linear(16, latent)
        self.fc3 = nn.Linear(latent, 16)
        self.fc4 = nn.Linear(16, features)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.mean(h), self.log_variance(h)

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mean, log_variance = self.encode(x)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decode(z), mean, log_variance


def loss_function(reconstruction, x, mean, log_variance):
    bce = F.binary_cross_entropy(reconstruction, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return bce + kld


seed_everything(28)
data = torch.bernoulli(torch.rand(1, 12).expand(64, 12))
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for x in data.split(16):
        loss = loss_function(*(lambda out: (out[0], x, out[1], out[2]))(model(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, repr(loss.item()))
with torch.no_grad():
    print("sample", repr(model.decode(torch.randn(4, 3)).sum().item()))
finish(model, optimizer)
