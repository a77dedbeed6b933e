import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

cfg = dict(latent=12, hidden=96, epochs=25, batch_size=64, lr=2e-3, seed=11)


class AutoEncoder(nn.Module):
    def __init__(self, n_in, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.ReLU(),
            nn.Linear(hidden, latent),
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden),
            nn.ReLU(),
            nn.Linear(hidden, n_in),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def get_loaders():
    X = torch.tensor(load_digits().data, dtype=torch.float32)
    X = X[torch.randperm(len(X))]
    train, test = X[:1400], X[1400:]
    mean, std = train.mean(), train.std()
    train, test = (train - mean) / std, (test - mean) / std
    return (DataLoader(TensorDataset(train), batch_size=cfg["batch_size"], shuffle=True),
            DataLoader(TensorDataset(test), batch_size=200))


def run():
    torch.manual_seed(cfg["seed"])
    train_loader, test_loader = get_loaders()
    model = AutoEncoder(64, cfg["hidden"], cfg["latent"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    criterion = nn.MSELoss()

    def test_mse():
        model.eval()
        se, n = 0.0, 0
        with torch.no_grad():
            for (x,) in test_loader:
                se += ((model(x) - x) ** 2).sum().item()
                n += x.numel()
        model.train()
        return se / n

    for epoch in range(cfg["epochs"]):
        total = 0.0
        for (x,) in train_loader:
            recon = model(x)
            loss = criterion(recon, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: train {total / len(train_loader):.4f}  test {test_mse():.4f}")
    print(f"final test reconstruction mse: {test_mse():.4f}")


run()
