import os
import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(29)
for part, n in [("train", 240), ("test", 200)]:
    for k in ["left", "right", "up", "down"]:
        os.makedirs(f"eyes/{part}/{k}", exist_ok=True)
    for i in range(n):
        k = ["left", "right", "up", "down"][rng.integers(4)]
        im = Image.new("L", (28, 28), int(rng.integers(60, 120)))
        d = ImageDraw.Draw(im)
        ox, oy = rng.integers(-2, 3, 2)
        d.ellipse([4 + ox, 7 + oy, 24 + ox, 21 + oy], fill=int(rng.integers(190, 250)))
        dx, dy = {"left": (-4, 0), "right": (4, 0), "up": (0, -3), "down": (0, 3)}[k]
        cx, cy = 14 + ox + dx + rng.normal(0, .8), 14 + oy + dy + rng.normal(0, .6)
        d.ellipse([cx - 3, cy - 3, cx + 3, cy + 3], fill=int(rng.integers(10, 50)))
        a = np.asarray(im, float) + rng.normal(0, 22, (28, 28))
        Image.fromarray(a.clip(0, 255).astype("uint8")).save(f"eyes/{part}/{k}/{i:04d}.png")
