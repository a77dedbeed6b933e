import csv
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(16)
S = 40
os.makedirs("gloves", exist_ok=True)
rows = []
for i in range(420):
    kind = ["left", "right", "mitten"][rng.integers(3)]
    im = Image.fromarray((rng.integers(160, 210) + rng.normal(0, 10, (S, S))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    c = int(rng.integers(30, 100))
    x, y = rng.uniform(13, 19), rng.uniform(12, 16)
    d.rectangle([x, y, x + 10, y + 16], fill=c)
    if kind == "mitten":
        d.ellipse([x, y - 8, x + 10, y + 8], fill=c)
    else:
        for k in range(4):
            d.line([x + 1 + 2.8 * k, y, x + 1 + 2.8 * k, y - rng.uniform(6, 10)], fill=c, width=2)
        sx = x if kind == "right" else x + 10
        dx = -1 if kind == "right" else 1
        d.line([sx, y + 11, sx + dx * rng.uniform(5, 7), y + 4], fill=c, width=3)
    im = im.rotate(rng.uniform(-15, 15), fillcolor=180)
    im.save(f"gloves/g{i:03d}.png")
    rows.append([f"g{i:03d}.png", kind])
with open("gloves.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["photo", "kind"])
    w.writerows(rows)
