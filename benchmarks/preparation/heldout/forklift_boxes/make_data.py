import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(31)
W, H = 72, 54
for part, n in (("train", 420), ("val", 160)):
    os.makedirs(f"{part}/images", exist_ok=True)
    os.makedirs(f"{part}/labels", exist_ok=True)
    for i in range(n):
        im = Image.fromarray((rng.integers(60, 110) + rng.normal(0, 10, (H, W, 3))).clip(0, 255).astype(np.uint8))
        d = ImageDraw.Draw(im)
        for _ in range(3):
            a, b = rng.uniform(0, W), rng.uniform(0, H)
            d.rectangle([a, b, a + rng.uniform(3, 14), b + rng.uniform(3, 10)], fill=tuple(int(v) for v in rng.integers(40, 130, 3)))
        w, h = rng.uniform(14, 34), rng.uniform(12, 26)
        x0, y0 = rng.uniform(0, W - w - 1), rng.uniform(0, H - h - 1)
        d.rectangle([x0, y0, x0 + w, y0 + h], fill=(230, 160, 20))
        d.rectangle([x0 + 0.55 * w, y0 + 0.12 * h, x0 + 0.9 * w, y0 + 0.5 * h], fill=(40, 40, 50))
        d.rectangle([x0, y0 + 0.85 * h, x0 + w, y0 + h], fill=(20, 20, 20))
        stem = f"{part}_{i:04d}"
        im.save(f"{part}/images/{stem}.png")
        with open(f"{part}/labels/{stem}.txt", "w") as f:
            f.write(f"0 {(x0 + w / 2) / W:.6f} {(y0 + h / 2) / H:.6f} {w / W:.6f} {h / H:.6f}\n")
with open("classes.txt", "w") as f:
    f.write("forklift\n")
