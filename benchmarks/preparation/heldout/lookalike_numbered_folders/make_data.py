import math
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(28)
S = 40
for hour in range(1, 13):
    os.makedirs(f"dials/{hour}", exist_ok=True)
    for j in range(50):
        im = Image.fromarray((rng.integers(190, 235) + rng.normal(0, 8, (S, S))).clip(0, 255).astype(np.uint8))
        d = ImageDraw.Draw(im)
        cx, cy = rng.uniform(18, 22, 2)
        d.ellipse([cx - 17, cy - 17, cx + 17, cy + 17], outline=90)
        a = math.radians(30 * hour + rng.uniform(-9, 9))
        l = rng.uniform(10, 14)
        d.line([cx, cy, cx + l * math.sin(a), cy - l * math.cos(a)], fill=int(rng.integers(20, 80)), width=3)
        im.save(f"dials/{hour}/{j:02d}.png")
