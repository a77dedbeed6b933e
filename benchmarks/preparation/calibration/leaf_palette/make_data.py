import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

rng = np.random.default_rng(5)
COLOURS = {"healthy": (70, 140, 50), "chlorosis": (190, 180, 60), "rust": (150, 85, 40), "mildew": (150, 165, 150)}
for part, n in (("train", 110), ("test", 50)):
    for k, col in COLOURS.items():
        d = os.path.join("leaves", part, k)
        os.makedirs(d, exist_ok=True)
        for i in range(n):
            bg = rng.integers(20, 235, 3)
            im = Image.new("RGB", (40, 40), tuple(int(v) for v in bg))
            dr = ImageDraw.Draw(im)
            c = tuple(int(np.clip(v + rng.normal(0, 14), 0, 255)) for v in col)
            w, h = rng.integers(10, 16, 2)
            dr.ellipse([20 - w, 20 - h, 20 + w, 20 + h], fill=c)
            dr.line([20 - w, 20, 20 + w, 20], fill=tuple(max(0, v - 30) for v in c), width=1)
            im = im.filter(ImageFilter.GaussianBlur(0.7))
            a = np.asarray(im).astype(float) + rng.normal(0, 6, (40, 40, 3))
            im = Image.fromarray(a.clip(0, 255).astype(np.uint8))
            if rng.random() < 0.7:
                im = im.quantize(int(rng.choice([24, 48, 96])))
            im.save(os.path.join(d, f"{k[:2]}{i:03d}.png"))
