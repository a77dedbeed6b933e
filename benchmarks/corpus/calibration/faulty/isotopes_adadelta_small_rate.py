import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(os.environ.get("SEED", "0")))
N_ISO, CH = 6, 48


def gamma_spectrum(n):
    lines = [(8, 30), (12, 40), (20, 33), (8, 22), (15, 44), (25, 38)]
    y = torch.randint(0, N_ISO, (n,))
    ch = torch.arange(CH).float()
    x = torch.exp(-ch / 20).repeat(n, 1) * 4
    for i, k in enumerate(y.tolist()):
        for c in lines[k]:
            x[i] += 2.0 * torch.rand(()) * torch.exp(-((ch - c) ** 2) / 4)
    counts = torch.poisson(x * 4)
    return torch.sqrt(counts) - 2.5, y


def get_model(hidden):
    return nn.Sequential(nn.Linear(CH, hidden), nn.GELU(), nn.LayerNorm(hidden), nn.Linear(hidden, N_ISO))


def main():
    x, y = gamma_spectrum(2000)
    xv, yv = gamma_spectrum(500)
    loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
    model = get_model(64)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=0.001)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} val acc {acc:.3f}")


main()
