import csv
import os

import numpy as np
from PIL import Image

rng = np.random.default_rng(41)
PATTERNS = ["diffuse", "membrane", "nuclear"]


def cell(pattern):
    n = 40
    yy, xx = np.mgrid[0:n, 0:n].astype(float)
    cy, cx = rng.uniform(15, 25, 2)
    a, b = rng.uniform(9, 13, 2)
    th = rng.uniform(0, np.pi)
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    r = np.sqrt((u / a) ** 2 + (v / b) ** 2)
    body = (r < 1).astype(float)
    if pattern == "nuclear":
        sig = 0.45 * body + 0.6 * (r < 0.5)
    elif pattern == "membrane":
        sig = 0.45 * body + 0.6 * ((r > 0.78) & (r < 1))
    else:
        sig = 0.7 * body
    exposure = np.exp(rng.uniform(np.log(130), np.log(3400)))
    img = 70 + exposure * sig
    img = img + rng.normal(0, 0.09 * exposure, (n, n)) * (body + 0.1) + rng.normal(0, 12, (n, n))
    return np.clip(img, 0, 4095).astype(np.uint16)


os.makedirs("plates", exist_ok=True)
rows = []
for i in range(840):
    p = PATTERNS[rng.integers(3)]
    name = f"plates/w{i:04d}.png"
    Image.fromarray(cell(p)).save(name)
    rows.append([name, p, "test" if i % 4 == 3 else "train"])
with open("manifest.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["path", "pattern", "part"])
    w.writerows(rows)
