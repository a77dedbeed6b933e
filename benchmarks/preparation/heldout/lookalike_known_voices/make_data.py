import csv
import os
import wave

import numpy as np

rng = np.random.default_rng(63)
SR = 8000
os.makedirs("wav", exist_ok=True)
rows = []
n = int(SR * 0.5)
t = np.arange(n) / SR
for s in range(10):
    f0 = 95 + 14 * s + rng.uniform(-4, 4)
    form = rng.uniform([400, 1100, 2200], [800, 1800, 3200])
    for sess in range(4):
        room = rng.uniform(0.6, 1.4, 3)
        for k in range(12):
            f = f0 * (1 + 0.06 * rng.normal() * 0.6) * (1 + 0.05 * np.sin(2 * np.pi * rng.uniform(1, 4) * t))
            ph = 2 * np.pi * np.cumsum(f) / SR
            x = np.zeros(n)
            for h in range(1, 20):
                fh = h * f0
                amp = sum(room[j] * np.exp(-((fh - form[j]) / 260) ** 2) for j in range(3)) + 0.03
                x += amp * np.sin(h * ph + rng.uniform(0, 6))
            x = 0.3 * x / np.abs(x).max() + rng.normal(0, 0.02, n)
            name = f"wav/member{s:02d}_day{sess}_{k:02d}.wav"
            with wave.open(name, "wb") as w:
                w.setnchannels(1)
                w.setsampwidth(1)
                w.setframerate(SR)
                w.writeframes(((x.clip(-1, 1) * 127) + 128).astype(np.uint8).tobytes())
            rows.append([name, f"member{s:02d}", sess])
with open("enrolment.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["wav", "member", "day"])
    w.writerows(rows)
