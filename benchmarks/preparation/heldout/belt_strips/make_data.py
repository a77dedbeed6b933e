import csv
import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(60)
H, W = 40, 128
os.makedirs("strips", exist_ok=True)
rows = []
yy, xx = np.mgrid[0:H, 0:W]
for i in range(620):
    a = 130 + 12 * np.sin(2 * np.pi * (xx / rng.uniform(14, 22) + rng.uniform(0, 1))) + rng.normal(0, 9, (H, W))
    kind = rng.choice(["ok", "hole", "scratch"], p=[0.4, 0.3, 0.3])
    for _ in range(rng.integers(1, 4)):
        r, c = rng.uniform(0, H), rng.uniform(0, W)
        a -= 25 * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / (2 * rng.uniform(6, 14) ** 2))
    c, r = rng.uniform(8, W - 8), rng.uniform(8, H - 8)
    if kind == "hole":
        a -= 90 * (((yy - r) ** 2 + (xx - c) ** 2) < rng.uniform(3, 4.5) ** 2)
    elif kind == "scratch":
        t = rng.uniform(-0.7, 0.7)
        dist = np.abs((yy - r) * np.cos(t) - (xx - c) * np.sin(t))
        along = np.abs((xx - c) * np.cos(t) + (yy - r) * np.sin(t))
        a += 75 * ((dist < 1) & (along < rng.uniform(6, 10)))
    name = f"strip_{i:04d}.png"
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"strips/{name}")
    rows.append([name, kind])
with open("inspection.csv", "w", newline="") as f:
    w = csv.writer(f, delimiter=";")
    w.writerow(["strip", "finding"])
    w.writerows(rows)
