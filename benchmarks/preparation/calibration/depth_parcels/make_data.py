import csv
import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(11)
os.makedirs("frames", exist_ok=True)
HEIGHTS = {"flat": (20, 60), "low": (100, 170), "mid": (260, 380), "tall": (560, 720)}
names = list(HEIGHTS)
with open("parcels.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["frame", "class", "part"])
    for i in range(520):
        c = names[int(rng.integers(4))]
        h = rng.uniform(*HEIGHTS[c])
        d = np.full((40, 40), 905.0) + rng.normal(0, 3, (40, 40))
        bw, bh = rng.integers(12, 26, 2)
        x, y = rng.integers(2, 38 - bw), rng.integers(2, 38 - bh)
        d[y:y + bh, x:x + bw] = 905 - h + rng.normal(0, 4, (bh, bw)) + np.linspace(-6, 6, bw)[None]
        d[rng.random((40, 40)) < 0.02] = 0
        name = f"f{i:04d}.png"
        Image.fromarray(d.clip(0, 65535).astype(np.uint16)).save(os.path.join("frames", name))
        w.writerow([name, c, "test" if i % 4 == 3 else "train"])
