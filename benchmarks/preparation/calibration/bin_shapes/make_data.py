import json
import os
import cv2
import numpy as np

rng = np.random.default_rng(31)
os.makedirs("depth", exist_ok=True)
yy, xx = np.mgrid[0:32, 0:32]
index = []
for i in range(900):
    kind = int(rng.integers(3))
    d = np.full((32, 32), rng.uniform(700, 760)) + rng.normal(0, 9, (32, 32))
    cx, cy = rng.uniform(10, 22, 2)
    r = rng.uniform(6, 9)
    dist = np.hypot(xx - cx, yy - cy)
    if kind == 0:
        bump = np.where(dist < r, 60 * np.sqrt(np.clip(1 - (dist / r) ** 2, 0, 1)), 0)
    elif kind == 1:
        bump = np.where((abs(xx - cx) < r) & (abs(yy - cy) < r * .8), 45, 0)
    else:
        bump = np.where(dist < r, 60 * np.clip(1 - dist / r, 0, 1), 0)
    name = f"{i:05d}.png"
    cv2.imwrite(f"depth/{name}", np.clip(d - bump, 0, 65535).astype(np.uint16))
    index.append({"file": name, "shape": ["ball", "box", "cone"][kind]})
json.dump({"unit": "mm", "items": index}, open("index.json", "w"))
