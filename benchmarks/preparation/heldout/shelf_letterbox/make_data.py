import json
import os

import numpy as np
from PIL import Image, ImageDraw

rng = np.random.default_rng(88)
os.makedirs("frames", exist_ok=True)
items = []
for i in range(640):
    W, H = [(96, 48), (48, 96), (84, 60), (72, 72)][rng.choice(4, p=[0.4, 0.25, 0.25, 0.1])]
    im = Image.fromarray((rng.integers(80, 140) + rng.normal(0, 9, (H, W, 3))).clip(0, 255).astype(np.uint8))
    d = ImageDraw.Draw(im)
    for y in range(int(rng.integers(6, 14)), H, 18):
        d.line([0, y, W, y], fill=(70, 60, 50), width=2)
    w, h = rng.uniform(14, 26), rng.uniform(14, 26)
    x, y = rng.uniform(1, W - w - 1), rng.uniform(1, H - h - 1)
    col = [(200, 40, 50), (220, 60, 90), (190, 30, 30)][rng.integers(3)]
    d.rectangle([x, y, x + w, y + h], fill=col)
    d.rectangle([x + 0.2 * w, y + 0.3 * h, x + 0.8 * w, y + 0.55 * h], fill=(240, 240, 235))
    name = f"frame_{i:04d}.jpg"
    im.save("frames/" + name, quality=90)
    items.append({"image": name, "width": W, "height": H, "bbox_xyxy": [round(float(v), 1) for v in (x, y, x + w, y + h)]})
json.dump(items, open("annotations.json", "w"), indent=0)
json.dump({"side": 64, "epochs": 14, "lr": 0.003, "batch": 32, "val_share": 0.25, "seed": 17}, open("config.json", "w"), indent=1)
