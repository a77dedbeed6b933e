import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(7)
S = 96
yy, xx = np.mgrid[:S, :S]
os.makedirs("fields", exist_ok=True)
for i in range(220):
    m = np.zeros((S, S), bool)
    for _ in range(rng.integers(2, 7)):
        x, y, r = rng.uniform(0, S, 2).tolist() + [rng.uniform(6, 18)]
        e = rng.uniform(0.5, 2)
        m |= (xx - x) ** 2 * e + (yy - y) ** 2 / e < r * r
    img = np.where(m[..., None], [60, 120, 50], [140, 110, 80]) + rng.normal(0, 22, (S, S, 3))
    Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(f"fields/f{i:03d}.jpg", quality=85)
    Image.fromarray((m * 255).astype(np.uint8)).save(f"fields/f{i:03d}_crop.png")
