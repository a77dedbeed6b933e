import csv
import os
import wave

import numpy as np

rng = np.random.default_rng(90)
SR = 32000
N = int(0.14 * SR)
t = np.arange(N) / SR
KINDS = {"field": 4200.0, "tree": 9400.0, "bush": 11200.0, "cone": 13200.0}
os.makedirs("calls", exist_ok=True)
with open("calls.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["clip", "species", "set"])
    for i in range(440):
        k = list(KINDS)[i % 4]
        f0 = KINDS[k] * (1 + rng.normal(0, 0.02))
        rate = rng.uniform(35, 60)
        gate = np.clip(np.sin(2 * np.pi * rate * t + rng.uniform(0, 6.28)), 0, 1)
        x = rng.uniform(0.12, 0.3) * gate * np.sin(2 * np.pi * f0 * t)
        noise = np.cumsum(rng.normal(0, 0.02, N))
        noise -= np.convolve(noise, np.ones(200) / 200, "same")
        x = x + noise * 0.6 + rng.normal(0, 0.02, N)
        name = f"c{i:03d}.wav"
        with wave.open(f"calls/{name}", "wb") as o:
            o.setnchannels(1)
            o.setsampwidth(2)
            o.setframerate(SR)
            o.writeframes((x.clip(-1, 1) * 32767).astype("<i2").tobytes())
        w.writerow([name, k, "test" if (i // 4) % 4 == 0 else "train"])
