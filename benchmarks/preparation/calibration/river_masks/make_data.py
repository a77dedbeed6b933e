import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(8)
S = 48
yy, xx = np.mgrid[:S, :S]
for part, n in (("train", 260), ("valid", 80)):
    os.makedirs(f"rivers/{part}/images", exist_ok=True)
    os.makedirs(f"rivers/{part}/masks", exist_ok=True)
    for i in range(n):
        c, amp, f, ph = rng.uniform(8, 40), rng.uniform(2, 9), rng.uniform(0.05, 0.2), rng.uniform(0, 6.3)
        width = rng.uniform(3, 8)
        mid = c + amp * np.sin(f * yy + ph) + rng.uniform(-0.4, 0.4) * (yy - 24)
        mask = np.abs(xx - mid) < width
        land = rng.normal(0, 1, (S // 4, S // 4)).repeat(4, 0).repeat(4, 1) * 16
        img = np.stack([90 + land, 110 + land, 70 + land], -1)
        img[mask] = [60, 90, 110 + rng.uniform(-15, 15)]
        img = img + rng.normal(0, 12, img.shape)
        Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(f"rivers/{part}/images/tile_{i:03d}.png")
        Image.fromarray((mask * 255).astype(np.uint8)).save(f"rivers/{part}/masks/tile_{i:03d}.png")
