import csv
import math
import os
import random

import numpy as np
from PIL import Image, ImageDraw

random.seed(77)
rng = np.random.default_rng(77)


def flower(k):
    petals = 3 + (k % 4) * 2
    col = [(210, 60, 70), (230, 200, 60), (140, 90, 200)][k // 4]
    im = Image.new("RGB", (72, 72), (50, random.randint(90, 130), 50))
    d = ImageDraw.Draw(im)
    a0, r = random.uniform(0, 6.28), random.uniform(18, 25)
    cx, cy = 36 + random.uniform(-6, 6), 36 + random.uniform(-6, 6)
    for p in range(petals):
        a = a0 + 2 * math.pi * p / petals
        x, y = cx + r * math.cos(a), cy + r * math.sin(a)
        d.line([cx, cy, x, y], fill=col, width=7 if petals < 7 else 5)
    d.ellipse([cx - 5, cy - 5, cx + 5, cy + 5], fill=(250, 220, 120))
    arr = np.asarray(im.resize((36, 36), Image.BILINEAR)).astype(float) + rng.normal(0, 5, (36, 36, 3))
    return Image.fromarray(arr.clip(0, 255).astype(np.uint8))


for k in range(12):
    d = os.path.join("flowers", "train", str(k + 1))
    os.makedirs(d, exist_ok=True)
    for i in range(50):
        flower(k).save(os.path.join(d, f"img_{i:03d}.png"))
os.makedirs("flowers/test", exist_ok=True)
with open("flowers/test.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["file", "species"])
    for i in range(240):
        k = random.randrange(12)
        flower(k).save(f"flowers/test/{i:04d}.png")
        w.writerow([f"{i:04d}.png", k + 1])
