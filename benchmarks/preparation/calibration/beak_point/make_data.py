import json
import os
import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(14)
H, W = 40, 72
os.makedirs("birds", exist_ok=True)
ann = []
for n in range(520):
    sky = tuple(int(v) for v in rng.integers(120, 220, 3))
    im = Image.new("RGB", (W, H), sky)
    d = ImageDraw.Draw(im)
    for _ in range(3):
        x, y, r = rng.uniform(0, W), rng.uniform(0, H), rng.uniform(2, 6)
        d.ellipse([x - r, y - r, x + r, y + r], fill=tuple(int(v) for v in rng.integers(90, 200, 3)))
    hx, hy, r = rng.uniform(10, W - 10), rng.uniform(9, H - 9), rng.uniform(4.5, 6.5)
    a = rng.uniform(0, 2 * np.pi)
    d.ellipse([hx - r, hy - r, hx + r, hy + r], fill=(40, 34, 46))
    tip = np.array([hx, hy]) + (r + 4.5) * np.array([np.cos(a), np.sin(a)])
    side = np.array([-np.sin(a), np.cos(a)]) * 2.6
    root = np.array([hx, hy]) + (r - 1) * np.array([np.cos(a), np.sin(a)])
    d.polygon([tuple(root + side), tuple(root - side), tuple(tip)], fill=(240, 150, 20))
    tip = np.clip(tip, 0, [W - 1, H - 1])
    arr = np.clip(np.asarray(im, float) + rng.normal(0, 6, (H, W, 3)), 0, 255).astype(np.uint8)
    Image.fromarray(arr).save(f"birds/{n:04d}.png")
    ann.append({"image": f"{n:04d}.png", "beak_tip": {"x": round(float(tip[0]), 1), "y": round(float(tip[1]), 1)}, "species": int(rng.integers(0, 5))})
json.dump({"annotations": ann}, open("birds/annotations.json", "w"))
