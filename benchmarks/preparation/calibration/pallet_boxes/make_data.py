import json
import os
import random

import numpy as np
from PIL import Image, ImageDraw

random.seed(31)
rng = np.random.default_rng(31)
W, H = 96, 64


def scene(name):
    base = rng.integers(60, 130)
    im = Image.new("L", (W, H), int(base))
    d = ImageDraw.Draw(im)
    for _ in range(3):
        y = random.randint(0, H)
        d.line([0, y, W, y + random.randint(-6, 6)], fill=int(base - 15))
    w, h = random.randint(16, 40), random.randint(14, 32)
    x, y = random.randint(0, W - w), random.randint(0, H - h)
    d.rectangle([x, y, x + w - 1, y + h - 1], fill=int(base + 70))
    for k in range(3):
        yy = y + int((k + 0.5) * h / 3)
        d.line([x, yy, x + w - 1, yy], fill=int(base + 30), width=2)
    a = np.asarray(im).astype(float) + rng.normal(0, 7, (H, W))
    Image.fromarray(a.clip(0, 255).astype(np.uint8)).save(os.path.join("warehouse", name))
    return [x, y, w, h]


os.makedirs("warehouse", exist_ok=True)
for part, n in (("train", 340), ("val", 120)):
    images, anns = [], []
    for i in range(n):
        name = f"{part}_{i:04d}.png"
        box = scene(name)
        images.append({"id": i, "file_name": name, "width": W, "height": H})
        anns.append({"id": i + 1, "image_id": i, "category_id": 1, "bbox": box, "area": box[2] * box[3], "iscrowd": 0})
    json.dump({"images": images, "annotations": anns, "categories": [{"id": 1, "name": "pallet"}]},
              open(f"pallets_{part}.json", "w"))
