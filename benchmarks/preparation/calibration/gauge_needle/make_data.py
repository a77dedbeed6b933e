import csv
import math
import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

random.seed(6)
rng = np.random.default_rng(6)
os.makedirs("dials", exist_ok=True)
with open("dials.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["file", "part", "hub_x", "hub_y", "tip_x", "tip_y"])
    for i in range(430):
        part = "train" if i < 320 else "test"
        lean = random.gauss(0, 7) if part == "train" else random.uniform(-38, 38)
        S = 128
        im = Image.new("L", (S, S), 205)
        d = ImageDraw.Draw(im)
        hx, hy = 64 + random.uniform(-10, 10), 72 + random.uniform(-8, 8)
        L = random.uniform(32, 44)
        a = math.radians(lean)
        tx, ty = hx + L * math.sin(a), hy - L * math.cos(a)
        d.ellipse([hx - 50, hy - 50, hx + 50, hy + 50], fill=235, outline=90, width=2)
        for k in range(9):
            t = math.radians(-80 + 20 * k)
            d.line([hx + 44 * math.sin(t), hy - 44 * math.cos(t), hx + 49 * math.sin(t), hy - 49 * math.cos(t)], fill=120, width=2)
        d.line([hx, hy, tx, ty], fill=30, width=4)
        d.ellipse([hx - 6, hy - 6, hx + 6, hy + 6], fill=60)
        im = im.filter(ImageFilter.GaussianBlur(1)).resize((64, 64), Image.BILINEAR)
        arr = np.asarray(im).astype(float) + rng.normal(0, 5, (64, 64))
        Image.fromarray(arr.clip(0, 255).astype(np.uint8)).save(f"dials/d{i:03d}.png")
        w.writerow([f"d{i:03d}.png", part] + [round(v / 2, 2) for v in (hx, hy, tx, ty)])
