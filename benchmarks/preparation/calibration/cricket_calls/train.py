import csv
import wave

import numpy as np
import torch
import torch.nn as nn
from scipy.signal import resample_poly

RATE = 16000          # everything is brought to this rate
WIN, HOP, BANDS = 512, 160, 32
SPECIES = ["field", "tree", "bush", "cone"]


def read_wav(path):
    with wave.open(path, "rb") as w:
        sr, n = w.getframerate(), w.getnframes()
        x = np.frombuffer(w.readframes(n), dtype="<i2").astype(np.float32) / 32768
    if sr != RATE:
        x = resample_poly(x, RATE, sr).astype(np.float32)
    return torch.from_numpy(np.ascontiguousarray(x))


def features(x):
    s = torch.stft(x, WIN, HOP, window=torch.hann_window(WIN), return_complex=True).abs() ** 2
    s = s[1:].reshape(BANDS, -1, s.shape[1]).mean(1)
    return torch.log(s + 1e-5)


def load(table):
    out = {"train": ([], []), "test": ([], [])}
    with open(table) as fh:
        for r in csv.DictReader(fh):
            xs, ys = out[r["set"]]
            xs.append(features(read_wav("calls/" + r["clip"])))
            ys.append(SPECIES.index(r["species"]))
    return {k: (torch.stack(x), torch.tensor(y)) for k, (x, y) in out.items()}


def main():
    torch.manual_seed(0)
    d = load("calls.csv")
    x, y = d["train"]
    mean, std = x.mean((0, 2), keepdim=True), x.std((0, 2), keepdim=True)
    x = (x - mean) / std
    xt, yt = (d["test"][0] - mean) / std, d["test"][1]
    print("log spectra", tuple(x.shape), tuple(xt.shape))
    net = nn.Sequential(nn.Conv1d(BANDS, 32, 3, padding=1), nn.ReLU(), nn.Dropout(0.2),
                        nn.Conv1d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                        nn.Linear(32, len(SPECIES)))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    for epoch in range(25):
        net.train()
        tot = 0.0
        for idx in torch.randperm(len(x)).split(24):
            loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        if epoch % 6 == 0:
            print(f"epoch {epoch}: loss {tot / len(x):.4f}")
    net.eval()
    with torch.no_grad():
        guess = net(xt).argmax(1)
    for k, name in enumerate(SPECIES):
        print(f"  {name}: {(guess[yt == k] == k).float().mean():.2f}")
    print(f"test accuracy {(guess == yt).float().mean():.3f}")


if __name__ == "__main__":
    main()
