import json
import random
import wave

import numpy as np
import torch
import torch.nn.functional as F

random.seed(0); np.random.seed(0); torch.manual_seed(0)

WIN, HOP = 512, 256
SAMPLES = 3584


def read_clip(path):
    w = wave.open(path, "rb")
    assert w.getsampwidth() == 2
    pcm = np.frombuffer(w.readframes(w.getnframes()), dtype=np.int16)
    w.close()
    return pcm.astype(np.float32) / 32768.0


def features(x):
    x = torch.from_numpy(x[:SAMPLES].copy())
    spec = torch.stft(x, WIN, HOP, window=torch.hann_window(WIN), return_complex=True).abs()
    spec = torch.log(spec[: WIN // 2] + 1e-3)
    return spec - spec.mean()


index = json.load(open("index.json"))
species = sorted({e["species"] for e in index})
print("species:", species)


def collect(sites):
    xs, ys = [], []
    for e in index:
        if e["site"] in sites:
            xs.append(features(read_clip(e["file"])))
            ys.append(species.index(e["species"]))
    return torch.stack(xs), torch.tensor(ys)


# quarry is the site nobody has trained on
Xtr, Ytr = collect({"marsh", "orchard"})
Xte, Yte = collect({"quarry"})
print("train", tuple(Xtr.shape), "test", tuple(Xte.shape))


class CallNet(torch.nn.Module):
    def __init__(self, n_freq, n_out):
        super().__init__()
        self.c1 = torch.nn.Conv1d(n_freq, 48, 3, padding=1)
        self.c2 = torch.nn.Conv1d(48, 48, 3, padding=1)
        self.out = torch.nn.Linear(48, n_out)

    def forward(self, x):
        h = F.relu(self.c1(x))
        h = F.dropout(F.relu(self.c2(h)), 0.3, self.training)
        return self.out(h.mean(-1))


net = CallNet(Xtr.shape[1], len(species))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for ep in range(25):
    perm = torch.randperm(len(Xtr))
    net.train()
    tot = 0
    for b in perm.split(16):
        loss = F.cross_entropy(net(Xtr[b]), Ytr[b])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item()
    if ep % 5 == 4:
        net.eval()
        with torch.no_grad():
            acc = (net(Xte).argmax(1) == Yte).float().mean().item()
        print(f"ep {ep+1} loss {tot/len(perm.split(16)):.3f} quarry accuracy {acc:.3f}")
