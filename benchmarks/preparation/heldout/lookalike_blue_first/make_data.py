import csv
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(3)
COL = {"blue": (40, 80, 200), "red": (205, 45, 40), "orange": (235, 140, 30), "green": (50, 150, 60), "teal": (30, 150, 160)}
S = 36
os.makedirs("caps", exist_ok=True)
rows = []
for i in range(600):
    k = list(COL)[rng.integers(5)]
    im = Image.fromarray((rng.integers(110, 190) + rng.normal(0, 12, (S, S, 3))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    x, y, r = rng.uniform(13, 23), rng.uniform(13, 23), rng.uniform(7, 11)
    g = rng.uniform(0.65, 1.2)
    c = tuple(int(np.clip(v * g + rng.normal(0, 14), 0, 255)) for v in COL[k])
    d.ellipse([x - r, y - r, x + r, y + r], fill=c)
    d.ellipse([x - r / 2, y - r / 2, x + r / 2, y + r / 2], outline=tuple(int(v * 0.6) for v in c))
    im.save(f"caps/cap{i:04d}.jpg", quality=92)
    rows.append([f"cap{i:04d}.jpg", k])
with open("caps.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["picture", "colour"])
    w.writerows(rows)
