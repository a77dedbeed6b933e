import csv
import math
import os
import random

import numpy as np
from PIL import Image, ImageDraw

random.seed(2)
rng = np.random.default_rng(2)
os.makedirs("tank", exist_ok=True)
with open("landmarks.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["image", "snout_x", "snout_y", "tail_x", "tail_y"])
    for i in range(320):
        im = Image.new("RGB", (128, 128), (30, 70 + random.randint(-10, 10), 90))
        d = ImageDraw.Draw(im)
        a = random.uniform(0, 2 * math.pi)
        L, B = random.uniform(22, 34), random.uniform(7, 11)
        cx, cy = random.uniform(38, 90), random.uniform(38, 90)
        ux, uy = math.cos(a), math.sin(a)
        pts = []
        for t in range(24):
            th = 2 * math.pi * t / 24
            p, q = L * math.cos(th), B * math.sin(th)
            pts.append((cx + p * ux - q * uy, cy + p * uy + q * ux))
        d.polygon(pts, fill=(200, 140 + random.randint(-20, 20), 60))
        tx, ty = cx - L * ux, cy - L * uy
        d.polygon([(tx, ty), (tx - 9 * ux - 8 * uy, ty - 9 * uy + 8 * ux), (tx - 9 * ux + 8 * uy, ty - 9 * uy - 8 * ux)], fill=(220, 90, 60))
        sx, sy = cx + L * ux, cy + L * uy
        d.ellipse([sx - 4 * ux - 4, sy - 4 * uy - 4, sx - 4 * ux + 4, sy - 4 * uy + 4], fill=(235, 235, 225))
        ex, ey = cx + 0.7 * L * ux, cy + 0.7 * L * uy
        d.ellipse([ex - 2, ey - 2, ex + 2, ey + 2], fill=(10, 10, 10))
        arr = np.asarray(im).astype(float) + rng.normal(0, 6, (128, 128, 3))
        im = Image.fromarray(arr.clip(0, 255).astype(np.uint8)).resize((64, 64), Image.BILINEAR)
        name = f"t{i:03d}.png"
        im.save(os.path.join("tank", name))
        w.writerow([name] + [round(v / 2, 1) for v in (sx, sy, tx, ty)])
