import colorsys
import csv
import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(60)
HUES = {"green": (0.24, 0.33), "turning": (0.12, 0.19), "pink": (0.05, 0.085), "red": (0.985, 1.015)}
yy, xx = np.mgrid[:36, :36]
os.makedirs("crates", exist_ok=True)
with open("crates.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["photo", "stage", "fold"])
    for i in range(560):
        k = list(HUES)[rng.integers(4)]
        bg = rng.uniform(40, 210) * np.array([1, 1, 1.0])
        img = np.ones((36, 36, 3)) * bg
        for _ in range(rng.integers(1, 4)):
            cx, cy, r = rng.uniform(8, 28), rng.uniform(8, 28), rng.uniform(6, 10)
            h, s, v = rng.uniform(*HUES[k]) % 1, rng.uniform(0.6, 0.95), rng.uniform(0.5, 0.95)
            col = np.array(colorsys.hsv_to_rgb(h, s, v)) * 255
            d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
            shade = (1.1 - 0.35 * d / r)[..., None]
            img = np.where((d < r)[..., None], col * shade, img)
        img += rng.normal(0, 6, img.shape)
        name = f"p{i:04d}.jpg"
        Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(f"crates/{name}", quality=93, subsampling=0)
        w.writerow([name, k, "eval" if i % 4 == 0 else "train"])
