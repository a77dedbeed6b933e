import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(28)
H, W = 40, 72
yy, xx = np.mgrid[:H, :W]
os.makedirs("tiles", exist_ok=True)
with open("craters.txt", "w") as f:
    f.write("# tile\tpos (matrix order, counted from the upper left)\tradius\n")
    for i in range(360):
        a = 120 + 20 * np.cos(xx / 17 + rng.uniform(0, 6)) + rng.normal(0, 8, (H, W))
        r = rng.uniform(3, 6)
        row, col = rng.uniform(6, H - 6), rng.uniform(6, W - 6)
        d = np.hypot(xx - col, yy - row)
        a += np.where(d < r, -60 * (1 - d / r) , 0) + 45 * np.exp(-((d - r) ** 2) / 2) * np.sign(xx - col)
        Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(f"tiles/m{i:03d}.png")
        f.write(f"m{i:03d}.png\t{row:.1f},{col:.1f}\t{r:.1f}\n")
