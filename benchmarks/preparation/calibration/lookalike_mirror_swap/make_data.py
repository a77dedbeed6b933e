import os
import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(27)
for part, n in (("train", 460), ("test", 240)):
    for i in range(n):
        k = int(rng.integers(0, 4))
        im = Image.new("L", (96, 96), int(rng.integers(10, 70)))
        d = ImageDraw.Draw(im)
        c = int(rng.integers(150, 250))
        d.rounded_rectangle([32, 40, 64, 86], 10, fill=c)
        thumb = [(34, 58), (14, 44), (18, 36), (38, 48)]
        if k in (0, 1):
            for f in range(4):
                x = 33 + 8 * f
                d.rounded_rectangle([x, 14 + abs(f - 1.4) * 3, x + 6, 48], 3, fill=c)
        d.polygon(thumb, fill=c)
        if k in (2, 3):
            for f in range(3):
                d.line([(36 + 9 * f, 46), (36 + 9 * f, 58)], fill=max(c - 60, 0), width=2)
        if k in (1, 3):
            im = im.transpose(Image.FLIP_LEFT_RIGHT)
        im = im.rotate(float(rng.normal(0, 12)), fillcolor=30).resize((32, 32), Image.BILINEAR)
        a = np.clip(np.asarray(im, float) + rng.normal(0, 22, (32, 32)), 0, 255).astype(np.uint8)
        name = ["left_open", "right_open", "left_fist", "right_fist"][k]
        os.makedirs(f"hands/{part}/{name}", exist_ok=True)
        Image.fromarray(a).save(f"hands/{part}/{name}/{i:04d}.png")
