import os

import torch
from torch import nn
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler


class Autoencoder(nn.Module):
    def __init__(self, n=64, code=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n, 48), nn.ReLU(), nn.Linear(48, code))
        self.decoder = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, n), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


def main():
    torch.manual_seed(int(os.environ.get("SEED", 0)))
    X = StandardScaler().fit_transform(load_digits().data)
    X = torch.as_tensor(X, dtype=torch.float32)
    train, test = X[:1400], X[1400:]
    model = Autoencoder()
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(20):
        for batch in train[torch.randperm(len(train))].split(32):
            recon = model(batch)
            loss = nn.functional.mse_loss(recon, batch)
            optim.zero_grad()
            loss.backward()
            optim.step()
        with torch.no_grad():
            t = nn.functional.mse_loss(model(test), test).item()
        print(f"epoch {epoch} train_loss {loss.item():.4f} test_loss {t:.4f}")


main()
