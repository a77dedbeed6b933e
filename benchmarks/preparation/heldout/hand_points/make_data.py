import csv
import math
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(14)
S = 64
os.makedirs("hands", exist_ok=True)
rows = []
for i in range(460):
    im = Image.fromarray((rng.integers(40, 80) + rng.normal(0, 7, (S, S))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    cx, cy = rng.uniform(26, 38, 2)
    tilt = rng.normal(0, 0.35)
    tone = int(rng.integers(150, 210))
    pts = []
    for k, (a, l) in enumerate(((-1.0, 15), (0.0, 21), (0.9, 17))):
        t = -math.pi / 2 + a + tilt + rng.normal(0, 0.06)
        x, y = cx + l * math.cos(t), cy + l * math.sin(t)
        d.line([cx, cy, x, y], fill=tone, width=(5, 4, 3)[k])
        pts += [x, y]
    d.ellipse([cx - 7, cy - 7, cx + 7, cy + 7], fill=tone)
    name = f"h{i:04d}.png"
    im.save(f"hands/{name}")
    rows.append([name, "test" if i >= 360 else "train"] + [round(v, 2) for v in pts])
with open("points.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["image", "part", "thumb_x", "thumb_y", "middle_x", "middle_y", "little_x", "little_y"])
    w.writerows(rows)
