import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(2)
PAL = [0, 0, 0, 128, 64, 0, 20, 120, 220, 60, 160, 60] + [0] * 756
S = 48
for sub in ("tiles", "masks"):
    os.makedirs(sub, exist_ok=True)
for i in range(220):
    mask = Image.new("P", (S, S), 0)
    mask.putpalette(PAL)
    d = ImageDraw.Draw(mask)
    for _ in range(rng.integers(2, 5)):
        x, y, w, h = rng.uniform(0, 34), rng.uniform(0, 34), rng.uniform(8, 20), rng.uniform(8, 20)
        k = int(rng.integers(1, 4))
        (d.rectangle if k != 2 else d.ellipse)([x, y, x + w, y + h], fill=k)
    m = np.array(mask)
    base = np.array([[150, 140, 120], [140, 80, 40], [50, 90, 150], [70, 130, 60]], float)[m]
    img = base + rng.normal(0, 22, base.shape) + rng.normal(0, 12)
    Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(f"tiles/{i:03d}.jpg", quality=90)
    mask.save(f"masks/{i:03d}.png")
