import csv
import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(71)
S = 40
os.makedirs("ct", exist_ok=True)
rows = []
yy, xx = np.mgrid[0:S, 0:S]
for i in range(560):
    hu = np.full((S, S), -1000.0)
    c, r = rng.uniform(18, 22, 2)
    body = ((xx - c) / 18) ** 2 + ((yy - r) / 17) ** 2 < 1
    hu[body] = rng.uniform(20, 60)
    hu[((xx - c + 8) / 4) ** 2 + ((yy - r) / 6) ** 2 < 1] = rng.uniform(-850, -700)
    bx, by = c + rng.uniform(2, 6), r + rng.uniform(-5, 5)
    d = np.hypot(xx - bx, yy - by)
    hu[d < 7] = rng.uniform(500, 700)
    kind = ["intact", "thinned", "dense"][rng.integers(3)]
    hu[d < 3.5] = {"intact": 380, "thinned": 190, "dense": 620}[kind] + rng.normal(0, 45)
    if rng.random() < 0.3:
        hu[int(rng.integers(4, 36)), int(rng.integers(4, 36))] = 3000
    hu += rng.normal(0, 40, (S, S))
    Image.fromarray((hu + 1024).clip(0, 4095).astype(np.uint16)).save(f"ct/slice{i:04d}.png")
    rows.append([f"slice{i:04d}.png", kind])
with open("readings.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["slice", "finding"])
    w.writerows(rows)
