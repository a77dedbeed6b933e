import csv
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(83)
os.makedirs("leaves", exist_ok=True)
rows = []
for i in rng.permutation(500):
    im = Image.fromarray((rng.integers(200, 240) + rng.normal(0, 8, (32, 32))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    w, h = rng.uniform(6, 14), rng.uniform(12, 24)
    x, y = rng.uniform(2, 30 - w), rng.uniform(1, 31 - h)
    d.ellipse([x, y, x + w, y + h], fill=int(rng.integers(60, 130)))
    im.save(f"leaves/leaf-{i:03d}.png")
    rows.append([f"leaf-{i:03d}", round(float(np.pi * w * h / 4 * 0.05 + rng.normal(0, 0.15)), 2)])
rng.shuffle(rows)
with open("areas.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["leaf", "area_cm2"])
    w.writerows(rows)
