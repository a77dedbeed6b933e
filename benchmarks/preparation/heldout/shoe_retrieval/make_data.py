import csv
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(90)
S = 32
os.makedirs("catalogue", exist_ok=True)
rows = []
for m in range(90):
    sole, up, stripe = (tuple(int(v) for v in rng.integers(70, 190, 3)) for _ in range(3))
    heel, top, n = rng.uniform(2, 7), rng.uniform(8, 18), rng.integers(0, 4)
    for v in range(6):
        im = Image.fromarray((rng.integers(150, 220) + rng.normal(0, 14, (S, S, 3))).clip(0, 255).astype(np.uint8))
        d = ImageDraw.Draw(im)
        ox, oy, g = rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(0.55, 1.4)
        f = lambda c: tuple(int(min(255, max(0, q * g + rng.normal(0, 22)))) for q in c)
        d.polygon([(4 + ox, 24 + oy), (5 + ox, 24 - top + oy), (13 + ox, 24 - top + oy), (16 + ox, 17 + oy), (28 + ox, 20 + oy), (29 + ox, 24 + oy)], fill=f(up))
        d.rectangle([4 + ox, 24 + oy, 29 + ox, 26 + oy], fill=f(sole))
        d.rectangle([4 + ox, 24 + oy, 11 + ox, 24 + heel + oy], fill=f(sole))
        for k in range(n):
            d.line([15 + 4 * k + ox, 17 + oy, 13 + 4 * k + ox, 23 + oy], fill=f(stripe), width=1)
        if rng.random() < 0.5:
            im = im.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        name = f"m{m:03d}_{v}.png"
        im.save("catalogue/" + name)
        rows.append([name, f"m{m:03d}", "train" if m < 60 else "test"])
with open("catalogue.csv", "w", newline="") as fo:
    w = csv.writer(fo)
    w.writerow(["picture", "model", "part"])
    w.writerows(rows)
