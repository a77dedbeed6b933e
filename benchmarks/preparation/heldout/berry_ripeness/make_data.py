import colorsys
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

rng = np.random.default_rng(9)
HUES = {"unripe": 0.27, "turning": 0.12, "ripe": 0.0, "overripe": 0.88}
S = 36
for part, n in (("train", 130), ("test", 50)):
    for name, hue in HUES.items():
        os.makedirs(f"berries/{part}/{name}", exist_ok=True)
        for j in range(n):
            im = Image.fromarray((rng.integers(90, 150) + rng.normal(0, 10, (S, S, 3))).clip(0, 255).astype(np.uint8))
            d = ImageDraw.Draw(im)
            for _ in range(2):
                x, y = rng.uniform(0, S, 2)
                d.line([x, y, x + rng.uniform(-20, 20), y + rng.uniform(-20, 20)], fill=(60, 100, 50), width=2)
            x, y = rng.uniform(13, 23, 2)
            r = rng.uniform(7, 10)
            h = (hue + rng.normal(0, 0.025)) % 1
            c = colorsys.hsv_to_rgb(h, rng.uniform(0.5, 0.9), rng.uniform(0.45, 0.9))
            d.ellipse([x - r, y - 1.1 * r, x + r, y + 1.1 * r], fill=tuple(int(255 * v) for v in c))
            d.ellipse([x - r * 0.4, y - r * 0.6, x - r * 0.1, y - r * 0.3], fill=(235, 235, 230))
            im.filter(ImageFilter.GaussianBlur(0.7)).save(f"berries/{part}/{name}/{j:03d}.jpg", quality=90)
