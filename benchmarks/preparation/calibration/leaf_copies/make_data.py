import os
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

rng = np.random.default_rng(8)
CL = ["healthy", "mildew", "rust"]
for c in CL:
    os.makedirs(f"leaves/{c}", exist_ok=True)
for n in range(240):
    k = n % 3
    base = np.array([70, 120, 50]) + rng.normal(0, 22, 3)
    im = Image.new("RGB", (36, 36), tuple(int(v) for v in np.clip(rng.normal(120, 45, 3), 0, 255)))
    d = ImageDraw.Draw(im)
    a, b = rng.uniform(11, 16), rng.uniform(8, 14)
    d.ellipse([18 - a, 18 - b, 18 + a, 18 + b], fill=tuple(int(v) for v in np.clip(base, 0, 255)))
    for _ in range(int(rng.integers(3, 9))):
        x, y = rng.uniform(8, 28, 2)
        r = rng.uniform(0.8, 2.6)
        tone = rng.normal(0, 28, 3) + base
        if k and rng.random() < 0.22:
            tone = np.array([165, 175, 150] if k == 1 else [140, 104, 50]) + rng.normal(0, 28, 3)
        d.ellipse([x - r, y - r, x + r, y + r], fill=tuple(int(v) for v in np.clip(tone, 0, 255)))
    arr = np.asarray(im.filter(ImageFilter.GaussianBlur(0.6)), float) + rng.normal(0, 6, (36, 36, 3))
    Image.fromarray(np.clip(arr, 0, 255).astype(np.uint8)).save(f"leaves/{CL[k]}/leaf{n:04d}.png")
