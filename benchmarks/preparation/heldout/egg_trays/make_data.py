import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(8)
S = 48
for n in range(1, 13):
    os.makedirs(f"trays/{n}", exist_ok=True)
    for j in range(60):
        a = rng.integers(90, 120) + rng.normal(0, 7, (S, S))
        im = Image.fromarray(a.clip(0, 255).astype(np.uint8))
        d = ImageDraw.Draw(im)
        slots = [(6 + 12 * c, 8 + 16 * r) for r in range(3) for c in range(4)]
        for k in rng.permutation(12)[:n]:
            x, y = slots[k]
            x, y = x + rng.uniform(-1, 1), y + rng.uniform(-1, 1)
            rx, ry = rng.uniform(3.2, 4.4), rng.uniform(4.2, 5.6)
            d.ellipse([x - rx, y - ry, x + rx, y + ry], fill=int(rng.integers(190, 245)))
        im.save(f"trays/{n}/t{j:03d}.png")
