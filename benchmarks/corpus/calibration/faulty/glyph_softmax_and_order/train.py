import os

import numpy as np
import torch
import torch.nn.functional as F
from data import GLYPHS, make_split
from model import GlyphNet
from torch.utils.data import DataLoader, TensorDataset

seed = int(os.environ.get("SEED", "0"))
torch.manual_seed(seed)
rng = np.random.default_rng(seed)


def evaluate(net, loader):
    net.eval()
    hits = total = 0
    with torch.no_grad():
        for img, lab in loader:
            hits += (net(img).argmax(1) == lab).sum().item()
            total += len(lab)
    return hits / total


def main():
    train_loader = DataLoader(TensorDataset(*make_split(160, rng)), batch_size=32)
    test_loader = DataLoader(TensorDataset(*make_split(60, rng)), batch_size=128)
    net = GlyphNet(len(GLYPHS))
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(10):
        net.train()
        running = 0.0
        for img, lab in train_loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(img), lab)
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"[{epoch}] train {running / len(train_loader):.3f}  test acc {evaluate(net, test_loader):.3f}")


if __name__ == "__main__":
    main()
