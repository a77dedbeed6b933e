import os
import numpy as np
from PIL import Image

rng = np.random.default_rng(9)
s = 40
yy, xx = np.mgrid[0:s, 0:s]
for part, n in [("train", 140), ("val", 50)]:
    os.makedirs(f"{part}/images", exist_ok=True)
    os.makedirs(f"{part}/masks", exist_ok=True)
    for i in range(n):
        m = np.zeros((s, s), bool)
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(5, s - 5, 2)
            a, b = rng.uniform(4, 8, 2)
            m |= ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
        im = 90 + 60 * m + 25 * np.sin(xx / rng.uniform(4, 9) + yy / rng.uniform(4, 9)) + rng.normal(0, 22, (s, s))
        Image.fromarray(im.clip(0, 255).astype("uint8")).save(f"{part}/images/cell_{i:03d}.png")
        Image.fromarray((m * 255).astype("uint8")).save(f"{part}/masks/cell_{i:03d}.png")
