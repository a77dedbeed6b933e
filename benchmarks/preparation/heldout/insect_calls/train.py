"""Species of singing insects from short field recordings."""
import csv
from dataclasses import dataclass

import librosa
import numpy as np
import torch
from torch import nn


@dataclass
class Settings:
    n_fft: int = 512
    hop: int = 256
    frames: int = 10
    test_nights: tuple = ("night4", "night5")
    epochs: int = 40
    seed: int = 6


CFG = Settings()


def load_features(path):
    y, sr = librosa.load(path)
    spec = torch.stft(torch.from_numpy(y), CFG.n_fft, CFG.hop, window=torch.hann_window(CFG.n_fft), return_complex=True)
    power = torch.log(spec.abs() ** 2 + 1e-4)
    power = power[:, : CFG.frames]
    return power - power.median()


def load_all():
    with open("recordings.csv") as f:
        rows = list(csv.DictReader(f))
    kinds = sorted({r["species"] for r in rows})
    feats = torch.stack([load_features(r["file"]) for r in rows])
    labels = torch.tensor([kinds.index(r["species"]) for r in rows])
    test = torch.tensor([r["night"] in CFG.test_nights for r in rows])
    return feats, labels, test, kinds


class Net(nn.Module):
    def __init__(self, bins, n):
        super().__init__()
        self.norm = nn.BatchNorm1d(bins)
        self.conv = nn.Conv1d(bins, 32, 3, padding=1)
        self.head = nn.Sequential(nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, n))

    def forward(self, x):
        h = torch.relu(self.conv(self.norm(x)))
        return self.head(torch.cat([h.mean(2), h.amax(2)], 1))


def main():
    torch.manual_seed(CFG.seed)
    x, y, test, kinds = load_all()
    print("features", tuple(x.shape), "train", int((~test).sum()), "test", int(test.sum()))
    net = Net(x.shape[1], len(kinds))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-3)
    xt, yt = x[~test], y[~test]
    for epoch in range(1, CFG.epochs + 1):
        net.train()
        for b in torch.randperm(len(xt)).split(26):
            loss = nn.functional.cross_entropy(net(xt[b]), yt[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 10 == 0:
            net.eval()
            with torch.no_grad():
                acc = (net(x[test]).argmax(1) == y[test]).float().mean()
            print(f"epoch {epoch}  loss {loss.item():.3f}  accuracy on the test nights {acc:.3f}")


if __name__ == "__main__":
    main()
