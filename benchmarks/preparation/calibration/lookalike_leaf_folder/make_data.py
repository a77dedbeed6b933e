import csv
import os
import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(2)
os.makedirs("leaves", exist_ok=True)
kinds = ["round", "long", "lobed"]
rows = []
for i in rng.permutation(900):
    k = kinds[rng.integers(3)]
    im = Image.new("L", (28, 28), int(rng.integers(200, 255)))
    dr = ImageDraw.Draw(im)
    cx, cy, ink = rng.integers(12, 17), rng.integers(12, 17), int(rng.integers(20, 110))
    if k == "round":
        r = rng.integers(6, 10)
        dr.ellipse([cx - r, cy - r, cx + r, cy + r], fill=ink)
    elif k == "long":
        a, b = rng.integers(9, 12), rng.integers(3, 5)
        dr.ellipse([cx - b, cy - a, cx + b, cy + a], fill=ink)
    else:
        for a in np.arange(5) * 2 * np.pi / 5 + rng.random():
            x, y = cx + 6 * np.cos(a), cy + 6 * np.sin(a)
            dr.ellipse([x - 3.4, y - 3.4, x + 3.4, y + 3.4], fill=ink)
    px = np.asarray(im, float) + rng.normal(0, 18, (28, 28))
    Image.fromarray(px.clip(0, 255).astype("uint8")).save(f"leaves/leaf{i}.png")
    rows.append([f"leaf{i}.png", k])
rows.sort(key=lambda r: r[1])
with open("leaves.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["file", "shape"])
    w.writerows(rows)
