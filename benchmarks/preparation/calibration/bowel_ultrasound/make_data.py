import csv
import os
import numpy as np
from PIL import Image, ImageFilter

rng = np.random.default_rng(31)
os.makedirs("frames", exist_ok=True)
yy, xx = np.mgrid[0:40, 0:40]
rows = []
for p in range(70):
    inflamed = int(rng.random() < 0.5)
    coarse = Image.fromarray(rng.integers(0, 256, (8, 8), dtype=np.uint8)).resize((40, 40), Image.BICUBIC)
    field = np.asarray(coarse, float) / 255
    gain = rng.uniform(0.7, 1.3)
    for k in range(int(rng.integers(8, 13))):
        sx, sy = rng.integers(-2, 3, 2)
        bg = np.roll(field, (sy, sx), (0, 1))
        cx, cy = rng.uniform(12, 28, 2)
        r = np.hypot(xx - cx, yy - cy)
        width = (2.15 if inflamed else 1.3) * rng.uniform(0.8, 1.25)
        wall = np.exp(-((r - rng.uniform(5, 8)) / width) ** 2)
        img = gain * (80 * bg + 25) + 75 * wall + rng.normal(0, 14, (40, 40)) + rng.gamma(2, 8, (40, 40))
        name = f"frames/{p:03d}_{k:02d}.png"
        Image.fromarray(np.clip(img, 0, 255).astype(np.uint8), "L").save(name)
        rows.append([name, f"PT{p:03d}", int(rng.integers(1, 4)), inflamed])
rng.shuffle(rows)
with open("frames.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["file", "patient", "probe", "inflamed"])
    w.writerows(rows)
