import os

import cv2
import numpy as np

rng = np.random.default_rng(50)
S = 48
yy, xx = np.mgrid[:S, :S]
os.makedirs("slices", exist_ok=True)
lines = ["slice,haemorrhage,part"]
for i in range(420):
    hu = np.full((S, S), -1000.0)
    r = np.hypot((xx - 24) / 1.0, (yy - 24) / 1.15)
    hu[r < 20] = rng.uniform(900, 1600)
    brain = r < 17.5
    hu[brain] = 32 + rng.normal(0, 4)
    y = int(rng.random() < 0.5)
    if y:
        a, d = rng.uniform(0, 6.28), rng.uniform(2, 10)
        cx, cy, k = 24 + d * np.cos(a), 24 + d * np.sin(a), rng.uniform(3, 5)
        hu[(np.hypot(xx - cx, yy - cy) < k) & brain] = rng.uniform(58, 75)
    hu += rng.normal(0, 6, (S, S))
    cv2.imwrite(f"slices/s{i:03d}.png", (hu + 1024).clip(0, 4095).astype(np.uint16))
    lines.append(f"s{i:03d}.png,{y},{'test' if i % 4 == 1 else 'train'}")
open("slices.csv", "w").write("\n".join(lines) + "\n")
