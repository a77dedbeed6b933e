import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.RandomState(int(os.environ.get("SEED", "0")))
torch.manual_seed(int(os.environ.get("SEED", "0")))
SEG = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc", 5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcfg"}
BOX = {"a": (0, 1, 1, 5), "b": (1, 4, 5, 6), "c": (5, 8, 5, 6), "d": (8, 9, 1, 5), "e": (5, 8, 0, 1), "f": (1, 4, 0, 1), "g": (4, 5, 1, 5)}


def snapshot(d):
    im = rng.normal(90, 20, (13, 10))
    dy, dx = rng.randint(0, 4), rng.randint(0, 4)
    for s in SEG[d]:
        r0, r1, c0, c1 = BOX[s]
        im[dy + r0:dy + r1, dx + c0:dx + c1] += 80
    return im.clip(0, 255).astype(np.uint8)


def dataset(n):
    d = rng.randint(0, 10, n)
    x = np.stack([snapshot(k) for k in d])
    return torch.from_numpy(x).unsqueeze(1).float(), torch.from_numpy(d)


class DigitCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3)
        self.c2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(16 * 9 * 6, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        x = torch.tanh(self.c1(x))
        x = torch.tanh(self.c2(x))
        x = torch.tanh(self.fc1(x.flatten(1)))
        return self.fc2(x)


def main():
    xtr, ytr = dataset(1500)
    xte, yte = dataset(500)
    model = DigitCNN()
    opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    for epoch in range(8):
        model.train()
        for idx in torch.randperm(1500).split(50):
            opt.zero_grad()
            loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
