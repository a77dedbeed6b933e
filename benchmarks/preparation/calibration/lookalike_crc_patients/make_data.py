import csv
import os
import numpy as np
from PIL import Image

rng = np.random.default_rng(91)
os.makedirs("skin", exist_ok=True)
yy, xx = np.mgrid[0:32, 0:32]
rows = []
for p in range(150):
    tone = rng.normal([205, 165, 140], 16)
    for k in range(int(rng.integers(2, 7))):
        mal = int(rng.random() < 0.4)
        r = np.hypot(xx - 16 - rng.normal(0, 2), yy - 16 - rng.normal(0, 2))
        a = np.arctan2(yy - 16, xx - 16)
        edge = rng.uniform(6, 10) * (1 + (0.25 if mal else 0.08) * np.sin(rng.integers(3, 7) * a + rng.uniform(0, 6)))
        m = 1 / (1 + np.exp((r - edge) / 0.8))
        col = rng.normal([110, 72, 55], 14) - (22 * mal) * (rng.random() < 0.7)
        img = tone * (1 - m[..., None]) + col * m[..., None] + rng.normal(0, 9, (32, 32, 3))
        name = f"im_{len(rows):05d}.jpg"
        Image.fromarray(np.clip(img, 0, 255).astype(np.uint8)).save(f"skin/{name}", quality=90)
        rows.append([name, f"HX-{p * 7919 % 100000:05d}", "malignant" if mal else "benign"])
o = rng.permutation(len(rows))
with open("skin/lesions.csv", "w", newline="") as f:
    csv.writer(f).writerows([["image", "patient_code", "finding"]] + [rows[i] for i in o])
