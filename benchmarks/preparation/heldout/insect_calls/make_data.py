import csv
import os
import wave

import numpy as np

rng = np.random.default_rng(70)
SR = 44100
KIND = {"bush_cricket": 14500, "cone_head": 17000, "katydid": 12600}
os.makedirs("rec", exist_ok=True)
rows = []
n = int(SR * 0.13)
t = np.arange(n) / SR
for i in range(390):
    k = list(KIND)[rng.integers(3)]
    f = KIND[k] * rng.uniform(0.97, 1.03)
    pulse = (np.sin(2 * np.pi * rng.uniform(35, 60) * t + rng.uniform(0, 6)) > rng.uniform(-0.2, 0.4)).astype(float)
    x = 0.3 * pulse * np.sin(2 * np.pi * f * t)
    x += 0.15 * np.sin(2 * np.pi * rng.uniform(2000, 6000) * t) * rng.uniform(0, 1)
    x += np.cumsum(rng.normal(0, 0.01, n)) * 0.05 + rng.normal(0, 0.05, n)
    name = f"rec/{i:04d}.wav"
    with wave.open(name, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(SR)
        w.writeframes((x.clip(-1, 1) * 32767).astype("<i2").tobytes())
    rows.append([name, k, "night%d" % (i // 65)])
with open("recordings.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["file", "species", "night"])
    w.writerows(rows)
