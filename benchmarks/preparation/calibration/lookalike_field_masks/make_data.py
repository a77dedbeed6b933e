import os
import numpy as np
from PIL import Image

rng = np.random.default_rng(44)
s = 48
yy, xx = np.mgrid[0:s, 0:s]
os.makedirs("tiles", exist_ok=True)
for i in range(150):
    a, b, c = rng.normal(0, 1, 2).tolist() + [rng.uniform(-12, 12)]
    nrm = np.hypot(a, b)
    m = ((a * (xx - s / 2) + b * (yy - s / 2)) / nrm + 3 * np.sin(xx / 6)) > c
    im = np.stack([np.where(m, 70, 120), np.where(m, 110, 105), np.where(m, 60, 80)], -1) + rng.normal(0, 35, (s, s, 3))
    Image.fromarray(im.clip(0, 255).astype("uint8")).save(f"tiles/{i:03d}_rgb.png")
    Image.fromarray((m * 1).astype("uint8")).save(f"tiles/{i:03d}_crop.png")
