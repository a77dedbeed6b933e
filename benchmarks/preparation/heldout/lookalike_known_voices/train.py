"""Which of the ten members of the club is speaking at the door? (No strangers: the door only has to tell members apart.)"""
import csv
import wave

import numpy as np
import torch
from torch import nn

torch.manual_seed(10)


def load_wav(path):
    with wave.open(path) as w:
        raw = np.frombuffer(w.readframes(w.getnframes()), np.uint8)
    return (raw.astype(np.float32) - 128) / 128


def cepstrum(x, frame=400, step=200, keep=40):
    cols = np.stack([x[i:i + frame] * np.hanning(frame) for i in range(0, len(x) - frame, step)])
    spec = np.log(np.abs(np.fft.rfft(cols, 512)) + 1e-3)
    return np.fft.irfft(spec)[:, 1:keep].astype(np.float32)


with open("enrolment.csv") as f:
    table = list(csv.DictReader(f))
members = sorted({r["member"] for r in table})
feats = torch.from_numpy(np.stack([cepstrum(load_wav(r["wav"])) for r in table]))
who = torch.tensor([members.index(r["member"]) for r in table])
day = np.array([int(r["day"]) for r in table])

enrol = torch.from_numpy(day < 3)       # three days of enrolment, the fourth day is the test
print(f"{len(members)} members, {int(enrol.sum())} clips for enrolment, {int((~enrol).sum())} from the last day")
m, s = feats[enrol].mean((0, 1)), feats[enrol].std((0, 1))
feats = (feats - m) / s


class Voice(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 48), nn.ReLU())
        self.out = nn.Linear(96, n)

    def forward(self, x):
        h = self.frame(x)
        return self.out(torch.cat([h.mean(1), h.std(1)], 1))


net = Voice(feats.shape[2], len(members))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
xe, ye = feats[enrol], who[enrol]
for epoch in range(30):
    net.train()
    for b in torch.randperm(len(xe)).split(30):
        loss = nn.functional.cross_entropy(net(xe[b]), ye[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            acc = (net(feats[~enrol]).argmax(1) == who[~enrol]).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} last-day accuracy {acc:.3f}")
